/** What is to be done so that all is as a file says, and what is not, and stays so. */
import type { BudgetRequest } from "@holdfast/contract/budget";
import type { DeclaredPeer, NewDeclaration } from "@holdfast/contract/plan";
import type { PlannedSession } from "./plan.ts";

export type Step =
  | { do: "create_group"; group: string; limit: number | null; goal: string | null }
  | { do: "change_limit"; group: string; from: number; to: number }
  | { do: "change_goal"; group: string; from: string | null; to: string }
  /** `ifRevision` 0: there is none. */
  | { do: "share"; group: string; key: string; value: unknown; ifRevision: number }
  /** `peers`: who the file says is in groups. */
  | { do: "start"; name: string; planned: PlannedSession; peers: readonly DeclaredPeer[] }
  /** `env`: variables that the file says otherwise than before; null: none. */
  | { do: "resume"; name: string; session: string; env: Readonly<Record<string, string>> | null }
  | { do: "set_budget"; name: string; session: string; budget: BudgetRequest }
  | { do: "join" | "leave"; name: string; session: string; group: string }
  | { do: "choose"; name: string; session: string; model?: string; mode?: string }
  /** Of those that were started: whether their agents have what they are to use, which only they know. */
  | { do: "confirm"; chosen: readonly PlannedSession[] }
  | { do: "set_coordinator"; group: string; name: string }
  /** What the file says is written down; nothing else changes. */
  | { do: "remember"; declaration: NewDeclaration }
  | { do: "unset"; group: string; key: string; ifRevision: number }
  | { do: "remove_session"; name: string; session: string; status: string; ended: boolean; workspace: string | null }
  | { do: "remove_group"; group: string };

/** What is not as the file says. */
export type Note =
  /** It was started otherwise, and that cannot be changed. Null: the file says, or said, nothing of it. */
  | { why: "differs"; name: string; key: string; was: string | null; now: string | null }
  | { why: "ended"; name: string; status: string }
  | { why: "renamed"; name: string; to: string }
  /** Somebody else shared another value. */
  | { why: "value_changed"; group: string; key: string; by: string }
  /** Its coordinator is to be one that has ended. */
  | { why: "coordinator_ended"; group: string; name: string }
  /** The file does not have it any more, and it cannot go. */
  | { why: "still_used"; group: string; by: string };

/** A session that was not made of the file, and what the file says of it that is not so, or that nobody can see. */
export interface Refused {
  name: string;
  line: number;
  keys: readonly string[];
}

export interface Comparison {
  steps: readonly Step[];
  notes: readonly Note[];
  /** What an earlier apply made, the file does not have, and `--prune` would take away. */
  left: readonly Step[];
  refused: readonly Refused[];
}

export function isSeen({ do: what }: Step): boolean {
  return what !== "remember" && what !== "confirm";
}
