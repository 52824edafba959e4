/**
 * Turns agents that were started outside Holdfast into sessions in place (host/tmux/foreign). Agents are found by their program, in panes of the
 * user's own tmux servers or anywhere else. Adopting reports what it cannot take over and does not guess. (A process of this home without a record is
 * an orphan; see orphans.ts.)
 *
 * The journal records the session before anything is done to the agent. A daemon that dies leaves either files without a session, which the next
 * daemon sweeps, or a session that is starting, which the next daemon finds running.
 */
import { mkdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  ABSENT,
  type Adoptable,
  type AdoptReply,
  type AdoptRequest,
  checkName,
  HoldfastError,
  hasEnded,
  newSessionId,
  type Principal,
  type Session,
  type SessionSpec,
} from "@holdfast/contract";
import {
  allProcesses,
  argumentsOf,
  describe,
  environmentOf,
  environmentValues,
  type Home,
  inspect,
  log,
  type ProcessInfo,
  runDirectory,
} from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import { canFind, findConversation } from "../agent/find-conversation.ts";
import { commandOf, type Profile } from "../agent/profile.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { conversationIn, ownArguments, recognize } from "../agent/recognize.ts";
import { runMarker } from "../host/host.ts";
import { type ForeignPanes, type FoundPane, markAdopted, type PaneState, readPlace, unmarkAdopted, writePlace } from "../host/place.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { runEnvironment } from "./run/launch-file.ts";
import type { Lifecycle } from "./run/lifecycle.ts";
import { nameTaken } from "./run/prepare.ts";
import { readableName } from "./run/readable-name.ts";
import { type Spec, writeSessionFiles } from "./run/run-files.ts";
import type { Sessions } from "./sessions.ts";
import { takenFrom, whatRuns } from "./status/own-conversations.ts";
import { ancestorsOf, descendantsOf, type Processes } from "./status/process-tree.ts";

/** A process to adopt, and its pane. */
interface Found {
  info: ProcessInfo;
  words: string[];
  profile: Profile;
  pane: FoundPane | null;
}

export class Adopting implements Disposable {
  readonly #home: Home;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #sessions: Sessions;
  readonly #lifecycle: Lifecycle;
  readonly #profiles: Profiles;
  readonly #panes: ForeignPanes;
  readonly #programs: string;
  readonly #ending = new AbortController();

  constructor(options: {
    home: Home;
    journal: Journal;
    queries: SessionQueries;
    sessions: Sessions;
    lifecycle: Lifecycle;
    profiles: Profiles;
    panes: ForeignPanes;
    programs: string;
  }) {
    this.#home = options.home;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#sessions = options.sessions;
    this.#lifecycle = options.lifecycle;
    this.#profiles = options.profiles;
    this.#panes = options.panes;
    this.#programs = options.programs;
  }

  /** Resumes sessions that ended meanwhile now, and others when they end. */
  begin(): void {
    this.#finishLettingGo().catch((error: unknown) => log(`an adopted agent could not be released: ${describe(error)}`));
    this.#follow(this.#journal.cursor.seq).catch((error: unknown) => log(`adopted agents are no longer resumed: ${describe(error)}`));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending;
    await this.#goOn();
    for (let seq = from; !signal.aborted; ) {
      await this.#journal.changed(seq, signal);
      const end = this.#journal.cursor.seq;
      const hasNews = this.#journal.readAfter(seq, 1, { types: ["session.ended"] }).length > 0;
      seq = end;
      if (hasNews && !signal.aborted) await this.#goOn();
    }
  }

  async #finishLettingGo(): Promise<void> {
    for (const record of this.#queries.live()) {
      const isMeant = record.host === "foreign" && readPlace(runDirectory(this.#home, record.id, record.run))?.letGo;
      if (isMeant) await this.#letGo(record);
    }
  }

  /** Resumes each session once: its next run is on a host of ours. A failed attempt is not repeated. */
  async #goOn(): Promise<void> {
    for (const { id, run, name, host, cause } of this.#queries.ended()) {
      const directory = runDirectory(this.#home, id, run);
      const place = host === "foreign" && cause === "exited" ? readPlace(directory) : undefined;
      if (!place?.resumeWhenEnded) continue;
      try {
        await this.#sessions.resume(id, { fresh: false, why: "resume", actor: DAEMON });
      } catch (error) {
        writePlace(directory, { ...place, resumeWhenEnded: false });
        log(`session ${id}: ${name} has ended and cannot be resumed: ${describe(error)}`);
      }
    }
  }

  /** Agents of this user that are not sessions; the topmost process of each. */
  async list(): Promise<Adoptable[]> {
    const processes = allProcesses();
    const agents = [...processes.values()].flatMap((info) => (isOurs(info.pid) && this.#asAgent(info)) || []);
    const pids = new Set(agents.map(({ info }) => info.pid));
    const panes = await this.#panes.reachable(tmuxSockets(pids));
    const own = environmentValues("HOLDFAST_RUN", pids);
    const adopted = this.#adoptedPids();
    return agents
      .filter(({ info }) => !own.has(info.pid) && !adopted.has(info.pid) && !ancestorsOf(info, processes).some(({ pid }) => pids.has(pid)))
      .map(({ info, words, profile }) => {
        const pane = paneOf(info, { panes, processes });
        return {
          pid: info.pid,
          agent: profile.name,
          command: words.join(" "),
          cwd: directoryOf(info.pid) ?? null,
          socket: pane?.socket ?? null,
          target: pane ? `${pane.session}:${pane.window}.${pane.index}` : null,
          pane: pane?.id ?? null,
        };
      });
  }

  async adopt(request: AdoptRequest, actor: Principal): Promise<AdoptReply> {
    if ((request.tmux === undefined) === (request.pid === undefined)) {
      throw new HoldfastError("usage", "name a pane or a process, not both", { hint: "list candidates: holdfast adopt --list" });
    }
    const name = this.#nameFor(request.name);
    const found = request.tmux ? await this.#inTmux(request.tmux, request.agent) : await this.#byPid(request.pid ?? 0, request.agent);
    this.#refuseOwn(found);
    const { session, missing } = this.#prepared(found, { ...request, name, actor });
    await this.#sessions.starting.adopted(session, found.pane && { columns: found.pane.columns, rows: found.pane.rows });
    return { session: this.#sessions.get(session), missing };
  }

  /** Removes a session. A running adopted session is released first, which leaves its agent running. */
  async remove(ref: string, how: { actor: Principal; tree: boolean }): Promise<Session> {
    const record = this.#queries.resolve(ref);
    if (record.host === "foreign" && !hasEnded(record.status)) await this.#letGo(record);
    return this.#sessions.remove(record.id, how);
  }

  /** Writes the intent to disk first: if the daemon dies in between, the next one completes the release. */
  async #letGo({ id, run }: SessionRecord): Promise<void> {
    await this.#lifecycle.startDone(id);
    const directory = runDirectory(this.#home, id, run);
    const place = readPlace(directory);
    if (place) writePlace(directory, { ...place, letGo: true, resumeWhenEnded: false });
    await this.#lifecycle.letGo({ session: id, run });
  }

  async #inTmux({ socket, target }: { socket: string; target: string }, agent: string | undefined): Promise<Found> {
    const panes = await this.#panes.at(socket);
    const fitting = panesFor(panes, target);
    if (fitting.length === 0) {
      throw new HoldfastError("not_adoptable", `there is no pane ${JSON.stringify(target)} on the tmux server at ${socket}`, {
        hint: "list candidates: holdfast adopt --list",
        candidates: [...new Set(panes.map(({ session }) => session))],
      });
    }
    const processes = allProcesses();
    const agents = fitting.flatMap((pane) => {
      const found = this.#agentIn(pane, { processes, agent });
      return found ? [found] : [];
    });
    const [first, ...others] = agents;
    if (first && others.length === 0) return first;
    if (first) {
      throw new HoldfastError("not_adoptable", `there are ${agents.length} agents in ${target}`, {
        hint: "name the pane: SESSION:WINDOW.PANE",
        candidates: agents.map(({ pane }) => `${pane?.session}:${pane?.window}.${pane?.index}`),
      });
    }
    throw new HoldfastError("not_adoptable", `no known agent is running in ${target}`, {
      hint: "name it with --agent NAME (holdfast agents lists them), or pass --agent shell for the pane's own shell",
    });
  }

  /** The topmost process of the pane that is an agent, or the process that the caller declares to be `agent`. */
  #agentIn(pane: FoundPane, { processes, agent }: { processes: Processes; agent: string | undefined }): Found | undefined {
    const first = processes.get(pane.pid);
    if (!first || pane.dead) return undefined;
    const below = [first, ...descendantsOf(first.pid, processes)];
    const known = below.flatMap((info) => this.#asAgent(info) ?? []).find(({ profile }) => agent === undefined || profile.name === agent);
    if (known) return { ...known, pane };
    if (agent === undefined) return undefined;
    // The caller names the agent: take the command typed into the shell, else the shell itself.
    const info = agent === "shell" ? first : (below[1] ?? first);
    return { info, words: wordsOf(info.pid), profile: this.#profiles.get(agent), pane };
  }

  async #byPid(pid: number, agent: string | undefined): Promise<Found> {
    const info = inspect(pid);
    if (!info || info.zombie)
      throw new HoldfastError("not_adoptable", `there is no process ${pid}`, { hint: "list candidates: holdfast adopt --list" });
    if (!isOurs(pid))
      throw new HoldfastError("not_adoptable", `process ${pid} (${info.name}) belongs to another user`, {
        hint: "list candidates: holdfast adopt --list",
      });
    const processes = allProcesses();
    const known = agent === undefined ? this.#asAgent(info) : { info, words: wordsOf(pid), profile: this.#profiles.get(agent) };
    if (!known) {
      throw new HoldfastError("not_adoptable", `process ${pid} (${info.name}) is not a known agent`, {
        hint: "name it with --agent NAME (holdfast agents lists them)",
      });
    }
    return { ...known, pane: paneOf(info, { panes: await this.#panes.reachable(tmuxSockets([pid])), processes }) ?? null };
  }

  /** Refuses a process that is already a session, or part of one. */
  #refuseOwn({ info, pane }: Found): void {
    const taken = this.#queries.live().find(({ pid, pidStart }) => pid === info.pid && pidStart === info.start);
    if (taken) {
      throw new HoldfastError("not_adoptable", `it is already a session: ${taken.name}`, {
        hint: `attach to it: holdfast attach ${taken.name}`,
      });
    }
    const marker = environmentValues("HOLDFAST_RUN", [info.pid]).get(info.pid);
    if (marker !== undefined || pane?.socket === this.#home.tmuxSocket) {
      throw new HoldfastError("not_adoptable", `process ${info.pid} belongs to a session of Holdfast, which started it`, {
        hint: "list processes without a record: holdfast orphans",
      });
    }
  }

  /** Writes the files and the record; removes the files if the record cannot be written. */
  #prepared({ info, words, profile, pane }: Found, request: AdoptRequest & { name: string; actor: Principal }) {
    const id = newSessionId();
    const directory = runDirectory(this.#home, id, 1);
    const marker = runMarker({ session: id, run: 1 });
    const all = environmentOf(info.pid);
    const env = runEnvironment(all ?? {});
    const cwd = directoryOf(info.pid) ?? env.HOME ?? "/";
    // The agent may have left the conversation that its arguments name.
    const running = { ...whatRuns(info), cwd, env, known: null, conversations: [], isTaken: takenFrom(this.#queries) };
    const conversation = request.conversation ?? findConversation(profile, running) ?? conversationIn(words, profile);
    const isAgent = profile.kind === "terminal";
    if (request.resumeWhenEnded && conversation === null) {
      throw new HoldfastError("conversation_unknown", "its conversation is not known, so it cannot be resumed later", {
        hint: "pass --conversation ID",
      });
    }
    const program = isAgent ? commandOf(profile, { env, node: process.execPath, programs: this.#programs }) : words;
    const { name, actor, role = null, objective = null } = request;
    const attributes: SessionSpec = {
      ...ABSENT,
      name,
      kind: profile.kind,
      agent: profile.name,
      role,
      objective,
      host: "foreign",
      cwd,
      command: words,
    };
    const spec: Spec = {
      v: 1,
      id,
      ...attributes,
      umask: umaskOf(info.pid),
      owner: actor,
      createdAt: new Date().toISOString(),
      // Its first prompt is in its conversation, and its other arguments are the user's own.
      asked: { program, args: [], prompt: null, context: false },
      conversation,
    };
    const at = pane && { socket: pane.socket, id: pane.id, pid: pane.pid, server: pane.server };
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeSessionFiles(this.#home, spec, env);
      writePlace(directory, {
        v: 1,
        process: { pid: info.pid, start: info.start },
        pane: at,
        pastes: isAgent,
        resumeWhenEnded: request.resumeWhenEnded,
      });
      markAdopted(this.#home, marker);
      const adopted = { pid: info.pid, socket: at?.socket ?? null, pane: at?.id ?? null };
      this.#journal.append({
        type: "session.created",
        actor,
        session: id,
        data: { ...attributes, ...(conversation === null ? {} : { conversation }), adopted },
      });
    } catch (error) {
      unmarkAdopted(this.#home, marker);
      rmSync(join(this.#home.sessions, id), { recursive: true, force: true });
      throw error;
    }
    return { session: id, missing: missingOf({ profile, pane, conversation, hasEnvironment: all !== undefined, words }) };
  }

  #nameFor(wanted: string | undefined): string {
    const isTaken = (name: string) => this.#sessions.isTaken(name);
    if (wanted === undefined) return readableName(isTaken);
    const name = checkName(wanted);
    if (isTaken(name)) throw nameTaken(name);
    return name;
  }

  #asAgent(info: ProcessInfo): Omit<Found, "pane"> | undefined {
    if (info.zombie) return undefined;
    const words = wordsOf(info.pid);
    const profile = recognize(words, this.#profiles.all);
    return profile && { info, words, profile };
  }

  #adoptedPids(): Set<number> {
    return new Set(this.#queries.live().flatMap(({ host, pid }) => (host === "foreign" && pid !== null ? [pid] : [])));
  }
}

/** Matches `%3`, or a session's name, optionally followed by `.PANE` of its current window or by `:WINDOW.PANE`. */
function panesFor<T extends PaneState>(panes: readonly T[], target: string): T[] {
  if (target.startsWith("%")) return panes.filter(({ id }) => id === target).slice(0, 1);
  const match = /^([^:.]+)(?::(\d+))?(?:\.(%?\d+))?$/.exec(target);
  if (!match) return [];
  const [, session, window, index] = match;
  return panes.filter(
    (pane) =>
      pane.session === session &&
      (window === undefined ? index === undefined || index.startsWith("%") || pane.shown : pane.window === window) &&
      (index === undefined || pane.index === index || pane.id === index),
  );
}

function missingOf(found: {
  profile: Profile;
  pane: PaneState | null;
  conversation: string | null;
  hasEnvironment: boolean;
  words: readonly string[];
}): string[] {
  const { profile, pane } = found;
  const isAgent = profile.kind === "terminal";
  const takesUp = profile.conversation?.resume !== undefined;
  const missing = [
    !pane && "its terminal: Holdfast cannot reach it, and sees only that the agent is running",
    pane && "earlier output: the recording starts now",
    pane?.piped && "a recording: the pane already has a pipe; recording starts when that ends",
    pane && profile.hooks && "its hooks: it was started without Holdfast's hooks, so its status is read from its screen",
    pane && isAgent && !profile.screen && "its status: Holdfast cannot read its screen",
    isAgent &&
      takesUp &&
      found.conversation === null &&
      `its conversation: not known${canFind(profile) ? ", unless its own files show it with its next turn" : ""}; to resume it after its end: holdfast resume NAME --conversation ID`,
    isAgent && ownArguments(found.words).length > 0 && "its arguments: the next run (holdfast resume) starts without them",
    !found.hasEnvironment && "its environment: the next run starts without it",
    "its exit code: a program that Holdfast did not start does not report it",
  ];
  return missing.filter((each): each is string => typeof each === "string");
}

/** A process in a pane has the socket of its tmux server in its environment. */
function tmuxSockets(pids: Iterable<number>): Set<string> {
  return new Set(
    [...environmentValues("TMUX", pids).values()].map((value) => value.split(",")[0] ?? "").filter((path) => path.startsWith("/")),
  );
}

/** Outside Linux the owner is not checked: another user's environment cannot be read there anyway. */
function isOurs(pid: number): boolean {
  if (process.platform !== "linux") return true;
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.getuid?.();
}

function paneOf<T extends PaneState>(
  info: ProcessInfo,
  { panes, processes }: { panes: readonly T[]; processes: Processes },
): T | undefined {
  const above = new Set([info.pid, ...ancestorsOf(info, processes).map(({ pid }) => pid)]);
  return panes.find(({ pid, dead }) => !dead && above.has(pid));
}

function wordsOf(pid: number): string[] {
  const words = argumentsOf(pid);
  return words.at(-1) === "" ? words.slice(0, -1) : words;
}

function directoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

function umaskOf(pid: number): number {
  try {
    return Number.parseInt(/^Umask:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? "022", 8);
  } catch {
    return 0o022;
  }
}
