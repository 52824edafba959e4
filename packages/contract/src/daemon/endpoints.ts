/** Endpoints of the daemon itself. */
import * as z from "zod/mini";
import { Listening, ScopeSchema, Sharing } from "../access/access.ts";
import type { Endpoint } from "../endpoint.ts";
import { Principal } from "../ids.ts";
import { ROUTES } from "../routes.ts";
import { Session, Time } from "../session/session.ts";
import { Backup, RestoreReport } from "./backup.ts";
import { Orphan } from "./upkeep-endpoints.ts";

/** Whether sleep is prevented now, by which program, and why not. */
export const KeptAwake = z.object({ active: z.boolean(), by: z.nullable(z.string()), trouble: z.nullable(z.string()) });
export type KeptAwake = z.infer<typeof KeptAwake>;

export const DaemonStatus = z.object({
  pid: z.int(),
  version: z.string(),
  node: z.string(),
  nodeVersion: z.string(),
  home: z.string(),
  socket: z.string(),
  startedAt: Time,
  uptimeMs: z.number(),
  machine: z.string(),
  epoch: z.string(),
  seq: z.int(),
  /** `lost`: number of ended sessions that a restore would bring back. */
  sessions: z.object({ running: z.int(), ended: z.int(), lost: z.int() }),
  /** The newest backup; null: there is none. */
  backup: z.nullable(Backup),
  /** The restore that began the current epoch, if any. */
  restored: z.nullable(z.extend(RestoreReport, { at: Time })),
  /** The TCP address; null: not requested. */
  listen: z.nullable(Listening),
  /** The socket for other users of this machine; null: not requested. */
  share: z.nullable(Sharing),
  /** Null: not enabled (keep_awake in config.toml). */
  keepAwake: z.nullable(KeptAwake),
  /** Settings that have no effect, as sentences. */
  warnings: z.array(z.string()),
  /** The caller and its scope. */
  actor: Principal,
  scope: ScopeSchema,
  tmux: z.nullable(z.object({ path: z.string(), version: z.string(), socket: z.string(), pid: z.nullable(z.int()) })),
});
export type DaemonStatus = z.infer<typeof DaemonStatus>;

export const DAEMON_ENDPOINTS = {
  status: {
    ...ROUTES.status,
    answeredWithout: ["configuration"],
    summary: "The daemon: its pid, version, Node, home and counts.",
    scope: "observer",
    reach: "any",
    reply: DaemonStatus,
    errors: [],
  },
  shutdown: {
    ...ROUTES.shutdown,
    answeredWithout: ["configuration"],
    summary: "Stops the daemon; with `all` every session and keeper first.",
    scope: "owner",
    body: z.object({
      all: z._default(z.boolean(), false),
      graceMs: z._default(z.number().check(z.minimum(0)), 5000),
      why: z._default(z.enum(["asked", "replaced"]), "asked"),
    }),
    /** `orphans`: processes without a record that were stopped too. */
    reply: z.object({ pid: z.int(), stopped: z.array(Session), orphans: z.array(Orphan) }),
    errors: ["stop_incomplete"],
  },
} as const satisfies Record<string, Endpoint>;
