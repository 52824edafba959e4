/** Steps that bring the state in line with a file, and notes on differences that stay. */

import type { DeclaredPeer, NewDeclaration } from "@holdfast/contract/plan/plan";
import type { BudgetRequest } from "@holdfast/contract/usage/budget";
import type { PlannedSession } from "./plan.ts";

export type Step =
  | { do: "create_group"; group: string; limit: number | null; goal: string | null }
  | { do: "change_limit"; group: string; from: number; to: number }
  | { do: "change_goal"; group: string; from: string | null; to: string }
  /** `ifRevision` 0: the value does not exist yet. */
  | { do: "share"; group: string; key: string; value: unknown; ifRevision: number }
  /** `peers`: sessions of the file that are in groups. */
  | { do: "start"; name: string; planned: PlannedSession; peers: readonly DeclaredPeer[] }
  /** `env`: variables that changed in the file; null if none. */
  | { do: "resume"; name: string; session: string; env: Readonly<Record<string, string>> | null }
  | { do: "set_budget"; name: string; session: string; budget: BudgetRequest }
  | { do: "join" | "leave"; name: string; session: string; group: string }
  | { do: "choose"; name: string; session: string; model?: string; mode?: string }
  /** Checks that the started agents accepted their model and mode, which only they know. */
  | { do: "confirm"; chosen: readonly PlannedSession[] }
  | { do: "set_coordinator"; group: string; name: string }
  /** Records what the file says; changes nothing else. */
  | { do: "remember"; declaration: NewDeclaration }
  | { do: "unset"; group: string; key: string; ifRevision: number }
  | { do: "remove_session"; name: string; session: string; status: string; ended: boolean; workspace: string | null }
  | { do: "remove_group"; group: string };

/** A difference from the file that stays. */
export type Note =
  /** The session was started differently, and that cannot be changed. Null: absent from the file, now or before. */
  | { why: "differs"; name: string; key: string; was: string | null; now: string | null }
  | { why: "ended"; name: string; status: string }
  | { why: "renamed"; name: string; to: string }
  /** Somebody else shared another value. */
  | { why: "value_changed"; group: string; key: string; by: string }
  /** The planned coordinator has ended. */
  | { why: "coordinator_ended"; group: string; name: string }
  /** The group is no longer in the file, but is still in use. */
  | { why: "still_used"; group: string; by: string };

/** A session that was not made from the file, and the keys that differ or cannot be checked. */
export interface Refused {
  name: string;
  line: number;
  keys: readonly string[];
}

export interface Comparison {
  steps: readonly Step[];
  notes: readonly Note[];
  /** Removals that `--prune` would add: an earlier apply made these, and the file no longer has them. */
  left: readonly Step[];
  refused: readonly Refused[];
}

export function isSeen({ do: what }: Step): boolean {
  return what !== "remember" && what !== "confirm";
}
