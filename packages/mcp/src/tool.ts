/** A tool as data: its purpose, its input, and its action on a client of the daemon. */
import type { HoldfastClient } from "@holdfast/sdk/client";
import * as z from "zod/mini";
import type { Self } from "./self.ts";

/** One call of a tool. */
export interface Call {
  client: HoldfastClient;
  /** The caller. */
  self(): Promise<Self>;
  /** Directory and environment of the caller, if the server runs beside it and outside a session. New sessions without a directory start there. */
  place(): Promise<Place | undefined>;
  /** Aborts when the caller cancels the call or disconnects. */
  signal: AbortSignal;
  /** Reports progress to the caller, if it wants progress; never fails. `step` counts reported items. */
  tell(message: string, step?: { done: number; total?: number }): void;
}

/** The place where a session starts. */
export interface Place {
  cwd: string;
  env: Record<string, string>;
  umask: number;
}

export interface Tool {
  name: string;
  /** Description for the calling agent. */
  description: string;
  input: z.ZodMiniObject;
  /** The tool changes nothing. */
  reads?: true;
  run(args: unknown, call: Call): Promise<object>;
}

/** Ties the type of the arguments to their schema. They are validated before the tool runs. */
export function tool<S extends z.ZodMiniObject>(
  what: Omit<Tool, "run" | "input"> & { input: S; run(args: z.infer<S>, call: Call): Promise<object> },
): Tool {
  return what as unknown as Tool;
}

/** The input as a plain JSON schema for MCP, without the `$schema` key. */
export function inputSchema({ input }: Tool): { type: "object"; [key: string]: unknown } {
  const { $schema, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
  return { ...schema, type: "object" };
}

/** Adds a description for the calling agent to a field. */
export function say<S extends z.ZodMiniType>(schema: S, description: string): S {
  return schema.check(z.describe(description)) as S;
}

/** A wait in milliseconds. Many clients give up a call after a minute, so a longer wait must report progress in time. */
export function patience(usualMs: number, what: string) {
  const longest = z.number().check(z.minimum(0), z.maximum(LONGEST_WAIT_MS));
  return say(z._default(longest, usualMs), what);
}

export const LONGEST_WAIT_MS = 3_600_000;

/** Below the minute after which many clients give up a silent call. */
export const USUAL_WAIT_MS = 45_000;

export const sessionRef = say(z.string(), "a session, by name, id or id prefix");
