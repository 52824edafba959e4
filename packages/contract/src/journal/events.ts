/** Journal events about the journal itself. */
import * as z from "zod/mini";
import { RestoreReport } from "../daemon/backup.ts";
import { Time } from "../session/session.ts";

export const JOURNAL_EVENTS = {
  /** Old events were deleted. Events up to `upTo` have gaps. */
  "journal.pruned": z.object({ events: z.int(), sessions: z.int(), upTo: z.int(), before: Time }),
  /** A new epoch began: the database was damaged, missing, or replaced on request. The journal lacks the events that the report names as lost. */
  "journal.restored": RestoreReport,
} as const;
