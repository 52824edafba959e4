/** A validated plan: every key is known, and every name resolves. */

import type { CallOf } from "@holdfast/contract/endpoint";
import type { ENDPOINTS } from "@holdfast/contract/endpoints";

export interface Plan {
  /** The file's real path, which identifies its declarations to a later `apply`. */
  file: string;
  sessions: readonly PlannedSession[];
  /** Groups of `[groups]`, groups of sessions, and their parents; parents first. */
  groups: readonly PlannedGroup[];
}

type SpawnCall = CallOf<(typeof ENDPOINTS)["spawn"]>["body"];

export interface PlannedSession {
  name: string;
  line: number;
  /** The body of `spawn`. */
  request: Omit<SpawnCall, "env"> & Required<Pick<SpawnCall, "chat" | "args" | "cwd">>;
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
