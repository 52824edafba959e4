/**
 * What a session is asked to be. The request, spec.json, `session.created`, the tables and the view of a session embed these schemas, and pass the
 * attributes on without naming them. A new attribute is added here, optional and nullable, and gets a column in `journal/migrations.ts`.
 */
import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { Budget } from "../usage/budget.ts";
import { EVERY_HOST, KINDS, RESTARTS } from "./status.ts";

export const KindSchema = z.enum(KINDS);
export const HostSchema = z.enum(EVERY_HOST);
export const RestartSchema = z.enum(RESTARTS);

export const SessionSpec = z.object({
  name: z.string(),
  kind: KindSchema,
  agent: z.string(),
  role: z.nullable(z.string()),
  objective: z.nullable(z.string()),
  host: HostSchema,
  cwd: z.string(),
  command: z.array(z.string()),
  /** The session that started this one, if any. */
  parent: z.nullable(SessionId),
  /** The session's answers and its end are reported to its parent. */
  report: z.optional(z.boolean()),
  /** The limits over all its runs. */
  budget: z.optional(Budget),
  restart: RestartSchema,
  /** Memory limit of all processes together; a run above it is stopped. */
  memoryLimitBytes: z.nullable(z.int()),
  /** Limit of each run's recording; 0 keeps everything, absent means as configured. */
  recordingLimitBytes: z.optional(z.int()),
});
export type SessionSpec = z.infer<typeof SessionSpec>;

/** Values of attributes that a request may omit, and that files and events of the first versions lack. */
export const ABSENT = { role: null, objective: null, parent: null, restart: "never", memoryLimitBytes: null } as const;

/** Fills in what is missing; null in a damaged file counts as missing. */
export function withAbsent<T extends RecordedSpec>(spec: T): T & Pick<SessionSpec, keyof typeof ABSENT> {
  const present = Object.entries(spec).filter(([, value]) => value !== null);
  return { ...spec, ...ABSENT, ...Object.fromEntries(present) } as T & Pick<SessionSpec, keyof typeof ABSENT>;
}

/** The attributes as files and events have them. */
export const RecordedSpec = z.partial(SessionSpec, { parent: true, restart: true, memoryLimitBytes: true });
export type RecordedSpec = z.infer<typeof RecordedSpec>;

const text = z.string().check(z.maxLength(10_000, "a name, a role or an objective has at most 10,000 characters"));

/** A recording is deleted in segments of 1 MB, and the newest one is kept. */
const LEAST_RECORDING = 2 << 20;

/** Attributes that a request sets directly, and that a fork takes from its original. */
export const RequestedSpec = z.object({
  role: z.optional(text),
  objective: z.optional(text),
  restart: z._default(RestartSchema, "never"),
  memoryLimitBytes: z.optional(z.int().check(z.minimum(1 << 20, "a memory limit is at least 1 MB"))),
  /** Size limit of each run's recording; 0 keeps everything. By default as configured. */
  recordingLimitBytes: z.optional(
    z.int().check(z.refine((bytes) => bytes === 0 || bytes >= LEAST_RECORDING, "a recording limit is at least 2 MB, or 0 for none")),
  ),
});
export type RequestedSpec = z.infer<typeof RequestedSpec>;

/** The attributes among the fields of an object, without absent ones. */
export function attributesOf<T extends { readonly [K in keyof SessionSpec]?: unknown }>(fields: T): Pick<T, keyof T & keyof SessionSpec> {
  const present = Object.keys(SessionSpec.shape).flatMap((key) => {
    const value = fields[key as keyof SessionSpec];
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(present) as Pick<T, keyof T & keyof SessionSpec>;
}

/** Those that a request sets directly, from a request or a record. */
export function requestedOf(fields: { readonly [K in keyof RequestedSpec]: RequestedSpec[K] | null }): RequestedSpec {
  const present = Object.entries(attributesOf(fields)).filter(([key, value]) => key in RequestedSpec.shape && value !== null);
  return Object.fromEntries(present) as RequestedSpec;
}
