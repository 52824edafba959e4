/** An agent as data. Adding one is adding a file under profiles/ and a line in profiles/index.ts. */
import type { SessionKind } from "@holdfast/contract";

export interface LaunchContext {
  /** The environment the session will have. */
  env: Readonly<Record<string, string>>;
  /** The Node that runs the daemon. */
  node: string;
  /** The directory of our own programs. */
  programs: string;
}

export interface Profile {
  name: string;
  description: string;
  kind: Extract<SessionKind, "terminal" | "shell">;
  /** The program and its arguments; what the user gives after `--` is added. */
  command(context: LaunchContext): string[];
}
