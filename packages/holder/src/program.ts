/**
 * The run's program in a pseudo-terminal. The end of the program ends the run. Its terminal usually hangs up with it, and all its output has
 * then been read; if a descendant holds the terminal open, the available output is read, and the terminal is closed.
 */
import type { ReadStream } from "node:tty";
import { type IPty, spawn } from "@lydell/node-pty";
import { calm } from "./calm.ts";
import type { ProgramExit } from "./keeper.ts";

export function startProgram(options: {
  launch: string;
  env: Record<string, string>;
  columns: number;
  rows: number;
  onOutput(bytes: Uint8Array): void;
  onExit(exit: ProgramExit): void;
}): IPty {
  // Without arguments, because the launch file would run those instead of the program.
  const pty = spawn("/bin/sh", ["-c", `. "$0"`, options.launch], {
    name: "xterm-256color",
    cwd: "/",
    cols: options.columns,
    rows: options.rows,
    env: options.env,
    encoding: null,
  });
  keepReading(pty);
  // With `encoding: null` the data are bytes; the type says otherwise.
  pty.onData((data) => options.onOutput(data as unknown as Uint8Array));
  pty.onExit(({ exitCode, signal }) => options.onExit({ code: exitCode, signal: signal ?? 0 }));
  return pty;
}

/**
 * node-pty closes the terminal 200 ms after the program's exit, whether or not it has been read to its end: on a busy machine the
 * last output would be cut off. On Linux the end of the output is certain (EIO), so the terminal is closed then, unless a descendant
 * holds it open: then EIO never comes.
 */
function keepReading(pty: IPty): void {
  if (process.platform !== "linux") return;
  const socket = (pty as unknown as { _socket: ReadStream })._socket;
  const destroy = socket.destroy.bind(socket);
  let ended = false;
  let bytes = 0;
  const end = () => {
    ended = true;
  };
  socket.once("error", end).once("end", end);
  socket.on("data", (data: Uint8Array) => {
    bytes += data.length;
  });
  const closeWhenRead = () => void calm({ read: () => bytes, isOver: () => ended }).then(() => ended || destroy());
  socket.destroy = (error?: Error) => {
    if (ended || error) return destroy(error);
    closeWhenRead();
    return socket;
  };
}
