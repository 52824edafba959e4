/** A tool as data: what it is for, what it takes, and what it does with a client of the daemon. */
import type { HoldfastClient } from "@holdfast/sdk/client";
import * as z from "zod/mini";
import type { Self } from "./self.ts";

/** One call of a tool. */
export interface Call {
  client: HoldfastClient;
  /** Who calls. */
  self(): Promise<Self>;
  /** Where the caller is, if the server runs beside it and is no session's: what is started without a directory starts there. */
  place(): Promise<Place | undefined>;
  /** Aborts when the caller has cancelled it, or is gone. */
  signal: AbortSignal;
  /** Tells the caller how it goes on, where it wants to know; never fails. `step` counts what was told. */
  tell(message: string, step?: { done: number; total?: number }): void;
}

/** As a session is started with. */
export interface Place {
  cwd: string;
  env: Record<string, string>;
  umask: number;
}

export interface Tool {
  name: string;
  /** For the agent that may call it. */
  description: string;
  input: z.ZodMiniObject;
  /** It changes nothing. */
  reads?: true;
  run(args: unknown, call: Call): Promise<object>;
}

/** Ties the arguments' type to their schema; what is called is checked before it runs. */
export function tool<S extends z.ZodMiniObject>(
  what: Omit<Tool, "run" | "input"> & { input: S; run(args: z.infer<S>, call: Call): Promise<object> },
): Tool {
  return what as unknown as Tool;
}

/** As MCP wants it: a plain JSON schema, without what only JSON Schema's own tools read. */
export function inputSchema({ input }: Tool): { type: "object"; [key: string]: unknown } {
  const { $schema, ...schema } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
  return { ...schema, type: "object" };
}

/** A field with a word for the agent that fills it in. */
export function say<S extends z.ZodMiniType>(schema: S, description: string): S {
  return schema.check(z.describe(description)) as S;
}

/** Milliseconds that a call may wait. Many clients give a call up after a minute: what waits longer says so in time. */
export function patience(usualMs: number, what: string) {
  const longest = z.number().check(z.minimum(0), z.maximum(LONGEST_WAIT_MS));
  return say(z._default(longest, usualMs), what);
}

export const LONGEST_WAIT_MS = 3_600_000;

/** Less than the minute after which many clients give up a call that says nothing. */
export const USUAL_WAIT_MS = 45_000;

export const sessionRef = say(z.string(), "a session, by name, id or id prefix");
