import type { Budget, HoldfastError, Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Knows the model usage and the budget of each session. */
export interface Accounts {
  spent(record: SessionRecord): Session["spent"];
  /** Including the sessions that it started; null if they used nothing. */
  spentWithChildren(record: SessionRecord): Session["spent"];
  budget(record: SessionRecord): Session["budget"];
  /** Why no further run may begin under these limits. */
  refusal(record: SessionRecord, budget: Budget | null): HoldfastError | undefined;
  /** Why no new session may begin below these sessions, nearest first. */
  childRefusal(name: string, above: readonly SessionRecord[]): HoldfastError | undefined;
}
