/**
 * Messages on a holder's socket. A holder outlives the daemon that started it, and may be older than the client that connects. The first message of
 * each side names the protocol version, unknown messages are ignored, and fields are only ever added.
 *
 * A frame is one byte of type, four bytes of length (big endian), then that many bytes. Type 0 is a message in JSON. Type 1 is raw bytes: terminal
 * output to a viewer, keys from a viewer.
 */
import * as z from "zod/mini";

/**
 * Version 2: `write` reports how many bytes wait, and long input comes from a file. Version 3: the holder reports its viewers and lets one of them
 * drive; the others observe, with a terminal of any size.
 */
export const HOLDER_PROTOCOL = 3;

const size = { columns: z.int().check(z.minimum(1), z.maximum(10_000)), rows: z.int().check(z.minimum(1), z.maximum(10_000)) };

/** Messages from a client; `control` or `view` comes first. The reply to a message has its `id`. */
export const ToHolder = z.discriminatedUnion("t", [
  z.object({ t: z.literal("control"), v: z.int() }),
  /** The answer is the screen as bytes, then all further output. Keys and size of a read-only viewer are ignored. */
  z.object({ t: z.literal("view"), v: z.int(), readOnly: z.boolean(), pid: z.optional(z.int()), ...size }),
  z.object({ t: z.literal("resize"), ...size }),
  /** The reply comes when the terminal has accepted the input, or accepts no more for now: `waiting` is the number of bytes left. */
  z.object({ t: z.literal("write"), id: z.int(), data: z.string() }),
  /** The same with the content of a file, which the holder deletes. */
  z.object({ t: z.literal("writeFile"), id: z.int(), path: z.string() }),
  z.object({ t: z.literal("screen"), id: z.int() }),
  z.object({ t: z.literal("detach"), id: z.int() }),
  /** Detaches one viewer. */
  z.object({ t: z.literal("dismiss"), id: z.int(), number: z.int() }),
  /** The reply has `viewers`. Every change is also sent to `control` clients. */
  z.object({ t: z.literal("viewers"), id: z.int() }),
  /** Makes a viewer the driver, whose size the session takes, or an observer. */
  z.object({ t: z.literal("part"), id: z.int(), number: z.int(), readOnly: z.boolean() }),
  /** A line of text for one viewer. */
  z.object({ t: z.literal("tell"), id: z.int(), number: z.int(), text: z.string(), stays: z.optional(z.boolean()) }),
  /** For all viewers, including later ones: the driver and the number of observers. */
  z.object({ t: z.literal("people"), id: z.int(), driver: z.nullable(z.string()), observers: z.int() }),
  /** A viewer requests a redraw of the screen. */
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
  /** First message through the daemon (`openTerminal`): the attach plan. */
  | { t: "attached"; plan: unknown }
  /** To viewers: the session's size, their role, a line of text, and the other people. */
  | { t: "size"; columns: number; rows: number }
  | { t: "part"; readOnly: boolean }
  | { t: "notice"; text: string; stays?: boolean | undefined }
  | { t: "people"; driver: string | null; observers: number }
  | { t: "detached" }
  /** Exit status, or the number of the signal that ended the program. */
  | { t: "exit"; status?: string; signal?: string };
