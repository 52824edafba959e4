/** The interface of the built-in agent's tools. */
import type { ToolKind } from "@holdfast/contract/conversation/enums";
import type { JSONSchema7 } from "ai";
import type * as z from "zod/mini";

/** A change to a file: `old` is null for a new file. Paths are absolute. */
export interface Change {
  path: string;
  old: string | null;
  new: string;
}

export interface Prepared {
  /** The planned changes, which people see before they allow them. */
  changes: Change[];
  /** The affected files. */
  files: string[];
  /** Runs the tool; the result is for the model. `tell` shows the complete output so far to people. */
  run(signal: AbortSignal, tell: (text: string) => void): Promise<{ text: string; ok: boolean }>;
}

/** The subject of a permission: changes to files, commands, or this one tool. */
export type Leave = "edit" | "execute" | "use";

export interface AgentTool<T extends z.ZodMiniType = z.ZodMiniType> {
  name: string;
  /** For the model. */
  description: string;
  kind: ToolKind;
  input: T;
  /** The JSON schema for the model, if somebody else checks the arguments; default: `input`. */
  schema?: JSONSchema7;
  /** Undefined: needs no permission. */
  leave?: Leave;
  title(input: z.infer<T>): string;
  /** Checks whether the call is possible, without any effect. Throws a Refusal for the model to read. */
  prepare(input: z.infer<T>, root: string): Promise<Prepared>;
}

export function defineTool<T extends z.ZodMiniType>(tool: AgentTool<T>): AgentTool {
  return tool as unknown as AgentTool;
}
