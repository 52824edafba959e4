/** What a file declares, once it was read: nothing of it is unknown, and all that it names is there. */
import type { BudgetRequest } from "@holdfast/contract/budget";
import type { HOSTS, RestartPolicy } from "@holdfast/contract/status";

export interface Plan {
  /** Its real path: by it a later `apply` knows what is its own. */
  file: string;
  sessions: readonly PlannedSession[];
  /** Those of `[groups]`, those that a session is to be in, and those they are in; parents first. */
  groups: readonly PlannedGroup[];
}

export interface PlannedSession {
  name: string;
  line: number;
  /** What `spawn` takes. */
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
  /** On top of the caller's. */
  env: Readonly<Record<string, string>>;
  groups: readonly string[];
  /** Of each key what the file says, to be compared with what it said before. */
  said: Readonly<Record<string, string>>;
}

export interface PlannedGroup {
  path: string;
  line: number;
  /** Null: as configured. */
  limit: number | null;
  /** Null: as it is. */
  goal: string | null;
  /** A session of the file. */
  coordinator: string | null;
  /** By key. */
  context: Readonly<Record<string, unknown>>;
}
