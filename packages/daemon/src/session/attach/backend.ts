/** Backends of a terminal that the daemon opened: a session's tmux client on a pseudo-terminal, or a viewer of its holder. */
import { connect } from "node:net";
import { BYTES, encodeFrame, encodeMessage, FrameReader, type FromHolder } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";

export interface Size {
  columns: number;
  rows: number;
}

/** Receives whole frames only: another backend may follow. `ended`: no more frames come. */
export interface BackendListener {
  frame(frame: Uint8Array): boolean;
  drained(then: () => void): void;
  ended(last: FromHolder | undefined): void;
}

export interface Backend {
  /** Identifies the client to its host. */
  readonly client: { pid: number; start: string };
  write(bytes: Uint8Array): void;
  resize(size: Size): void;
  refresh(): void;
  /** Sends nothing more; `ended` is not called. */
  close(): void;
}

const PROTOCOL = 3;

export async function openTmux(
  { command, env, size }: { command: readonly string[]; env: Record<string, string>; size: Size },
  listener: BackendListener,
): Promise<Backend> {
  const { spawn } = await import("@lydell/node-pty");
  const [file = "", ...args] = command;
  const term = "xterm-256color";
  const pty = spawn(file, args, { name: term, cwd: "/", cols: size.columns, rows: size.rows, env: { ...env, TERM: term }, encoding: null });
  let isOpen = true;
  // With `encoding: null` the data are bytes; the type says otherwise.
  pty.onData((data) => {
    if (!isOpen || listener.frame(encodeFrame(BYTES, data as unknown as Uint8Array))) return;
    pty.pause();
    listener.drained(() => pty.resume());
  });
  pty.onExit(() => {
    if (!isOpen) return;
    isOpen = false;
    listener.ended({ t: "detached" });
  });
  return {
    client: { pid: pty.pid, start: inspect(pty.pid)?.start ?? "" },
    write: (bytes) => pty.write(Buffer.from(bytes) as unknown as string),
    resize: ({ columns, rows }) => pty.resize(columns, rows),
    refresh() {},
    close() {
      if (!isOpen) return;
      isOpen = false;
      // The tmux server must not wait for a client that does not read its terminal.
      pty.resume();
      pty.kill("SIGHUP");
    },
  };
}

/** `pid` is one that no process has: the pid of a remote client is not known here. */
export function openHolder(
  { socket, pid, readOnly, size }: { socket: string; pid: number; readOnly: boolean; size: Size },
  listener: BackendListener,
): Backend {
  const holder = connect(socket);
  const reader = new FrameReader();
  let isOpen = true;
  const end = () => {
    // The holder's frames have already said how it ended.
    if (isOpen) listener.ended(undefined);
    isOpen = false;
  };
  holder.on("error", () => holder.destroy()).on("close", end);
  holder.on("data", (chunk: Buffer) => {
    let taken = true;
    try {
      for (const { type, payload } of reader.push(chunk)) {
        if (isOpen) taken = listener.frame(encodeFrame(type, payload));
      }
    } catch {
      holder.destroy();
    }
    if (taken) return;
    holder.pause();
    listener.drained(() => holder.resume());
  });
  holder.write(encodeMessage({ t: "view", v: PROTOCOL, readOnly, pid, ...size }));
  return {
    client: { pid, start: "" },
    write: (bytes) => void holder.write(encodeFrame(BYTES, bytes)),
    resize: (to) => void holder.write(encodeMessage({ t: "resize", ...to })),
    refresh: () => void holder.write(encodeMessage({ t: "refresh" })),
    close() {
      isOpen = false;
      holder.destroy();
    },
  };
}
