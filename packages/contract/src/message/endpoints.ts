import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "../session/session.ts";
import { flag, list, wholeNumber } from "../wire.ts";
import { GroupMessage, LONGEST_EXPIRY_MS, MESSAGE_ROLES, Message, MessageId, MessageState } from "./message.ts";

/** Text for a program to read. */
export const TypedText = z
  .string()
  .check(
    z.maxLength(16_000_000, "a text has at most 16 million characters; put a longer one into a file, and tell the program to read it"),
  );

/** Typed bytes that the program has not read yet; null if the host does not know (tmux). */
export const WaitingBytes = z.nullable(z.int());

/** Fields of every message. */
export const Said = {
  text: TypedText.check(z.minLength(1)),
  /** The caller's own id for the message: ten letters and digits. Sending again with the same id does not send a second message. */
  id: z.optional(MessageId),
  /** The message that this one answers. */
  replyTo: z.optional(MessageId),
  /** Deliver within this time, or not at all. */
  expiresMs: z.optional(z.int().check(z.minimum(1), z.maximum(LONGEST_EXPIRY_MS))),
};

/** A message as its reader receives it. */
export const ReadMessage = z.extend(Message, {
  /** The text, marked as such if another agent wrote it. */
  words: z.string(),
});
export type ReadMessage = z.infer<typeof ReadMessage>;

const steer = z._default(z.boolean(), false);

export const MESSAGE_ENDPOINTS = {
  sendMessage: {
    ...ROUTES.sendMessage,
    summary:
      "Sends a message to a session's agent: queued until it can be delivered safely, with receipts. A program without readable status gets it typed at once, without receipts (`typed`), if a person or an ancestor session sends it; otherwise the message waits.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.object({
      ...Said,
      /** Send into the running turn instead of waiting for its end. */
      steer,
    }),
    reply: z.object({
      session: Session,
      message: z.nullable(Message),
      typed: z.nullable(z.object({ bytes: z.int(), pasted: z.boolean(), waitingBytes: WaitingBytes })),
    }),
    errors: [...SESSION_ERRORS, "session_ended", "paste_refused", "approval_waits", "input_full", "control_held", "message_not_found"],
  },
  sendToPerson: {
    ...ROUTES.sendToPerson,
    summary:
      "Sends a message to a person, `user:NAME` or `token:NAME`, or to the `owner`: of the calling session, otherwise of this home. It waits until it is read.",
    scope: "driver",
    reach: "any",
    takesText: true,
    body: z.object(Said),
    reply: Message,
    errors: ["principal_unknown", "message_not_found"],
  },
  listMessages: {
    ...ROUTES.listMessages,
    answeredWithout: ["daemon"],
    summary:
      "Messages, oldest first: to one session, to the caller (`mine`), of one thread, or all that the caller may see; optionally only those in certain states.",
    scope: "observer",
    reach: "own",
    query: z.object({
      session: z.optional(z.string()),
      mine: flag,
      thread: z.optional(z.string()),
      state: z.optional(z.pipe(list, z.array(MessageState))),
      /** Number of messages, counted from the newest. */
      limit: z._default(wholeNumber, 100),
    }),
    reply: z.object({ messages: z.array(Message) }),
    errors: SESSION_ERRORS,
  },
  readMessages: {
    ...ROUTES.readMessages,
    summary:
      "Reads the caller's mailbox, oldest first. Returned messages count as delivered (`injected`, by `read`) and go to nobody else. `read` is the caller's own id for this request: the same id returns the same messages.",
    scope: "observer",
    reach: "any",
    body: z.object({
      read: z.optional(MessageId),
      limit: z._default(z.int().check(z.minimum(1), z.maximum(1000)), 100),
      /** Longest wait for a message if none is waiting. */
      waitMs: z._default(z.int().check(z.minimum(0), z.maximum(60_000)), 0),
    }),
    reply: z.object({ messages: z.array(ReadMessage), /** True if more messages wait. */ more: z.boolean() }),
    errors: [],
  },
  getMessage: {
    ...ROUTES.getMessage,
    summary: "One message; with `until`, when it has reached that state or can go no further, or after `waitMs`.",
    scope: "observer",
    reach: "own",
    query: z.object({ until: z.optional(z.enum(["injected", "turn_started", "replied"])), waitMs: z._default(wholeNumber, 0) }),
    reply: Message,
    errors: ["message_not_found"],
  },
  cancelMessage: {
    ...ROUTES.cancelMessage,
    summary: "Takes back a queued message.",
    scope: "driver",
    reach: "own",
    reply: Message,
    errors: ["message_not_found", "message_gone"],
  },
} as const satisfies Record<string, Endpoint>;

/** Separate from the other endpoints because their routes belong to groups. */
export const GROUP_MESSAGE_ENDPOINTS = {
  sendToGroup: {
    ...ROUTES.sendToGroup,
    summary:
      "Sends a message to every live member of a group and its subgroups except the sender; with the role `coordinator`, only to the coordinator. Each member gets its own copy with receipts; nothing is typed into a shell.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.object({ ...Said, steer, role: z._default(z.enum(MESSAGE_ROLES), "member") }),
    reply: GroupMessage,
    errors: ["group_not_found", "invalid_name", "group_empty", "message_not_found"],
  },
  groupLog: {
    ...ROUTES.groupLog,
    answeredWithout: ["daemon"],
    summary: "Messages to a group and between its members, oldest first, with the state of each copy and its replies.",
    scope: "observer",
    reach: "own",
    /** Number of messages, counted from the newest. */
    query: z.object({ limit: z._default(wholeNumber, 100) }),
    reply: z.object({ messages: z.array(GroupMessage) }),
    errors: ["group_not_found", "invalid_name"],
  },
} as const satisfies Record<string, Endpoint>;
