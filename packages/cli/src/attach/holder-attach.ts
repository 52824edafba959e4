/**
 * Attach on the native host: this terminal becomes a viewer of the holder, directly through its socket. The daemon is not involved and may die
 * meanwhile. Everything is shown on the alternate screen, so the terminal is restored however the attachment ends: a detach, the program's end,
 * or the holder's death.
 */
import { connect, type Socket } from "node:net";
import { HoldfastError } from "@holdfast/contract/errors";
import { BYTES, decodeMessage, encodeFrame, encodeMessage, FrameReader } from "@holdfast/contract/terminal/frames";
import type { FromHolder, ToHolder } from "@holdfast/contract/terminal/holder";
import { Shown } from "./holder-screen.ts";

const PROTOCOL = 1;

const ENTER = "\x1b[?1049h\x1b[2J\x1b[H";
/** Switches off every mode that a program may have switched on, then returns to the main screen. */
export const LEAVE =
  "\x1b[!p\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[>4;0m\x1b[<99u\x1b[r\x1b[0m\x1b[?25h\x1b[?1049l";

/** `left` and `next`: by a key. `detached`: by somebody else, or because the terminal disappeared. */
export type AttachEnd =
  | { how: "left" | "detached" | "lost" | "next" }
  | { how: "ended"; status: string | undefined; signal: string | undefined };

export interface AttachOptions {
  /** Path of the holder's socket, or an open connection. */
  socket: string | Socket;
  readOnly: boolean;
  /** The session's name. */
  title: string;
  detachKey: string;
  detachBytes: readonly string[];
  nextBytes: readonly string[];
}

export async function attachToHolder(options: AttachOptions): Promise<AttachEnd> {
  const socket = typeof options.socket === "string" ? await open(options.socket) : options.socket;
  const { stdin, stdout } = process;
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const tell = (message: ToHolder) => socket.write(encodeMessage(message));
  const leave = () => {
    stdout.write(LEAVE);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const shown = new Shown({ ...options, size, refresh: () => tell({ t: "refresh" }) });
  return new Promise((resolve) => {
    let end: AttachEnd = { how: "lost" };
    const finish = (how: AttachEnd) => {
      end = how;
      socket.destroy();
    };
    const onSignal = () => finish({ how: "detached" });
    const onKeys = (keys: Buffer) => {
      const { before, end } = untilOurs(keys, { left: options.detachBytes, next: options.nextBytes });
      if (before.length > 0) shown.typed();
      if (before.length > 0 && shown.readOnly) shown.refused();
      else if (before.length > 0) socket.write(encodeFrame(BYTES, before));
      if (end) finish({ how: end });
    };
    const onResize = () => {
      tell({ t: "resize", ...size() });
      shown.resized();
    };
    const reader = new FrameReader();
    socket.on("data", async (chunk: Buffer) => {
      socket.pause();
      for (const { type, payload } of reader.push(chunk)) {
        if (type === BYTES) {
          await shown.output(payload);
          continue;
        }
        const message = decodeMessage(payload) as FromHolder;
        await shown.hear(message);
        if (message.t === "detached") finish({ how: "detached" });
        if (message.t === "exit") finish({ how: "ended", status: message.status, signal: message.signal });
      }
      socket.resume();
    });
    socket.on("close", () => {
      shown[Symbol.dispose]();
      stdin.off("data", onKeys);
      stdout.off("resize", onResize);
      for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.off(signal, onSignal);
      leave();
      resolve(end);
    });
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, onSignal);
    stdout.write(ENTER);
    stdin.setRawMode(true);
    stdin.on("data", onKeys).resume();
    stdout.on("resize", onResize);
    tell({ t: "view", v: PROTOCOL, readOnly: options.readOnly, pid: process.pid, ...size() });
  });
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // A broken connection also closes; the close handler deals with it.
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("error", (cause) =>
      reject(new HoldfastError("host_failed", `cannot reach the session's holder: ${cause.message}`, { cause })),
    );
  });
}

/** Splits input at the first reserved key, which terminals send in several forms. */
function untilOurs<K extends string>(keys: Buffer, ours: Readonly<Record<K, readonly string[]>>): { before: Buffer; end: K | undefined } {
  const found = (Object.entries(ours) as [K, readonly string[]][]).flatMap(([end, forms]) =>
    forms.map((form) => ({ end, place: keys.indexOf(form, 0, "latin1") })).filter(({ place }) => place >= 0),
  );
  const first = found.sort((a, b) => a.place - b.place)[0];
  return first ? { before: keys.subarray(0, first.place), end: first.end } : { before: keys, end: undefined };
}
