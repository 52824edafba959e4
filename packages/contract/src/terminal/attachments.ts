/** Attachments: the terminals that show a session. */
import * as z from "zod/mini";
import { Principal, RunNumber } from "../ids.ts";
import { Attachment, Session } from "../session/session.ts";

/** A client's description of its terminal when it attaches. The pid identifies it later as the session's client. */
export const AttachingClient = z.object({
  pid: z.int(),
  terminal: z.nullable(z.string().check(z.maxLength(200))),
  from: z.nullable(z.string().check(z.maxLength(200))),
  /** Name that `holdfast -H` gives to the local terminal, to find what it showed when the connection broke. */
  mark: z.optional(z.string().check(z.maxLength(100))),
});
export type AttachingClient = z.infer<typeof AttachingClient>;

export const ControlReply = z.object({
  session: Session,
  driver: z.nullable(Attachment),
  /** True if the current driver was asked and still drives. */
  asked: z.boolean(),
});
export type ControlReply = z.infer<typeof ControlReply>;

export const PEOPLE_EVENTS = {
  /** `client` includes the start time of its process, because pids are reused. */
  "session.attach_requested": z.object({
    run: RunNumber,
    readOnly: z.boolean(),
    /** The terminal drives as soon as it is attached, whoever drove before. */
    take: z.optional(z.boolean()),
    client: z.optional(z.extend(AttachingClient, { start: z.string() })),
  }),
  "session.detach_requested": z.object({ run: RunNumber }),
  /** A terminal attached. `key`: the host's name of the client. `readOnly`: the client asked only to observe. */
  "session.attached": z.extend(Attachment, {
    run: RunNumber,
    key: z.string(),
    pid: z.int(),
    pidStart: z.string(),
    readOnly: z.boolean(),
  }),
  /** A terminal detached, was detached, or died. */
  "session.detached": z.object({ run: RunNumber, id: z.string(), principal: Principal }),
  /** The session has a new owner. */
  "session.handed_over": z.object({ from: Principal, to: Principal, note: z.nullable(z.string()) }),
  /** The actor asked the driver for control. */
  "session.control_requested": z.object({ run: RunNumber, driver: z.nullable(Principal) }),
  /**
   * Another attachment drives, or none. `left`: the previous driver detached; `attached`: a terminal attached while there was no driver, or to take
   * control.
   */
  "session.control_changed": z.object({
    run: RunNumber,
    driver: z.nullable(z.object({ id: z.string(), principal: Principal })),
    from: z.nullable(Principal),
    how: z.enum(["given", "taken", "left", "attached"]),
  }),
};
