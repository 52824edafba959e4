import type { Budget, HoldfastError, Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Who knows what a session has used of models, and what it may. */
export interface Accounts {
  spent(record: SessionRecord): Session["spent"];
  /** With the sessions that it started; null: they used nothing. */
  spentWithChildren(record: SessionRecord): Session["spent"];
  budget(record: SessionRecord): Session["budget"];
  /** Why no further run of it is to begin, with these limits. */
  refusal(record: SessionRecord, budget: Budget | null): HoldfastError | undefined;
  /** Why a new session below these, the nearest first, is not to begin. */
  childRefusal(name: string, above: readonly SessionRecord[]): HoldfastError | undefined;
}
