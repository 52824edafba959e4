/**
 * Runs in panes of our private tmux server, one tmux session per run. The daemon uses one control client (0.2 ms per command; a fork costs 8 ms).
 * The client ends with the daemon, the server stays.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError, type Screen } from "@holdfast/contract";
import { describe, type Home, inspect, runDirectory, segmentPrefix, shellQuote, writeFileAtomic } from "@holdfast/platform";
import {
  type AttachWays,
  type Host,
  type HostClient,
  type LiveRun,
  programEnded,
  type RecorderEnd,
  type RunId,
  runMarker,
  type StartRequest,
  screenGone,
  type Typed,
} from "../host.ts";
import type { Key } from "../keys.ts";
import { CLIENTS_COMMAND, isAboutClients, noticeCommand, parseClients, peopleCommands, readOnlyCommand } from "./clients.ts";
import { LIST_COMMAND, parseList, pipeCommand, quote, splitRecorder, startCommands, target } from "./commands.ts";
import { REMOTE_FLAG } from "./configuration.ts";
import type { ControlClient, ControlListener } from "./control.ts";
import { drained, forgetRecorder, recorderDied, recorderGone, recorderOf, recorderSaid } from "./drain.ts";
import { tookLeave } from "./left.ts";
import { watchMissedEnds } from "./missed-ends.ts";
import { PasteMarks } from "./paste-marks.ts";
import { programOf, programStarted } from "./reaper.ts";
import type { TmuxServer } from "./server.ts";
import { DEAD, forgetCommand, parseScreen, pressCommand, resizeCommands, screenCommands, writeCommands } from "./typing.ts";

/** tmux does not report how much input a program has not read. */
const NOT_KNOWN: Typed = { waiting: null };

/** Time to read a line, and time for an absent user to return and read it. */
const NOTICE_MS = 6000;
const STAYS_MS = 120_000;

/** The program has ended, and its pane was removed. */
const NO_SESSION = /can't find (?:session|pane|window)/;

export class TmuxHost implements Host {
  readonly name = "tmux";
  readonly server: TmuxServer;
  readonly #home: Home;
  readonly #listeners: (() => void)[] = [];
  readonly #clientListeners: (() => void)[] = [];
  readonly #listener: ControlListener = { onEnd: () => this.#onEnd(), onNotice: (line) => this.#onNotice(line) };
  #client: Promise<ControlClient | undefined> | undefined;
  #missedEnds: Disposable | undefined;
  readonly #pasteMarks = new PasteMarks();
  /** Timers of the notices now shown in bars. */
  readonly #notices = new Map<string, NodeJS.Timeout>();
  /** Sessions that an unresponsive server may still create once it continues. Their launch files are gone. */
  readonly #abandoned = new Set<string>();
  #closed = false;
  #pastes = 0;

  constructor(options: { home: Home; server: TmuxServer }) {
    this.#home = options.home;
    this.server = options.server;
  }

  async start(request: StartRequest): Promise<{ pid: number }> {
    const client = await this.#opened();
    try {
      const { reaper } = this.server;
      const replies = await client.run(...startCommands(request, { recorder: splitRecorder(segmentPrefix(0)), reaper }));
      const pid = Number(replies.at(-1)?.[0]);
      return { pid: reaper ? await programStarted(request.directory, { pid, start: inspect(pid)?.start ?? "" }) : pid };
    } catch (error) {
      if (client.isSilent) {
        this.#abandoned.add(target(request));
        throw this.server.diagnosed(error);
      }
      // tmux drops the rest of a sequence after an error, so remove whatever part of the session exists. If the client itself is gone, use a new
      // one.
      const left = await this.#found().catch(() => undefined);
      await left?.run(`kill-session -t ${target(request)}`).catch(() => {});
      throw error;
    }
  }

  async list(): Promise<LiveRun[]> {
    const client = await this.#found();
    if (!client) return [];
    const [lines = []] = await client.run(LIST_COMMAND);
    const runs = this.#kept(lines);
    if (!runs.some(({ dead, exit }) => dead && exit?.code === null && exit.signal === null)) return runs;
    // tmux missed an end (missed-ends.ts) and notices it when its next child ends, so give it one. `run-shell` answers after that.
    await client.run("run-shell ':'");
    const [again = []] = await client.run(LIST_COMMAND);
    return this.#kept(again);
  }

  /** Adds facts that tmux does not know: the program's pid below its reaper, and a recorder's death. */
  #kept(lines: readonly string[]): LiveRun[] {
    return parseList(lines).map((live) => {
      const directory = runDirectory(this.#home, live.session, live.run);
      return { ...live, pid: programOf(directory, live.pid), recording: live.recording && !recorderDied(directory) };
    });
  }

  async remove(run: RunId): Promise<void> {
    const directory = runDirectory(this.#home, run.session, run.run);
    this.#pasteMarks.forget(directory);
    const client = await this.#found();
    // The pane disappeared without us, but the pipe may still hold bytes for the recording.
    if (!client || !(await this.#has(client, run))) return recorderGone(recorderOf(directory));
    await drained(directory, async () => {
      const [[piped] = []] = await client.run(`display-message -p -t ${target(run)} '#{pane_pipe}'`);
      return piped === "1";
    });
    const recorder = recorderOf(directory);
    await client.run(`kill-session -t ${target(run)}`);
    await recorderGone(recorder);
  }

  async retitle(run: RunId, title: string): Promise<void> {
    const client = await this.#found();
    await client?.run(`set-option -t ${target(run)} @holdfast_title ${quote(title)}`);
  }

  async attachWays(run: RunId, { readOnly, remote }: { readOnly: boolean; remote?: boolean }): Promise<AttachWays> {
    await this.server.ensureSocket();
    const wanted = [...(readOnly ? ["read-only", "ignore-size"] : []), ...(remote ? [REMOTE_FLAG] : [])];
    const flags = wanted.length === 0 ? [] : ["-f", wanted.join(",")];
    const command = [this.server.program.path, "-u", "-S", this.#home.tmuxSocket, "attach-session", ...flags, "-t", `=${runMarker(run)}:`];
    return { command, socket: null };
  }

  /** Types through a file and a buffer: any size and any byte, in one piece. */
  async write(run: RunId, bytes: Uint8Array, options: { paste: boolean }): Promise<Typed> {
    this.#refuseEnded(run);
    const client = await this.#opened();
    const name = `paste.${++this.#pastes}`;
    const file = join(runDirectory(this.#home, run.session, run.run), name);
    writeFileAtomic(file, bytes);
    try {
      const replies = await client.run(...writeCommands(run, { name, paste: options.paste }));
      if (!isDead(replies)) return NOT_KNOWN;
      await client.run(forgetCommand(run, name));
      throw programEnded();
    } finally {
      rmSync(file, { force: true });
    }
  }

  async press(run: RunId, keys: readonly Key[]): Promise<Typed> {
    this.#refuseEnded(run);
    const client = await this.#opened();
    if (isDead(await client.run(pressCommand(run, keys)))) throw programEnded();
    return NOT_KNOWN;
  }

  async resize(run: RunId, size: { columns: number; rows: number }): Promise<void> {
    const client = await this.#opened();
    await client.run(...resizeCommands(run, size));
  }

  async screen(run: RunId): Promise<Screen> {
    const client = await this.#opened();
    const replies = await client.run(...screenCommands(run)).catch((error: unknown) => {
      throw NO_SESSION.test(describe(error)) ? screenGone() : error;
    });
    return parseScreen(replies, { bracketedPaste: this.#pasteMarks.asked(runDirectory(this.#home, run.session, run.run)) });
  }

  /** One sequence, so that the client never shows `to` with more rights than it should have there. */
  async switchClient(client: HostClient, to: RunId, { readOnly }: { readOnly: boolean }): Promise<boolean> {
    const now = await this.#still(client);
    if (!now) return false;
    const toggle = !readOnly && now.readOnly ? " -r" : "";
    const commands = [...(readOnly ? [readOnlyCommand(now)] : []), `switch-client -c ${quote(now.key)} -t ${target(to)}${toggle}`];
    await (await this.#opened()).run(...commands);
    return true;
  }

  async handOver(client: HostClient, command: readonly string[]): Promise<boolean> {
    const now = await this.#still(client);
    if (!now) return false;
    const words = [`HOLDFAST_HOME=${this.#home.path}`, ...command].map(shellQuote);
    await (await this.#opened()).run(`detach-client -t ${quote(now.key)} -E ${quote(`exec env ${words.join(" ")}`)}`);
    return true;
  }

  async dismiss(client: HostClient): Promise<void> {
    const now = await this.#still(client);
    if (now) await (await this.#opened()).run(`detach-client -t ${quote(now.key)}`);
  }

  /** The same client, if it still shows that run. A client is named after its terminal, which another client may use by now. */
  async #still({ key, pid, session, run }: HostClient): Promise<HostClient | undefined> {
    return (await this.clients()).find((now) => now.key === key && now.pid === pid && now.session === session && now.run === run);
  }

  async clients(): Promise<HostClient[]> {
    const client = await this.#found();
    if (!client) return [];
    const [lines = []] = await client.run(CLIENTS_COMMAND);
    return parseClients(lines);
  }

  onClients(listener: () => void): void {
    this.#clientListeners.push(listener);
  }

  leftByKey(client: { pid: number; pidStart: string }): Promise<boolean> {
    return tookLeave(this.#home.socketDirectory, client);
  }

  /**
   * tmux can set read-only but only toggle it off, so check the current state first. Two concurrent toggles leave the client read-only; the next
   * check fixes it.
   */
  async setPart(client: HostClient, { readOnly }: { readOnly: boolean }): Promise<void> {
    const now = (await this.clients()).find(({ key, pid }) => key === client.key && pid === client.pid);
    if (!now || now.readOnly === readOnly) return;
    const command = readOnly ? readOnlyCommand(now) : `switch-client -c ${quote(client.key)} -t ${target(now)} -r`;
    await (await this.#opened()).run(command);
  }

  async tell(client: HostClient, text: string, { stays } = { stays: false }): Promise<void> {
    const now = (await this.clients()).find(({ key, pid }) => key === client.key && pid === client.pid);
    if (!now) return;
    await (await this.#opened()).run(noticeCommand(now, text));
    const bar = `${runMarker(now)} ${now.readOnly}`;
    clearTimeout(this.#notices.get(bar));
    const end = async () => {
      this.#notices.delete(bar);
      await (await this.#found())?.run(noticeCommand(now, ""));
    };
    // The run or the server may be gone by then.
    this.#notices.set(bar, setTimeout(() => void end().catch(() => {}), stays ? STAYS_MS : NOTICE_MS).unref());
  }

  async showPeople(run: RunId, people: { driver: string | null; observers: number }): Promise<void> {
    await (await this.#opened()).run(...peopleCommands(run, people));
  }

  async detach(run: RunId): Promise<number> {
    const client = await this.#opened();
    const [lines = []] = await client.run(`list-clients -t ${target(run)} -F '#{client_name}'`, `detach-client -s ${target(run)}`);
    return lines.length;
  }

  /** The recorder's file has its error message. Without a message the recorder ended too early if the pane, whose end would end it, still exists. */
  async recorderEnd(run: RunId): Promise<RecorderEnd | undefined> {
    const directory = runDirectory(this.#home, run.session, run.run);
    if (!recorderDied(directory)) return undefined;
    const said = recorderSaid(directory);
    if (said) return said;
    const client = await this.#found();
    return client && (await this.#has(client, run)) ? { why: null, at: null } : undefined;
  }

  async reopenRecording(run: RunId, prefix: string): Promise<boolean> {
    const client = await this.#opened();
    forgetRecorder(runDirectory(this.#home, run.session, run.run));
    await client.run(pipeCommand(run, splitRecorder(prefix)));
    const [lines = []] = await client.run(LIST_COMMAND);
    return parseList(lines).some((live) => live.session === run.session && live.run === run.run && live.recording);
  }

  rememberFrom(run: RunId, paths: readonly string[]): void {
    this.#pasteMarks.remember(runDirectory(this.#home, run.session, run.run), paths);
  }

  keeperPids(): number[] {
    return this.server.pid === undefined ? [] : [this.server.pid];
  }

  onLost(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async shutdown(): Promise<void> {
    const client = await this.#found();
    this.#closed = true;
    // The server's end is the reply.
    await client?.run("kill-server").catch(() => {});
    await this.server.gone();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const timer of this.#notices.values()) clearTimeout(timer);
    const client = await this.#client?.catch(() => undefined);
    await client?.[Symbol.asyncDispose]();
  }

  /** A pane outlives its program until everything is recorded. */
  #refuseEnded(run: RunId): void {
    if (existsSync(join(runDirectory(this.#home, run.session, run.run), "exit.json"))) throw programEnded();
  }

  async #has(client: ControlClient, run: RunId): Promise<boolean> {
    const [lines = []] = await client.run(LIST_COMMAND);
    return parseList(lines).some((live) => live.session === run.session && live.run === run.run);
  }

  /** One connection attempt at a time, shared by all callers. */
  #found(): Promise<ControlClient | undefined> {
    this.#client ??= this.#keep(this.server.find(this.#listener));
    return this.#client;
  }

  async #opened(): Promise<ControlClient> {
    const found = await this.#found();
    if (found) return found;
    this.#client ??= this.#keep(this.server.open(this.#listener));
    const opened = await this.#client;
    if (!opened) throw new HoldfastError("host_failed", "the tmux server ended while it was being started");
    return opened;
  }

  /** Forgets a failed attempt or a missing server, so that the next caller tries again. */
  #keep(attempt: Promise<ControlClient | undefined>): Promise<ControlClient | undefined> {
    const kept = attempt.then(
      (client) => {
        if (!client && this.#client === kept) this.#client = undefined;
        if (client) this.#missedEnds = watchMissedEnds(client, this.server);
        for (const session of client ? this.#abandoned : []) void client?.run(`kill-session -t ${session}`).catch(() => {});
        if (client) this.#abandoned.clear();
        return client;
      },
      (error: unknown) => {
        if (this.#client === kept) this.#client = undefined;
        throw error;
      },
    );
    return kept;
  }

  #onNotice(line: string): void {
    if (isAboutClients(line)) for (const listener of this.#clientListeners) listener();
  }

  #onEnd(): void {
    this.#client = undefined;
    this.#missedEnds?.[Symbol.dispose]();
    if (this.#closed) return;
    for (const listener of this.#listeners) listener();
  }
}

function isDead(replies: readonly string[][]): boolean {
  return replies.at(-1)?.[0] === DEAD;
}
