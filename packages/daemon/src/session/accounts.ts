import type { Session } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Who knows what a session has used of models. */
export interface Accounts {
  spent(record: SessionRecord): Session["spent"];
}
