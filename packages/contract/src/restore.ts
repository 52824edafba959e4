/** Bringing back what ran when the machine, or what keeps sessions, went down. */
import * as z from "zod/mini";
import { SessionId } from "./ids.ts";
import { Time } from "./session.ts";
import { LOST_BY, RESTORE_OUTCOMES } from "./status.ts";

/** Sessions that were lost at one time, with the conversation each was in; kept whatever becomes of them later. */
export const Generation = z.object({
  number: z.int(),
  at: Time,
  /** The machine was started anew, or what kept them vanished. */
  why: z.enum(LOST_BY),
  sessions: z.array(z.object({ id: SessionId, name: z.string(), run: z.int(), conversation: z.nullable(z.string()) })),
});
export type Generation = z.infer<typeof Generation>;

/**
 * What became of one. `back`: it runs, and shows that it is ready; `started`: it runs, and does not show that it is ready; `failed`: it did not come
 * back, and can be tried again; `skipped`: not tried; `would`: it would be tried (dry run).
 */
export const RestoreItem = z.object({
  id: SessionId,
  name: z.string(),
  agent: z.string(),
  outcome: z.enum(RESTORE_OUTCOMES),
  conversation: z.nullable(z.string()),
  why: z.string(),
  /** What to do about it. */
  hint: z.nullable(z.string()),
});
export type RestoreItem = z.infer<typeof RestoreItem>;

export const RESTORE_EVENTS = {
  "generation.recorded": z.omit(Generation, { at: true }),
  /** Ended by a signal when the machine went down: of a person's own doing it was not. */
  "session.restore_due": z.object({ run: z.int() }),
  /** Before the first of them is started. `auto`: the daemon does it by itself, at its start. */
  "restore.started": z.object({ generation: z.nullable(z.int()), auto: z.boolean(), sessions: z.array(SessionId) }),
  "restore.ended": z.object({ generation: z.nullable(z.int()), auto: z.boolean(), items: z.array(RestoreItem) }),
};
