/**
 * Runs in holders: one small process per run that owns the program's pseudo-terminal and outlives the daemon. Each live holder has a file in
 * `holders/`. The daemon keeps one connection to each holder; a closed connection means the holder is gone.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ConversationState, type ErrorBody, HoldfastError, knownCause, type Screen } from "@holdfast/contract";
import {
  allProcesses,
  argumentsOf,
  type Home,
  inScope,
  isSameProcess,
  minimalEnvironment,
  pipeOf,
  readJsonFile,
  runDirectory,
  secureSocketDirectory,
  writeFileAtomic,
} from "@holdfast/platform";
import type { AttachWays, Host, HostClient, LiveRun, RunId, StartRequest, Typed } from "../host.ts";
import { parseRunMarker, programEnded, runMarker, screenGone } from "../host.ts";
import { encodeKey, type Key } from "../keys.ts";
import { type ConversationRequest, HolderClient } from "./holder-client.ts";

/** Interpreter only and a small young generation: a holder only moves bytes, and there may be a hundred of them. */
const HOLDER_FLAGS = ["--lite-mode", "--max-semi-space-size=1", "--no-warnings"];

/** Longer input goes through a file, which the holder reads piece by piece. */
const LONG = 64 * 1024;
/** The first protocol version whose holders accept input files. */
const TAKES_FILES = 2;

/** After its program's end a holder only has to write exit.json and notify its viewers. */
const END_MS = 5000;

interface Registered {
  pid: number;
  start: string;
  program: number;
  socket: string;
}

export class NativeHost implements Host {
  readonly name = "native";
  readonly #home: Home;
  readonly #program: string;
  readonly #clients = new Map<string, Promise<HolderClient>>();
  /** The clients that are connected; messages to them are sent immediately. */
  readonly #connected = new Map<string, HolderClient>();
  readonly #listeners: (() => void)[] = [];
  readonly #clientListeners: (() => void)[] = [];
  /** Sockets without a listening holder, with their change time. A new holder's socket has a different one. */
  #stale = new Map<string, number>();
  /** Runs whose holder this daemon is starting. */
  readonly #launching = new Set<string>();
  #closed = false;

  constructor(options: { home: Home; program: string }) {
    this.#home = options.home;
    this.#program = options.program;
    mkdirSync(this.#registry, { recursive: true, mode: 0o700 });
  }

  async start(request: StartRequest): Promise<{ pid: number }> {
    this.#checkProgram();
    secureSocketDirectory(this.#home);
    const { columns, rows, conversation } = request;
    const order = { socket: this.#socket(request), register: this.#register(request), columns, rows, conversation };
    writeFileAtomic(join(request.directory, "holder.json"), `${JSON.stringify(order)}\n`);
    this.#launching.add(runMarker(request));
    const pid = await this.#launch(request).finally(() => this.#launching.delete(runMarker(request)));
    await this.#client(request).catch(() => {
      // A program that ended at once ended its holder too. exit.json has its exit.
    });
    return { pid };
  }

  /** Lists every live holder. Connects to each, so that its end is noticed from now on. */
  async list(): Promise<LiveRun[]> {
    const runs: LiveRun[] = [];
    await this.#settled();
    for (const name of readdirSync(this.#registry)) {
      const run = parseRunMarker(name.replace(/\.json$/, ""));
      const registered = run && this.#registered(run);
      if (!run || !registered) continue;
      await this.#client(run).catch(() => {});
      runs.push({ ...run, pid: registered.program, dead: false, exit: null, recording: true });
    }
    return runs;
  }

  /** Waits for the holder to end on its own. The recording is complete when exit.json exists. */
  async remove(run: RunId): Promise<void> {
    const registered = readJsonFile(this.#register(run)) as Registered | undefined;
    const deadline = performance.now() + END_MS;
    while (registered && isSameProcess(registered.pid, registered.start)) {
      if (performance.now() > deadline) throw new HoldfastError("host_failed", `the holder (pid ${registered.pid}) is not ending`);
      await delay(5);
    }
    this.#forget(run);
  }

  async retitle(): Promise<void> {}

  async attachWays(run: RunId): Promise<AttachWays> {
    return { command: null, socket: this.#socket(run) };
  }

  /** A holder's viewers are independent terminals that no server could move. */
  async switchClient(): Promise<boolean> {
    return false;
  }

  /** A viewer talks to the holder directly and switches over on its own. */
  async handOver(): Promise<boolean> {
    return false;
  }

  async dismiss(client: HostClient): Promise<void> {
    await (await this.#client(client)).request({ t: "dismiss", number: Number(client.key) });
  }

  async clients(): Promise<HostClient[]> {
    const found: HostClient[] = [];
    for (const [marker, opened] of this.#clients) {
      const run = parseRunMarker(marker);
      const viewers = run ? await (await opened).viewers() : [];
      for (const { number, ...viewer } of viewers) if (run) found.push({ ...run, ...viewer, key: String(number), terminal: null });
    }
    return found;
  }

  onClients(listener: () => void): void {
    this.#clientListeners.push(listener);
  }

  /** A viewer that detaches tells the daemon itself. */
  async leftByKey(): Promise<boolean> {
    return false;
  }

  async setPart(client: HostClient, { readOnly }: { readOnly: boolean }): Promise<void> {
    await (await this.#client(client)).request({ t: "part", number: Number(client.key), readOnly });
  }

  async tell(client: HostClient, text: string, { stays } = { stays: false }): Promise<void> {
    await (await this.#client(client)).request({ t: "tell", number: Number(client.key), text, stays });
  }

  async showPeople(run: RunId, people: { driver: string | null; observers: number }): Promise<void> {
    await (await this.#client(run)).request({ t: "people", ...people });
  }

  async detach(run: RunId): Promise<number> {
    return (await (await this.#client(run)).request({ t: "detach" })).detached ?? 0;
  }

  write(run: RunId, bytes: Uint8Array, options: { paste: boolean }): Promise<Typed> {
    return this.#type(run, async () => {
      const marked = options.paste && (await this.screen(run)).bracketedPaste;
      return marked ? Buffer.concat([Buffer.from("\x1b[200~"), bytes, Buffer.from("\x1b[201~")]) : Buffer.from(bytes);
    });
  }

  press(run: RunId, keys: readonly Key[]): Promise<Typed> {
    return this.#type(run, async () => {
      const { applicationCursor } = await this.screen(run);
      return Buffer.from(keys.map((key) => encodeKey(key, { applicationCursor })).join(""));
    });
  }

  async #type(run: RunId, bytes: () => Promise<Buffer>): Promise<Typed> {
    try {
      const data = await bytes();
      const client = await this.#client(run);
      const isLong = data.length > LONG && client.protocol >= TAKES_FILES;
      const { waiting } = isLong ? await this.#typeFile(run, data) : await client.request({ t: "write", data: data.toString("base64") });
      return { waiting: waiting ?? null };
    } catch (error) {
      throw this.#hasEnded(run) ? programEnded() : error;
    }
  }

  /** A holder ends with its program. */
  #hasEnded(run: RunId): boolean {
    return !this.#registered(run) || existsSync(join(runDirectory(this.#home, run.session, run.run), "exit.json"));
  }

  /** The file is complete before the holder gets its path: a daemon that dies here leaves no half of the input typed. */
  async #typeFile(run: RunId, data: Buffer): Promise<{ waiting?: number }> {
    const path = join(runDirectory(this.#home, run.session, run.run), `input.${randomUUID()}`);
    try {
      writeFileAtomic(path, data);
      return await (await this.#client(run)).request({ t: "writeFile", path });
    } finally {
      rmSync(path, { force: true });
    }
  }

  async converse(run: RunId, request: ConversationRequest): Promise<ConversationState> {
    const client = this.#connected.get(runMarker(run)) ?? (await this.#client(run));
    const { state } = await client.request(request);
    if (!state) throw new HoldfastError("host_failed", "the conversation's keeper does not report its state");
    return state;
  }

  async resize(run: RunId, size: { columns: number; rows: number }): Promise<void> {
    (await this.#client(run)).tell({ t: "resize", ...size });
  }

  async screen(run: RunId): Promise<Screen> {
    const { screen } = await this.#client(run)
      .then((client) => client.request({ t: "screen" }))
      .catch((error: unknown) => {
        throw this.#hasEnded(run) ? screenGone() : error;
      });
    if (!screen) throw new HoldfastError("host_failed", "the holder returned no screen");
    return screen;
  }

  /** A holder records its own gaps. */
  async recorderEnd(): Promise<undefined> {
    return undefined;
  }

  async reopenRecording(): Promise<boolean> {
    return false;
  }

  /** A holder keeps the screen itself and rereads only its backlog. */
  rememberFrom(): void {}

  keeperPids(): number[] {
    return readdirSync(this.#registry).flatMap((name) => {
      const run = parseRunMarker(name.replace(/\.json$/, ""));
      const registered = run && this.#registered(run);
      return registered ? [registered.pid] : [];
    });
  }

  onLost(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Nothing to end: each holder ends with its program. */
  async shutdown(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const client of this.#clients.values()) (await client.catch(() => undefined))?.[Symbol.dispose]();
    this.#clients.clear();
    this.#connected.clear();
  }

  /** An upgrade replaces the files of a running daemon; an uninstall removes them. */
  #checkProgram(): void {
    const missing = [process.execPath, this.#program].find((file) => !existsSync(file));
    if (missing === undefined) return;
    throw new HoldfastError("host_failed", `the daemon is running, but its program files are gone: ${missing}`, {
      hint: "install Holdfast (and its Node) again, then run: holdfast down; running sessions keep running",
    });
  }

  #launch(request: StartRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      const [command = "", ...args] = inScope({ unit: `holdfast-holder-${runMarker(request)}` }, [
        process.execPath,
        ...HOLDER_FLAGS,
        request.conversation ? this.#conversationProgram() : this.#program,
        request.directory,
      ]);
      const child = spawn(command, args, {
        cwd: "/",
        detached: true,
        env: { ...minimalEnvironment(this.#home), TERM: "xterm-256color" },
        stdio: ["ignore", "ignore", 2, "pipe"],
      });
      const failed = (why: string) =>
        reject(new HoldfastError("host_failed", `the holder did not start: ${why}`, { hint: `see ${this.#home.log}` }));
      child.on("error", (error) => {
        const known = HoldfastError.from(error);
        if (known.code === "internal") failed(error.message);
        else reject(known);
      });
      child.on("exit", (code, signal) => failed(`it ended with ${signal ?? `code ${code}`}`));
      const pipe = pipeOf(child);
      if (!pipe) return;
      let said = "";
      pipe.on("data", (chunk) => {
        said += String(chunk);
        if (!said.includes("\n")) return;
        pipe.destroy();
        child.unref();
        const reply = JSON.parse(said) as { pid: number } | { error: ErrorBody };
        if ("pid" in reply) resolve(reply.pid);
        else reject(refused(HoldfastError.fromBody(reply.error)));
      });
    });
  }

  /** Lives beside the other program. Its name ends with that program's name, which identifies holders. */
  #conversationProgram(): string {
    return join(dirname(this.#program), `conversation-${basename(this.#program)}`);
  }

  #tellClients(): void {
    for (const listener of this.#clientListeners) listener();
  }

  #client(run: RunId): Promise<HolderClient> {
    const marker = runMarker(run);
    const known = this.#clients.get(marker);
    if (known) return known;
    const client = HolderClient.open(this.#socket(run), { onEnd: () => void this.#ended(run), onViewers: () => this.#tellClients() });
    this.#clients.set(marker, client);
    client.then(
      (connected) => this.#clients.get(marker) === client && this.#connected.set(marker, connected),
      () => this.#clients.delete(marker),
    );
    return client;
  }

  /** A killed process closes its sockets shortly before it is gone, so wait until it is really gone before reporting it. */
  async #ended(run: RunId): Promise<void> {
    this.#clients.delete(runMarker(run));
    this.#connected.delete(runMarker(run));
    this.#tellClients();
    const deadline = performance.now() + END_MS;
    while (!this.#closed && this.#registered(run) && performance.now() < deadline) await delay(5);
    if (this.#closed) return;
    for (const listener of this.#listeners) listener();
  }

  #registered(run: RunId): Registered | undefined {
    const file = readJsonFile(this.#register(run)) as Registered | undefined;
    if (typeof file?.pid !== "number" || typeof file.start !== "string") return undefined;
    return isSameProcess(file.pid, file.start) ? file : undefined;
  }

  /** Another daemon may have started a holder just before it died. Until that holder has started its program, the list of runs is incomplete. */
  async #settled(): Promise<void> {
    const deadline = performance.now() + END_MS;
    while (this.#registerAnew() && performance.now() < deadline) await delay(10);
  }

  /**
   * Registers holders whose file is damaged or missing, by their socket and the run's directory in their arguments. True if one has no program yet.
   */
  #registerAnew(): boolean {
    const sockets = existsSync(this.#home.socketDirectory) ? readdirSync(this.#home.socketDirectory) : [];
    const unregistered = sockets.flatMap((name) => {
      const run = parseRunMarker(name.replace(/\.sock$/, ""));
      return run && !this.#registered(run) ? [{ run, socket: this.#socket(run), madeAt: madeAt(this.#socket(run)) }] : [];
    });
    const unknown = unregistered.filter(({ socket, madeAt }) => this.#stale.get(socket) !== madeAt);
    this.#stale = new Map(unregistered.filter((each) => !unknown.includes(each)).map(({ socket, madeAt }) => [socket, madeAt]));
    // The search reads every process of the machine, so skip sockets of holders that were killed long ago.
    if (unknown.length === 0) return false;
    let isWaiting = false;
    const processes = [...allProcesses().values()].filter((info) => !info.zombie);
    for (const { run, socket, madeAt } of unknown) {
      const directory = runDirectory(this.#home, run.session, run.run);
      const isHolder = (args: string[]) => args.includes(directory) && args.some((word) => word.endsWith(basename(this.#program)));
      const holder = processes.find(({ pid }) => isHolder(argumentsOf(pid)));
      if (!holder) this.#stale.set(socket, madeAt);
      const program = holder && processes.find(({ parent }) => parent === holder.pid);
      isWaiting ||= holder !== undefined && program === undefined && !this.#launching.has(runMarker(run));
      if (!program) continue;
      const registered: Registered = { pid: holder.pid, start: holder.start, program: program.pid, socket };
      writeFileAtomic(this.#register(run), `${JSON.stringify(registered)}\n`);
    }
    return isWaiting;
  }

  #forget(run: RunId): void {
    rmSync(this.#register(run), { force: true });
    rmSync(this.#socket(run), { force: true });
  }

  get #registry(): string {
    return join(this.#home.path, "holders");
  }

  #register(run: RunId): string {
    return join(this.#registry, `${runMarker(run)}.json`);
  }

  #socket(run: RunId): string {
    return `${this.#home.socketDirectory}/${runMarker(run)}.sock`;
  }
}

function refused(error: HoldfastError): HoldfastError {
  return knownCause(error) ?? new HoldfastError("host_failed", `the holder did not start: ${error.message}`);
}

function madeAt(socket: string): number {
  return statSync(socket, { throwIfNoEntry: false })?.ctimeMs ?? 0;
}
