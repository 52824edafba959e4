/**
 * Agents that were started outside Holdfast and adopted in place: in a pane of the user's own tmux server, or on a terminal that only the user can
 * reach. Holdfast reads the pane's screen, types into it, and records it through the pane's pipe if that is free. It sets no option or hook, and
 * removes its pipe when it leaves.
 *
 * Differences from the port's guarantees:
 * - `start` starts nothing: it begins to track a running agent. The recording is complete from then on, with a gap at offset 0.
 * - Nothing writes `exit.json` for these programs. `list` reports their end, and their exit if tmux knows it.
 * - A pane with a pipe of the user's is not recorded until that pipe ends. `list` reports that, and `reopenRecording` tries again.
 * - `resize` throws. `switchClient`, `handOver` and the notices do nothing, because the terminals belong to the user, whose own tmux decides who
 *   may type.
 *
 * `adopted/` has one file per run. One timer notices the end of all runs and checks only their processes.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError, type Screen } from "@holdfast/contract";
import {
  appendGap,
  boot,
  describe,
  type Home,
  isMissing,
  isSameProcess,
  log,
  msSince,
  readGaps,
  runDirectory,
  segmentPrefix,
  signalProcess,
  startStamp,
  writeFileAtomic,
} from "@holdfast/platform";
import {
  type AttachWays,
  type Host,
  type HostClient,
  type LiveRun,
  parseRunMarker,
  programEnded,
  type RecorderEnd,
  type RunId,
  runMarker,
  type StartRequest,
  type Typed,
} from "../../host.ts";
import type { Key } from "../../keys.ts";
import { adoptedDirectory, markAdopted, type Pane, type PaneState, type Place, readPlace, unmarkAdopted } from "../../place.ts";
import { drained, forgetRecorder, recorderDied, recorderGone, recorderOf, recorderSaid, recordsTo } from "../drain.ts";
import { PasteMarks } from "../paste-marks.ts";
import { DEAD, parseScreen } from "../typing.ts";
import {
  CLIENTS,
  PANES,
  parsePaneClients,
  parsePanes,
  pressCommand,
  recordCommand,
  screenCommand,
  screenReplies,
  writeCommand,
} from "./commands.ts";
import type { ForeignTmux } from "./tmux.ts";

/** Longest delay until an end is reported. Without /proc each check would cost a process, so the sweep must do. */
const LOOK_MS = 1000;
/** On an overloaded machine a recorder writes its pid this late. */
const RECORDER_MS = 5000;
/** An overloaded server reports its program's end this late. */
const NOTICE_MS = 1000;
const NOT_KNOWN: Typed = { waiting: null };

interface Kept extends RunId {
  directory: string;
  place: Place;
}

export class ForeignHost implements Host {
  readonly name = "foreign";
  readonly #home: Home;
  readonly #tmux: ForeignTmux | undefined;
  readonly #pasteMarks = new PasteMarks();
  readonly #listeners: (() => void)[] = [];
  /** Runs whose end was reported. */
  readonly #told = new Set<string>();
  readonly #sizes = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #pastes = 0;

  constructor({ home, tmux }: { home: Home; tmux: ForeignTmux | undefined }) {
    this.#home = home;
    this.#tmux = tmux;
  }

  async start(request: StartRequest): Promise<{ pid: number; since?: number }> {
    const place = readPlace(request.directory);
    if (!place || !runs(place)) throw new HoldfastError("not_adoptable", "it ended while it was being adopted");
    const { pid, start } = place.process;
    const since = beganAt(start);
    noteBefore(request.directory, place);
    markAdopted(this.#home, runMarker(request));
    try {
      if (place.pane) await this.#record(place.pane, { directory: request.directory, prefix: segmentPrefix(0) });
    } catch (error) {
      unmarkAdopted(this.#home, runMarker(request));
      throw error;
    }
    this.#watch();
    return { pid, ...(since === undefined ? {} : { since }) };
  }

  async list(): Promise<LiveRun[]> {
    this.#watch();
    const kept = this.#kept();
    const panes = await this.#settledPanes(kept);
    // A run from before a reboot did not end on its own: it is lost.
    const ofThisBoot = kept.filter(({ place }) => process.platform !== "linux" || place.process.start.startsWith(`${boot()}-`));
    return ofThisBoot.map(({ session, run, directory, place }) => {
      const state = place.pane ? panes.get(keyOf(place.pane)) : undefined;
      const live = { session, run, pid: place.process.pid };
      if (!runs(place)) {
        const exit = state?.dead && state.pid === place.process.pid ? state.exit : null;
        return { ...live, dead: true, exit: exit ?? { code: null, signal: null }, recording: false };
      }
      if (state) this.#noteSize({ session, run, directory }, state);
      // If the server does not answer, assume that the recording is intact.
      const recording = state ? state.piped && recorderOf(directory) !== undefined : place.pane !== null;
      return { ...live, dead: false, exit: null, recording };
    });
  }

  /** Leaves the pane as it was before it was adopted. */
  async remove(run: RunId): Promise<void> {
    const directory = runDirectory(this.#home, run.session, run.run);
    const place = readPlace(directory);
    const recorder = recorderOf(directory);
    this.#pasteMarks.forget(directory);
    if (place?.pane && recorder && recordsTo(directory, recorder)) {
      const { pane } = place;
      await drained(directory, async () => (await this.#state(pane))?.piped ?? false);
      const state = await this.#state(pane);
      // tmux removes no pipe from a dead pane that it keeps, so end the recorder instead.
      if (state?.dead) signalProcess(recorder.pid, recorder.start, "SIGTERM");
      else if (state && recorderOf(directory)) await this.#tmux?.ask(pane.socket, ["pipe-pane", "-t", pane.id]);
      await recorderGone(recorder);
    }
    unmarkAdopted(this.#home, runMarker(run));
    this.#told.delete(runMarker(run));
    this.#sizes.delete(runMarker(run));
  }

  async retitle(): Promise<void> {}

  /** A client of the user's own session. A driver sees the agent's window at once; an observer does not switch windows for others. */
  async attachWays(run: RunId, options: { readOnly: boolean }): Promise<AttachWays> {
    const { tmux, pane } = this.#reached(run);
    const target = options.readOnly ? "#{session_id}" : "#{session_id}:#{window_id}.#{pane_id}";
    if (!(await this.#state(pane))) throw paneGone();
    const [found = ""] = await tmux.told(pane.socket, ["display-message", "-p", "-t", pane.id, target]);
    const flags = options.readOnly ? ["-f", "read-only,ignore-size"] : [];
    return { command: [tmux.program, "-u", "-S", pane.socket, "attach-session", ...flags, "-t", found], socket: null };
  }

  async switchClient(): Promise<boolean> {
    return false;
  }

  async handOver(): Promise<boolean> {
    return false;
  }

  /** Every client belongs to the user. */
  async dismiss(): Promise<void> {}

  async clients(): Promise<HostClient[]> {
    const kept = this.#kept().filter(({ place }) => place.pane !== null && runs(place));
    if (kept.length === 0) return [];
    const panes = await this.#panes(kept);
    const found: HostClient[] = [];
    for (const [socket, runs] of Map.groupBy(kept, ({ place }) => place.pane?.socket ?? "")) {
      const answer = await this.#tmux?.ask(socket, CLIENTS);
      const clients = answer && "lines" in answer ? parsePaneClients(answer.lines) : [];
      for (const { session, run, place } of runs) {
        const state = place.pane ? panes.get(keyOf(place.pane)) : undefined;
        const there = clients.filter(({ sessionId }) => state?.shown && state.sessionId === sessionId);
        found.push(...there.map(({ sessionId: _, ...client }) => ({ session, run, ...client })));
      }
    }
    return found;
  }

  /** tmux sends no notices here, so callers poll. */
  onClients(): void {}

  /** The user detaches by their own keys. */
  async leftByKey(): Promise<boolean> {
    return false;
  }

  async setPart(): Promise<void> {}

  async tell(): Promise<void> {}

  async showPeople(): Promise<void> {}

  async detach(run: RunId): Promise<number> {
    const { tmux, pane } = this.#reached(run);
    const clients = (await this.clients()).filter((client) => runMarker(client) === runMarker(run));
    for (const { key } of clients) await tmux.ask(pane.socket, ["detach-client", "-t", key]);
    return clients.length;
  }

  async write(run: RunId, bytes: Uint8Array, { paste }: { paste: boolean }): Promise<Typed> {
    const { tmux, pane } = this.#takesKeys(run);
    const buffer = `holdfast-${runMarker(run)}-${++this.#pastes}`;
    const said = await tmux.told(pane.socket, writeCommand(pane, { buffer, paste }), bytes);
    if (said.includes(DEAD)) throw programEnded();
    return NOT_KNOWN;
  }

  async press(run: RunId, keys: readonly Key[]): Promise<Typed> {
    const { tmux, pane } = this.#takesKeys(run);
    if ((await tmux.told(pane.socket, pressCommand(pane, keys))).includes(DEAD)) throw programEnded();
    return NOT_KNOWN;
  }

  async resize(): Promise<void> {
    throw new HoldfastError("not_in_reach", "Holdfast does not resize windows of your own tmux", {
      hint: "attach, and resize it",
    });
  }

  async screen(run: RunId): Promise<Screen> {
    const { tmux, pane, directory } = this.#reached(run);
    const lines = await tmux.told(pane.socket, screenCommand(pane));
    if (lines.length === 1 && lines[0] === DEAD) throw paneGone();
    return parseScreen(screenReplies(lines), { bracketedPaste: this.#pasteMarks.asked(directory) });
  }

  /** A recorder ends normally with its pane. An earlier end means that the pane's pipe was replaced or closed. */
  async recorderEnd(run: RunId): Promise<RecorderEnd | undefined> {
    const directory = runDirectory(this.#home, run.session, run.run);
    if (!recorderDied(directory)) return undefined;
    const place = readPlace(directory);
    return recorderSaid(directory) ?? (place && runs(place) ? { why: "the pane's pipe was removed", at: null } : undefined);
  }

  async reopenRecording(run: RunId, prefix: string): Promise<boolean> {
    const directory = runDirectory(this.#home, run.session, run.run);
    const place = readPlace(directory);
    if (!place?.pane) return false;
    // If a daemon died before its first recorder, the gap is not recorded yet.
    noteBefore(directory, place);
    return this.#record(place.pane, { directory, prefix });
  }

  rememberFrom(run: RunId, paths: readonly string[]): void {
    this.#pasteMarks.remember(runDirectory(this.#home, run.session, run.run), paths);
  }

  /** The users' tmux servers, which are never part of an agent's run. */
  keeperPids(): number[] {
    return [...new Set(this.#kept().flatMap(({ place }) => (place.pane ? [place.pane.server.pid] : [])))];
  }

  onLost(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Nothing to end: the agents keep running. */
  async shutdown(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** True if the pane is recorded now; false if it has another pipe. */
  async #record(pane: Pane, { directory, prefix }: { directory: string; prefix: string }): Promise<boolean> {
    const before = await this.#state(pane);
    if (!before || before.piped) return false;
    forgetRecorder(directory);
    await this.#tmux?.told(pane.socket, recordCommand(pane.id, { directory, prefix }));
    const deadline = performance.now() + RECORDER_MS;
    while (!recorderOf(directory) && performance.now() < deadline) await delay(5);
    return recorderOf(directory) !== undefined;
  }

  /** Writes the size for the recording, as the hook of our own server does. */
  #noteSize(run: RunId & { directory: string }, { columns, rows }: PaneState): void {
    const size = `${columns} ${rows}\n`;
    if (this.#sizes.get(runMarker(run)) === size) return;
    this.#sizes.set(runMarker(run), size);
    writeFileAtomic(join(run.directory, "size"), size);
  }

  #kept(): Kept[] {
    let names: string[];
    try {
      names = readdirSync(adoptedDirectory(this.#home));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
    return names.flatMap((name) => {
      const run = parseRunMarker(name);
      if (!run) return [];
      const directory = runDirectory(this.#home, run.session, run.run);
      const place = readPlace(directory);
      if (place) return [{ ...run, directory, place }];
      // Its session was removed or never existed.
      if (!existsSync(directory)) unmarkAdopted(this.#home, name);
      return [];
    });
  }

  /** The server learns of a program's end slightly later than a process check does. */
  async #settledPanes(kept: readonly Kept[]): Promise<Map<string, PaneState>> {
    const deadline = performance.now() + NOTICE_MS;
    for (;;) {
      const panes = await this.#panes(kept);
      const isUnheard = ({ place }: Kept) => {
        const state = place.pane?.pid === place.process.pid ? panes.get(keyOf(place.pane)) : undefined;
        return state !== undefined && !runs(place) && (state.exit?.code ?? state.exit?.signal ?? null) === null;
      };
      if (!kept.some(isUnheard) || performance.now() > deadline) return panes;
      await delay(20);
    }
  }

  /** One query per server. The panes of a server that does not answer are missing. */
  async #panes(kept: readonly Kept[]): Promise<Map<string, PaneState>> {
    const sockets = new Set(kept.flatMap(({ place }) => (place.pane ? [place.pane.socket] : [])));
    const panes = new Map<string, PaneState>();
    for (const socket of sockets) {
      const answer = await this.#tmux?.ask(socket, PANES).catch((error: unknown) => log(describe(error)));
      if (!answer || "gone" in answer) continue;
      // A window can be in several sessions; prefer the session that shows it.
      for (const state of parsePanes(answer.lines)) {
        const key = keyOf({ socket, id: state.id, pid: state.pid });
        if (state.shown || !panes.has(key)) panes.set(key, state);
      }
    }
    return panes;
  }

  async #state(pane: Pane): Promise<PaneState | undefined> {
    const answer = await this.#tmux?.ask(pane.socket, PANES);
    return answer && "lines" in answer ? parsePanes(answer.lines).find(({ id, pid }) => id === pane.id && pid === pane.pid) : undefined;
  }

  #reached(run: RunId): { tmux: ForeignTmux; pane: Pane; place: Place; directory: string } {
    const directory = runDirectory(this.#home, run.session, run.run);
    const place = readPlace(directory);
    if (this.#tmux && place?.pane) return { tmux: this.#tmux, pane: place.pane, place, directory };
    throw new HoldfastError("not_in_reach", "Holdfast cannot reach its terminal", {
      hint: "resume its conversation after its end: holdfast resume NAME",
    });
  }

  /** Input for an ended or suspended agent would be run by the shell below it. */
  #takesKeys(run: RunId): { tmux: ForeignTmux; pane: Pane } {
    const reached = this.#reached(run);
    if (!runs(reached.place)) throw programEnded();
    if (!isSuspended(reached.place.process.pid)) return reached;
    throw new HoldfastError("not_in_reach", "it is suspended: typed input would go to the shell it was started from", {
      hint: "attach, and bring it back with fg: holdfast attach NAME",
    });
  }

  #watch(): void {
    if (process.platform !== "linux") return;
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    const kept = this.#kept();
    if (kept.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const ended = kept.filter((each) => !runs(each.place) && !this.#told.has(runMarker(each)));
    for (const each of ended) this.#told.add(runMarker(each));
    if (ended.length > 0) for (const listener of this.#listeners) listener();
  }
}

function paneGone(): HoldfastError {
  return new HoldfastError("not_in_reach", "its pane no longer exists", {
    hint: "see its details: holdfast show NAME",
  });
}

function runs({ process }: Place): boolean {
  return isSameProcess(process.pid, process.start);
}

function keyOf({ socket, id, pid }: Pick<Pane, "socket" | "id" | "pid">): string {
  return `${socket} ${id} ${pid}`;
}

function beganAt(start: string): number | undefined {
  const age = msSince(startStamp(start));
  return age === undefined || age < 0 ? undefined : Date.now() - age;
}

/** Records once what is known from before the adoption. */
function noteBefore(directory: string, place: Place): void {
  if (readGaps(directory).length > 0) return;
  if (place.pastes) writeFileAtomic(join(directory, "paste-marks"), "on\n");
  const since = beganAt(place.process.start);
  const why = place.pane ? "it was adopted while it ran" : "its terminal cannot be reached";
  appendGap(directory, { offset: 0, bytes: null, why, at: since === undefined ? null : Math.round(since) });
}

/** True if suspended by Ctrl+Z; false if that cannot be read. */
function isSuspended(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "T";
  } catch {
    return false;
  }
}
