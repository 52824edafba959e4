/** Restoring sessions that were lost when the machine or a keeper went down. */
import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";
import { LOST_BY, RESTORE_OUTCOMES } from "./enums.ts";

/** Sessions that were lost at the same time, each with its conversation. The record stays, whatever happens to the sessions later. */
export const Generation = z.object({
  number: z.int(),
  at: Time,
  /** The machine rebooted, or the keeper vanished. */
  why: z.enum(LOST_BY),
  sessions: z.array(z.object({ id: SessionId, name: z.string(), run: z.int(), conversation: z.nullable(z.string()) })),
});
export type Generation = z.infer<typeof Generation>;

/**
 * The result for one session. `back`: it runs and reports that it is ready; `started`: it runs without reporting that it is ready; `failed`: it did
 * not come back and can be tried again; `skipped`: not tried; `would`: it would be tried (dry run).
 */
export const RestoreItem = z.object({
  id: SessionId,
  name: z.string(),
  agent: z.string(),
  outcome: z.enum(RESTORE_OUTCOMES),
  conversation: z.nullable(z.string()),
  why: z.string(),
  /** The next step. */
  hint: z.nullable(z.string()),
});
export type RestoreItem = z.infer<typeof RestoreItem>;

export const RESTORE_EVENTS = {
  "generation.recorded": z.omit(Generation, { at: true }),
  /** A signal ended the run while the machine went down; nobody stopped it intentionally. */
  "session.restore_due": z.object({ run: z.int() }),
  /** Recorded before the first session is started. `auto`: started by the daemon when it starts. */
  "restore.started": z.object({ generation: z.nullable(z.int()), auto: z.boolean(), sessions: z.array(SessionId) }),
  "restore.ended": z.object({ generation: z.nullable(z.int()), auto: z.boolean(), items: z.array(RestoreItem) }),
};
