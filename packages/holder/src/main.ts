/**
 * Keeps one run alive, apart from the daemon: owns the program's pseudo-terminal, appends what it says to disk, answers on a
 * socket. Started with the run's directory; ends by itself after the program has ended and `exit.json` is written.
 *
 * Order for every byte of output: disk first, then the screen model and the viewers. The daemon may die or be replaced at any time; its
 * connection is one client among others.
 */
import { readFileSync, rmSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { uptime } from "node:os";
import { join } from "node:path";
import { BYTES, decodeMessage, encodeMessage, FrameReader } from "@holdfast/contract/frames";
import { type FromHolder, HOLDER_PROTOCOL, ToHolder } from "@holdfast/contract/holder";
import { keepListening } from "@holdfast/platform/door";
import { writeFileAtomic } from "@holdfast/platform/files";
import { openHome, secureSocketDirectory } from "@holdfast/platform/home";
import { describe, log } from "@holdfast/platform/log";
import { inspect } from "@holdfast/platform/process";
import type { IPty } from "@lydell/node-pty";
import { Input } from "./input.ts";
import { Model } from "./model.ts";
import { type ProgramExit, startProgram } from "./program.ts";
import { Recorder } from "./recorder.ts";
import { ViewerFilter } from "./viewer-filter.ts";
import { Viewers } from "./viewers.ts";

/** How long somebody who wants the screen waits for a flood to pass before it is shown as far as it got. */
const SCREEN_MS = 300;

/** Written by the daemon into the run's directory. */
interface Order {
  socket: string;
  /** Names this holder while it lives. */
  register: string;
  columns: number;
  rows: number;
}

process.on("SIGHUP", () => {});
process.umask(0o077);
const directory = process.argv[2] ?? "";
const order = JSON.parse(readFileSync(join(directory, "holder.json"), "utf8")) as Order;
let pty: IPty | undefined;
let input: Input | undefined;
const recorder = new Recorder(directory);
const model = new Model({ directory, columns: order.columns, rows: order.rows, onReply: (data) => input?.write(Buffer.from(data)) });
const viewers = new Viewers(async () => {
  const isCurrent = await model.settle(SCREEN_MS);
  return { screen: model.serialize(), isCurrent };
});
let filter = new ViewerFilter();
const controls = new Set<Socket>();
const server = createServer((socket) => serve(socket));
const door = await keepListening(server, { path: order.socket, secure: () => secureSocketDirectory(openHome()) });
// From here on, whatever goes wrong with a client, a file or the screen's model: the program lives as long as this process does.
process.on("uncaughtException", (error) => log(`holder ${process.pid}: ${describe(error)}`));
pty = startProgram({
  launch: join(directory, "launch"),
  env: Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  columns: order.columns,
  rows: order.rows,
  onOutput,
  onExit,
});
input = new Input((pty as IPty & { fd: number }).fd);
writeFileAtomic(
  order.register,
  `${JSON.stringify({ pid: process.pid, start: inspect(process.pid)?.start, program: pty.pid, socket: order.socket })}\n`,
);
tellStarter(pty.pid);

/** On descriptor 3, the daemon's pipe. */
function tellStarter(pid: number): void {
  try {
    writeSync(3, `${JSON.stringify({ pid })}\n`);
  } catch {
    // It died meanwhile: the next one finds us by the register.
  }
}

function onOutput(bytes: Uint8Array): void {
  recorder.append(bytes);
  model.recorded(bytes);
  if (!viewers.any) return;
  const shown = filter.push(bytes);
  if (shown.switched) viewers.refreshAll();
  else viewers.output(shown.bytes);
}

function onExit(exit: ProgramExit): void {
  input?.close();
  input = undefined;
  recorder[Symbol.dispose]();
  const how = {
    status: exit.signal === 0 ? String(exit.code) : "",
    signal: exit.signal === 0 ? "" : String(exit.signal),
    uptime: String(uptime()),
  };
  writeFileAtomic(join(directory, "exit.json"), `${JSON.stringify(how)}\n`);
  viewers.dismiss({ t: "exit" });
  rmSync(order.register, { force: true });
  door.close();
  // What viewers were sent last must be out before the process is gone.
  server.close(() => process.exit(0));
  setTimeout(() => process.exit(0), 1000).unref();
  for (const socket of controls) socket.end();
}

function serve(socket: Socket): void {
  const reader = new FrameReader();
  const say = (message: FromHolder) => socket.write(encodeMessage(message));
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const { type, payload } of reader.push(chunk)) {
        if (type === BYTES && viewers.mayType(socket)) input?.write(Buffer.from(payload));
        else if (type !== BYTES) hear(socket, { message: decodeMessage(payload), say });
      }
    } catch (error) {
      // One client's nonsense must not end the run.
      process.stderr.write(`holder of ${directory}: ${(error as Error).stack}\n`);
      socket.destroy();
    }
  });
}

function hear(socket: Socket, { message, say }: { message: unknown; say(message: FromHolder): void }): void {
  const parsed = ToHolder.safeParse(message);
  if (parsed.success) obey(socket, { told: parsed.data, say });
  else answerUnknown(message, say);
}

function obey(socket: Socket, { told, say }: { told: ToHolder; say(message: FromHolder): void }): void {
  if (told.t === "control") {
    controls.add(socket.on("close", () => controls.delete(socket)));
    say({ t: "welcome", v: HOLDER_PROTOCOL, pid: pty?.pid ?? 0 });
  } else if (told.t === "view") {
    say({ t: "welcome", v: HOLDER_PROTOCOL, pid: pty?.pid ?? 0 });
    if (!told.readOnly) resize(told.columns, told.rows);
    // Nobody was there to filter for: what it held of a sequence is on the screen already.
    if (!viewers.any) filter = new ViewerFilter();
    void viewers.add(socket, { readOnly: told.readOnly });
  } else if (told.t === "resize") {
    if (controls.has(socket) || viewers.mayType(socket)) resize(told.columns, told.rows);
  } else if (told.t === "write") {
    if (input) input.write(Buffer.from(told.data, "base64"));
    say(input ? { t: "reply", id: told.id } : { t: "reply", id: told.id, error: "the program has ended" });
  } else if (told.t === "screen") {
    void model.settle(SCREEN_MS).then(() => say({ t: "reply", id: told.id, screen: model.screen() }));
  } else {
    say({ t: "reply", id: told.id, detached: viewers.dismiss({ t: "detached" }) });
  }
}

/** A newer client's message: it asked for something this holder cannot do. */
function answerUnknown(message: unknown, say: (message: FromHolder) => void): void {
  const id = (message as { id?: unknown } | null)?.id;
  if (typeof id === "number") say({ t: "reply", id, error: "this holder does not know that request" });
}

function resize(columns: number, rows: number): void {
  pty?.resize(columns, rows);
  model.resize(columns, rows);
  writeFileAtomic(join(directory, "size"), `${columns} ${rows}\n`);
}
