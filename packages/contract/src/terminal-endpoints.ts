/** The endpoints of a session's terminal: who is on it, what is typed into it, what it shows. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "./endpoint.ts";
import { Screen } from "./holder.ts";
import { Principal } from "./ids.ts";
import { TypedText, WaitingBytes } from "./message-endpoints.ts";
import { AttachingClient, ControlReply } from "./people.ts";
import { ROUTES } from "./routes.ts";
import { Session } from "./session.ts";
import { CONTROLS, ROLES } from "./status.ts";
import { flag } from "./wire.ts";

const text = z.string().check(z.maxLength(10_000, "a name or a reason has at most 10,000 characters"));

/**
 * How to become a client of a session: replace yourself by `command` (tmux), or speak the holder protocol on `socket` (native), or,
 * when `switched`, do nothing more. `detachBytes` and `nextBytes`: the forms in which a terminal may send the key that detaches, and the one that goes
 * to the next session that waits.
 */
export const AttachPlan = z.object({
  session: Session,
  switched: z.boolean(),
  /** What it will be, as long as nobody is faster. */
  role: z.enum(ROLES),
  /** Who drives instead, where that is why it can only look. */
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
    summary:
      "What the caller's terminal must become to attach; moves a client that is on our server already. While somebody drives, and for an observer's token, it can only look, unless it may `take`.",
    scope: "observer",
    reach: "own",
    body: z.object({
      readOnly: z._default(z.boolean(), false),
      take: z._default(z.boolean(), false),
      /** The run in whose terminal this is asked, which is to be moved over. */
      from: z.nullable(z.string().check(z.maxLength(100))),
      /** Who it is that becomes the session's client; without it, an attachment is the OS user's. */
      client: z.optional(AttachingClient),
    }),
    reply: AttachPlan,
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  moveToNext: {
    ...ROUTES.moveToNext,
    summary:
      "Moves one terminal of a session to the session that has waited longest for a person. It moves with the rights of whoever attached it, and only to a session within their reach. Closed to sessions.",
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
    summary: "Sends every client of a session away; the session goes on.",
    scope: "driver",
    reach: "own",
    body: z.object({}),
    reply: z.object({ session: Session, detached: z.int() }),
    errors: [...SESSION_ERRORS, "session_ended"],
  },
  controlSession: {
    ...ROUTES.controlSession,
    summary:
      "Who drives: `request` asks whoever does, `give` hands it over (`to` a principal or an attachment), `take` takes it. Closed to sessions.",
    scope: "driver",
    body: z.object({ action: z.enum(CONTROLS), to: z.optional(text) }),
    reply: ControlReply,
    errors: [...SESSION_ERRORS, "session_ended", "not_attached", "control_held", "forbidden"],
  },
  handOverSession: {
    ...ROUTES.handOverSession,
    summary:
      "Gives a session, with its whole history, to another principal: `user:NAME` or `token:NAME`. By its owner, or an owner's scope.",
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
      "Attaches through the daemon, for those who cannot reach the session itself: an upgrade to `holdfast`, then the frames of the holder protocol; the first is a message `attached` with the plan.",
    scope: "observer",
    reach: "own",
    query: z.object({ readOnly: flag, take: flag, terminal: z.optional(z.string().check(z.maxLength(200))) }),
    reply: "terminal",
    errors: [...SESSION_ERRORS, "session_ended", "host_missing", "control_held"],
  },
  sendText: {
    ...ROUTES.sendText,
    summary: "Types text into a session's program in one piece: as a paste where the program takes pastes, then Enter.",
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
    summary: "Presses keys by name, one after the other.",
    scope: "driver",
    reach: "own",
    body: z.object({
      keys: z
        .array(z.string().check(z.maxLength(20, "no key has a name so long; holdfast keys --help names them")))
        .check(z.minLength(1, "say which keys"), z.maxLength(1000, "at most 1000 keys at once")),
    }),
    reply: z.object({ session: Session, pressed: z.int(), waitingBytes: WaitingBytes }),
    errors: [...SESSION_ERRORS, "session_ended", "usage", "input_full", "control_held"],
  },
  getScreen: {
    ...ROUTES.getScreen,
    summary: "What a person would see now: the screen's lines, size, cursor and title.",
    scope: "observer",
    reach: "own",
    reply: Screen,
    errors: [...SESSION_ERRORS, "session_ended"],
  },
} as const satisfies Record<string, Endpoint>;
