/**
 * Keeps one run alive, independent of the daemon: owns the program's pseudo-terminal, appends its output to disk, and answers on a
 * socket. Started with the run's directory; ends after the program has ended and `exit.json` is written.
 *
 * Order for every byte of output: disk first, then the terminal emulator and the viewers. The daemon may die or be replaced at any time; its
 * connection is one client among others.
 */
import { fstatSync, openSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { BYTES, decodeMessage, encodeMessage, FrameReader, LONGEST_TYPED } from "@holdfast/contract/terminal/frames";
import { type FromHolder, HOLDER_PROTOCOL, ToHolder } from "@holdfast/contract/terminal/holder";
import { writeFileAtomic } from "@holdfast/platform/files";
import type { IPty } from "@lydell/node-pty";
import { Emulator } from "./emulator.ts";
import { Input } from "./input.ts";
import { Keeper, type Order, type ProgramExit } from "./keeper.ts";
import { startProgram } from "./program.ts";
import { Recorder } from "./recorder.ts";
import { ViewerFilter } from "./viewer-filter.ts";
import { Viewers } from "./viewers.ts";

/** How long a request for the screen waits for a flood to pass before the screen is shown as it is. */
const SCREEN_MS = 300;

/** A program that has not read this much input gets no more of it, because it may never read. */
const MOST_WAITING = 1024 * 1024;

const directory = process.argv[2] ?? "";
const keeper = new Keeper<Order & { columns: number; rows: number }>(directory, serve);
const { order } = keeper;
let pty: IPty | undefined;
let input: Input | undefined;
const recorder = new Recorder(directory);
const emulator = new Emulator({ directory, columns: order.columns, rows: order.rows, onReply: answer });
const viewers = new Viewers({
  async screen() {
    const isCurrent = await emulator.settle(SCREEN_MS);
    return { screen: emulator.serialize(), isCurrent };
  },
  onChange() {
    const told = encodeMessage({ t: "viewers", viewers: viewers.list() } satisfies FromHolder);
    for (const socket of controls) socket.write(told);
  },
});
let filter = new ViewerFilter();
const controls = new Set<Socket>();
let size = { columns: order.columns, rows: order.rows };
let people: Extract<FromHolder, { t: "people" }> = { t: "people", driver: null, observers: 0 };
await keeper.open();
pty = startProgram({
  launch: join(directory, "launch"),
  env: Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  columns: order.columns,
  rows: order.rows,
  onOutput,
  onExit,
});
input = new Input((pty as IPty & { fd: number }).fd);
keeper.register({ pid: pty.pid, kill: () => pty?.kill("SIGKILL") });

/** A program that sends queries without reading the answers gets no more answers. */
function answer(data: string): void {
  if (input?.hasRoom) input.write(Buffer.from(data));
}

function onOutput(bytes: Uint8Array): void {
  const recorded = recorder.append(bytes);
  emulator.output(bytes, recorded);
  if (!viewers.any) return;
  const shown = filter.push(bytes);
  if (shown.switched) viewers.refreshAll();
  else viewers.output(shown.bytes);
}

function onExit(exit: ProgramExit): void {
  input?.close();
  input = undefined;
  keeper.programEnded(exit, {
    finish: () => recorder.finish(),
    tell: ({ status, signal }) => void viewers.dismiss({ t: "exit", status, signal }),
    leave() {
      for (const socket of controls) socket.end();
    },
  });
}

function serve(socket: Socket): void {
  const reader = new FrameReader(LONGEST_TYPED);
  const say = (message: FromHolder) => socket.write(encodeMessage(message));
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const { type, payload } of reader.push(chunk)) {
        if (type === BYTES && viewers.mayType(socket)) pressed(socket, payload);
        else if (type !== BYTES) hear(socket, { message: decodeMessage(payload), say });
      }
    } catch (error) {
      // An invalid message of one client must not end the run.
      keeper.complain(error);
      socket.destroy();
    }
  });
}

/** Like a terminal, stops accepting keys after a while if the program does not read. */
function pressed(socket: Socket, keys: Uint8Array): void {
  input?.write(Buffer.from(keys));
  if (!input || input.hasRoom || socket.isPaused()) return;
  socket.pause();
  input.onRoom(() => socket.resume());
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
    // Without viewers the filter was not used: an unfinished sequence in it is already on the screen.
    if (!viewers.any) filter = new ViewerFilter();
    const { columns, rows } = told;
    say({ t: "size", ...size });
    say(people);
    void viewers.add(socket, { readOnly: told.readOnly, pid: told.pid ?? 0, size: { columns, rows } });
  } else if (told.t === "resize") {
    viewers.resized(socket, { columns: told.columns, rows: told.rows });
    if (controls.has(socket) || viewers.mayType(socket)) resize(told.columns, told.rows);
  } else if (told.t === "write") {
    const write = (input: Input) => input.write(Buffer.from(told.data, "base64"));
    void type(told.id, { say, write, hasRoom: input?.hasRoom ?? true });
  } else if (told.t === "writeFile") {
    const write = (input: Input) => input.writeFile(...openSpooled(told.path));
    // A paste is refused while this much input waits; short input, such as the Enter after it, is not.
    void type(told.id, { say, write, hasRoom: (input?.waiting ?? 0) < MOST_WAITING });
  } else if (told.t === "screen") {
    void emulator.settle(SCREEN_MS).then(() => say({ t: "reply", id: told.id, screen: emulator.screen() }));
  } else if (told.t === "refresh") {
    viewers.refresh(socket);
  } else if (told.t === "part") {
    const wanted = viewers.setPart(told.number, told.readOnly);
    if (wanted && !told.readOnly) resize(wanted.columns, wanted.rows);
    say({ t: "reply", id: told.id });
  } else if (told.t === "tell") {
    viewers.tell(told.number, { t: "notice", text: told.text, stays: told.stays });
    say({ t: "reply", id: told.id });
  } else if (told.t === "dismiss") {
    viewers.dismissOne(told.number, { t: "detached" });
    say({ t: "reply", id: told.id });
  } else if (told.t === "people") {
    people = { t: "people", driver: told.driver, observers: told.observers };
    viewers.tellAll(people);
    say({ t: "reply", id: told.id });
  } else if (told.t === "viewers") {
    say({ t: "reply", id: told.id, viewers: viewers.list() });
  } else {
    say({ t: "reply", id: told.id, detached: viewers.dismiss({ t: "detached" }) });
  }
}

async function type(
  id: number,
  { say, write, hasRoom }: { say(message: FromHolder): void; write(input: Input): void; hasRoom: boolean },
): Promise<void> {
  if (input && !hasRoom) return say({ t: "reply", id, error: "the program is not reading its input", full: true, waiting: input.waiting });
  try {
    if (input) write(input);
  } catch (error) {
    return say({ t: "reply", id, error: (error as Error).message });
  }
  const waiting = (await input?.settle()) ?? 0;
  say(input ? { t: "reply", id, waiting } : { t: "reply", id, error: "the program has ended", ended: true });
}

/** Deletes the file's name: typed text must not outlive the program that is to read it. */
function openSpooled(path: string): [fd: number, size: number] {
  const fd = openSync(path, "r");
  rmSync(path, { force: true });
  return [fd, fstatSync(fd).size];
}

/** Answers an unknown request of a newer client with an error. */
function answerUnknown(message: unknown, say: (message: FromHolder) => void): void {
  const id = (message as { id?: unknown } | null)?.id;
  if (typeof id === "number") say({ t: "reply", id, error: "this holder does not know that request" });
}

function resize(columns: number, rows: number): void {
  size = { columns, rows };
  viewers.tellAll({ t: "size", ...size });
  pty?.resize(columns, rows);
  emulator.resize(columns, rows);
  try {
    writeFileAtomic(join(directory, "size"), `${columns} ${rows}\n`);
  } catch (error) {
    // Only a replay depends on this file.
    keeper.complain(error);
  }
}
