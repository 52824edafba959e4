/** A validated plan: every key is known, and every name resolves. */

import type { HOSTS, RestartPolicy } from "@holdfast/contract/session/status";
import type { BudgetRequest } from "@holdfast/contract/usage/budget";

export interface Plan {
  /** The file's real path, which identifies its declarations to a later `apply`. */
  file: string;
  sessions: readonly PlannedSession[];
  /** Groups of `[groups]`, groups of sessions, and their parents; parents first. */
  groups: readonly PlannedGroup[];
}

export interface PlannedSession {
  name: string;
  line: number;
  /** The body of `spawn`. */
  request: {
    agent: string;
    persona?: string | undefined;
    prompt?: string | undefined;
    chat: boolean;
    model?: string | undefined;
    mode?: string | undefined;
    args: string[];
    command?: string[] | undefined;
    cwd: string;
    worktree?: { branch?: string | undefined; base?: string | undefined; setup: boolean } | undefined;
    workspace?: string | undefined;
    role?: string | undefined;
    objective?: string | undefined;
    restart?: RestartPolicy | undefined;
    host?: (typeof HOSTS)[number] | undefined;
    memoryLimitBytes?: number | undefined;
    recordingLimitBytes?: number | undefined;
    budget?: BudgetRequest | undefined;
    context?: boolean | undefined;
  };
  /** Added to the caller's environment. */
  env: Readonly<Record<string, string>>;
  groups: readonly string[];
  /** Text of each key in the file, to compare with later versions. */
  said: Readonly<Record<string, string>>;
}

export interface PlannedGroup {
  path: string;
  line: number;
  /** Null for the configured limit. */
  limit: number | null;
  /** Null to leave the goal unchanged. */
  goal: string | null;
  /** Name of a session in the file. */
  coordinator: string | null;
  /** Shared values, by key. */
  context: Readonly<Record<string, unknown>>;
}
