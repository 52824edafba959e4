/**
 * What is said on a holder's socket. A holder outlives the daemon that started it, and may be older than the client that
 * connects: the first message of each side names the protocol's version, unknown messages are passed over, and fields are only
 * ever added.
 *
 * A frame is one byte of type, four of length (big endian), then that many bytes. Type 0 is a message in JSON, type 1 raw
 * bytes: the terminal's output on the way to a viewer, keys on the way from one.
 */
import * as z from "zod/mini";

/**
 * 2: `write` says how much waits, and takes what is long from a file. 3: it tells who views, and
 * lets one of them drive: the others look on, at a terminal of whatever size.
 */
export const HOLDER_PROTOCOL = 3;

const size = { columns: z.int().check(z.minimum(1), z.maximum(10_000)), rows: z.int().check(z.minimum(1), z.maximum(10_000)) };

/** What a client says; `control` or `view` comes first. `id` is answered by a `reply` with the same one. */
export const ToHolder = z.discriminatedUnion("t", [
  z.object({ t: z.literal("control"), v: z.int() }),
  /** The answer is a screen as bytes, then everything the program prints. A read-only viewer's keys and size do not count. */
  z.object({ t: z.literal("view"), v: z.int(), readOnly: z.boolean(), pid: z.optional(z.int()), ...size }),
  z.object({ t: z.literal("resize"), ...size }),
  /** The reply comes when the terminal has taken it, or does not take more for now: `waiting` is how many bytes it has not. */
  z.object({ t: z.literal("write"), id: z.int(), data: z.string() }),
  /** The same with the content of a file, which the holder deletes. */
  z.object({ t: z.literal("writeFile"), id: z.int(), path: z.string() }),
  z.object({ t: z.literal("screen"), id: z.int() }),
  z.object({ t: z.literal("detach"), id: z.int() }),
  /** Sends one viewer away. */
  z.object({ t: z.literal("dismiss"), id: z.int(), number: z.int() }),
  /** The reply has `viewers`; each change is told to `control` clients as it happens. */
  z.object({ t: z.literal("viewers"), id: z.int() }),
  /** A viewer may type from now on, and the session has its size; or it only looks. */
  z.object({ t: z.literal("part"), id: z.int(), number: z.int(), readOnly: z.boolean() }),
  /** A line for one viewer to read. */
  z.object({ t: z.literal("tell"), id: z.int(), number: z.int(), text: z.string(), stays: z.optional(z.boolean()) }),
  /** For all viewers, also those who come later: who drives, and how many look on. */
  z.object({ t: z.literal("people"), id: z.int(), driver: z.nullable(z.string()), observers: z.int() }),
  /** A viewer wants the screen anew. */
  z.object({ t: z.literal("refresh") }),
]);
export type ToHolder = z.infer<typeof ToHolder>;

/** The terminal as a person would see it now. `ansi` redraws it, with colours and modes, on an empty terminal. */
export const Screen = z.object({
  ...size,
  cursor: z.object({ x: z.int(), y: z.int(), visible: z.boolean() }),
  title: z.string(),
  lines: z.array(z.string()),
  ansi: z.string(),
  alternate: z.boolean(),
  bracketedPaste: z.boolean(),
  applicationCursor: z.boolean(),
});
export type Screen = z.infer<typeof Screen>;

/** A client that shows the terminal; `since` in milliseconds since 1970. */
export interface Viewer {
  number: number;
  pid: number;
  readOnly: boolean;
  since: number;
}

export type FromHolder =
  | { t: "welcome"; v: number; pid: number }
  | {
      t: "reply";
      id: number;
      screen?: Screen;
      detached?: number;
      viewers?: Viewer[];
      waiting?: number;
      error?: string;
      ended?: boolean;
      full?: boolean;
    }
  | { t: "viewers"; viewers: Viewer[] }
  /** Through the daemon (`openTerminal`), first: the attach plan. */
  | { t: "attached"; plan: unknown }
  /** To viewers: the session's size, what they may do, a line to read, and who else is there. */
  | { t: "size"; columns: number; rows: number }
  | { t: "part"; readOnly: boolean }
  | { t: "notice"; text: string; stays?: boolean | undefined }
  | { t: "people"; driver: string | null; observers: number }
  | { t: "detached" }
  /** Its status, or the number of the signal that ended it. */
  | { t: "exit"; status?: string; signal?: string };
