/** Endpoints of a session's terminal: attachments, input and the screen. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { Principal } from "../ids.ts";
import { TypedText, WaitingBytes } from "../message/endpoints.ts";
import { ROUTES } from "../routes.ts";
import { Session } from "../session/session.ts";
import { flag } from "../wire.ts";
import { AttachingClient, ControlReply } from "./attachments.ts";
import { CONTROLS, ROLES } from "./enums.ts";
import { Screen } from "./holder.ts";

const text = z.string().check(z.maxLength(10_000, "a name or a reason has at most 10,000 characters"));

/**
 * How to attach: replace the process with `command` (tmux), speak the holder protocol on `socket` (native), or, if `switched`, do nothing more.
 * `detachBytes` and `nextBytes`: all byte sequences that a terminal may send for the key that detaches and for the key that moves to the next waiting
 * session.
 */
export const AttachPlan = z.object({
  session: Session,
  switched: z.boolean(),
  /** The expected role, unless another terminal is faster. */
  role: z.enum(ROLES),
  /** The current driver, if that is why this terminal can only observe. */
  driver: z.nullable(Principal),
  command: z.nullable(z.array(z.string())),
  socket: z.nullable(z.string()),
  detachKey: z.string(),
  detachBytes: z.array(z.string()),
  nextKey: z.string(),
  nextBytes: z.array(z.string()),
});
export type AttachPlan = z.infer<typeof AttachPlan>;

export const TERMINAL_ENDPOINTS = {
  attachSession: {
    ...ROUTES.attachSession,
    answeredWithout: ["configuration"],
    summary:
      "Describes how the caller's terminal attaches; moves a client that is already on Holdfast's tmux server. While another terminal drives, and with an observer's token, the terminal is read-only, unless it may `take` control.",
    scope: "observer",
    reach: "own",
    body: z.object({
      readOnly: z._default(z.boolean(), false),
      take: z._default(z.boolean(), false),
      /** The run whose terminal sends the request and is moved. */
      from: z.nullable(z.string().check(z.maxLength(100))),
      /** The client that attaches; without it the attachment belongs to the OS user. */
      client: z.optional(AttachingClient),
    }),
    reply: AttachPlan,
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  moveToNext: {
    ...ROUTES.moveToNext,
    answeredWithout: ["configuration"],
    summary:
      "Moves a session's terminal to the session that has waited longest for a person. The terminal keeps the rights of the principal who attached it. Not available to sessions.",
    scope: "owner",
    body: z.object({
      /** The client that pressed the key, by its name on the host and by its process. */
      client: z.string().check(z.maxLength(200)),
      pid: z.int(),
    }),
    reply: z.object({ session: Session }),
    errors: [...SESSION_ERRORS, "session_ended", "not_attached", "nothing_waits", "forbidden"],
  },
  detachSession: {
    ...ROUTES.detachSession,
    answeredWithout: ["configuration"],
    summary: "Detaches all terminals of a session; the session keeps running.",
    scope: "driver",
    reach: "own",
    body: z.object({}),
    reply: z.object({ session: Session, detached: z.int() }),
    errors: [...SESSION_ERRORS, "session_ended"],
  },
  controlSession: {
    ...ROUTES.controlSession,
    summary:
      "Transfers control of a session: `request` asks the driver, `give` hands control over (`to` a principal or an attachment), `take` takes it. Not available to sessions.",
    scope: "driver",
    body: z.object({ action: z.enum(CONTROLS), to: z.optional(text) }),
    reply: ControlReply,
    errors: [...SESSION_ERRORS, "session_ended", "not_attached", "control_held", "forbidden"],
  },
  handOverSession: {
    ...ROUTES.handOverSession,
    summary:
      "Hands a session and its whole history to another principal: `user:NAME` or `token:NAME`. Requires the session's owner or the owner scope.",
    scope: "driver",
    body: z.object({
      to: text,
      note: z.optional(z.string().check(z.maxLength(10_000, "a note has at most 10,000 characters; put a longer one into a file"))),
    }),
    reply: Session,
    errors: [...SESSION_ERRORS, "principal_unknown", "forbidden"],
  },
  openTerminal: {
    ...ROUTES.openTerminal,
    summary:
      "Attaches through the daemon, for callers that cannot reach the session itself: an upgrade to `holdfast`, then frames of the holder protocol. The first frame is an `attached` message with the plan.",
    scope: "observer",
    reach: "own",
    query: z.object({ readOnly: flag, take: flag, terminal: z.optional(z.string().check(z.maxLength(200))) }),
    reply: "terminal",
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  sendText: {
    ...ROUTES.sendText,
    summary: "Types text into a session's program at once: as a paste where the program accepts pastes, then Enter.",
    scope: "driver",
    reach: "own",
    takesText: true,
    verbatim: ["text"],
    body: z.object({
      text: TypedText,
      enter: z._default(z.boolean(), true),
      force: z._default(z.boolean(), false),
    }),
    reply: z.object({ session: Session, bytes: z.int(), pasted: z.boolean(), waitingBytes: WaitingBytes }),
    errors: [...SESSION_ERRORS, "session_ended", "paste_refused", "input_full", "control_held"],
  },
  pressKeys: {
    ...ROUTES.pressKeys,
    summary: "Presses keys by name, in order.",
    scope: "driver",
    reach: "own",
    body: z.object({
      keys: z
        .array(z.string().check(z.maxLength(20, "key name too long; see: holdfast keys --help")))
        .check(z.minLength(1, "name at least one key"), z.maxLength(1000, "at most 1000 keys at once")),
    }),
    reply: z.object({ session: Session, pressed: z.int(), waitingBytes: WaitingBytes }),
    errors: [...SESSION_ERRORS, "session_ended", "usage", "input_full", "control_held"],
  },
  getScreen: {
    ...ROUTES.getScreen,
    answeredWithout: ["configuration"],
    summary: "The current screen: its lines, size, cursor and title.",
    scope: "observer",
    reach: "own",
    reply: Screen,
    errors: [...SESSION_ERRORS, "session_ended"],
  },
} as const satisfies Record<string, Endpoint>;
