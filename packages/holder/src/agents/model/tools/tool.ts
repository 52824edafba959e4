/** What a tool of the built-in agent is. */
import type { ToolKind } from "@holdfast/contract/status";
import type { JSONSchema7 } from "ai";
import type * as z from "zod/mini";

/** A change to a file: `old` null where there was none. Paths are absolute. */
export interface Change {
  path: string;
  old: string | null;
  new: string;
}

export interface Prepared {
  /** What it would change: people see it before they allow it. */
  changes: Change[];
  /** Files it is about. */
  files: string[];
  /** Does it; what it says is for the model. `tell`: how it stands, all of it each time, for people. */
  run(signal: AbortSignal, tell: (text: string) => void): Promise<{ text: string; ok: boolean }>;
}

/** What leave is asked for: changes to files, commands, or this one tool. */
export type Leave = "edit" | "execute" | "use";

export interface AgentTool<T extends z.ZodMiniType = z.ZodMiniType> {
  name: string;
  /** For the model. */
  description: string;
  kind: ToolKind;
  input: T;
  /** What the model is told of its arguments, where others check them; else that is `input`. */
  schema?: JSONSchema7;
  /** Without it nobody is asked. */
  leave?: Leave;
  title(input: z.infer<T>): string;
  /** Looks whether it can be done, and does nothing. Throws a Refusal for the model to read. */
  prepare(input: z.infer<T>, root: string): Promise<Prepared>;
}

export function defineTool<T extends z.ZodMiniType>(tool: AgentTool<T>): AgentTool {
  return tool as unknown as AgentTool;
}
