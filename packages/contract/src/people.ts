/** Who is at a session: terminals that come and go. */
import * as z from "zod/mini";
import { Principal, RunNumber } from "./ids.ts";
import { Attachment, Session } from "./session.ts";

/** What a client says of its terminal when it asks to attach: by its pid it is known again when it has become the session's client. */
export const AttachingClient = z.object({
  pid: z.int(),
  terminal: z.nullable(z.string().check(z.maxLength(200))),
  from: z.nullable(z.string().check(z.maxLength(200))),
  /** What `holdfast -H` calls the terminal at its near end, to find again what it showed when the connection broke. */
  mark: z.optional(z.string().check(z.maxLength(100))),
});
export type AttachingClient = z.infer<typeof AttachingClient>;

export const ControlReply = z.object({
  session: Session,
  driver: z.nullable(Attachment),
  /** Whether whoever drives was asked, for they do still. */
  asked: z.boolean(),
});
export type ControlReply = z.infer<typeof ControlReply>;

export const PEOPLE_EVENTS = {
  /** `client` has the start of that process too: a pid is used again. */
  "session.attach_requested": z.object({
    run: RunNumber,
    readOnly: z.boolean(),
    /** It drives from the moment it is there, whoever did before. */
    take: z.optional(z.boolean()),
    client: z.optional(z.extend(AttachingClient, { start: z.string() })),
  }),
  "session.detach_requested": z.object({ run: RunNumber }),
  /** A terminal shows it. `key`: what its host calls the client. `readOnly`: it asked for no more than to look. */
  "session.attached": z.extend(Attachment, {
    run: RunNumber,
    key: z.string(),
    pid: z.int(),
    pidStart: z.string(),
    readOnly: z.boolean(),
  }),
  /** It does not any more: it left, was sent away, or died. */
  "session.detached": z.object({ run: RunNumber, id: z.string(), principal: Principal }),
  /** It has another owner. */
  "session.handed_over": z.object({ from: Principal, to: Principal, note: z.nullable(z.string()) }),
  /** The actor asked whoever drives for it. */
  "session.control_requested": z.object({ run: RunNumber, driver: z.nullable(Principal) }),
  /** Another attachment drives, or none. `left`: the one before did; `attached`: it came while nobody drove, or to take it. */
  "session.control_changed": z.object({
    run: RunNumber,
    driver: z.nullable(z.object({ id: z.string(), principal: Principal })),
    from: z.nullable(Principal),
    how: z.enum(["given", "taken", "left", "attached"]),
  }),
};
