/**
 * The verbs on sessions. A verb first says what is wrong with the request, then writes the fact, then acts, so that a daemon
 * that dies in between finds in the journal what was meant (`session.stop_requested` before the first signal).
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type AttachingClient,
  type AttachPlan,
  type Budget,
  type BudgetRequest,
  checkName,
  type EventData,
  type Explanation,
  type ForkedFrom,
  formatCursor,
  grants,
  HoldfastError,
  type HostName,
  hasEnded,
  type Principal,
  type Resumed,
  type Scope,
  type Screen,
  type Session,
  type SessionId,
  type SessionList,
  type SpawnRequest,
  type StopReply,
  type Usage,
  unwritable,
} from "@holdfast/contract";
import { counted, describe, type Home, inspect, log, runDirectory, whyUnwritable } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Copied } from "../agent/fork.ts";
import { type Conversation, conversationFor, conversationId, promptWords } from "../agent/launch.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { endProcesses } from "../host/ending.ts";
import { type Host, naming, parseRunMarker, type RunId, runMarker, type StartRequest } from "../host/host.ts";
import { type ClientKeys, parseKey } from "../host/keys.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { Reserve } from "../journal/reserve.ts";
import { removal } from "../projection/removal.ts";
import type { SessionFilter, SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { checkKept, firstGap, follow } from "../record/follow.ts";
import { Recording } from "../record/recording.ts";
import { Times } from "../record/times.ts";
import { beginsCommand, contextPointer } from "../workspace/context.ts";
import type { CreateRequest, Workspaces } from "../workspace/workspaces.ts";
import type { Accounts } from "./accounts.ts";
import type { AgentStatus } from "./agent-status.ts";
import type { Attachments } from "./attachments.ts";
import { changedBudget } from "./budget.ts";
import { bytesOfSession } from "./disk-use.ts";
import { driverOf, mayTake, notYours, refuseWhileDriven } from "./driving.ts";
import type { ForkOrder } from "./forking.ts";
import { conversationOrder, firstWords } from "./in-conversation.ts";
import { isInteractiveShell } from "./interactive-shell.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { Limits } from "./limits.ts";
import type { Memberships } from "./memberships.ts";
import { movedNote } from "./moved-note.ts";
import { type Place, placeFor } from "./place.ts";
import { checkDirectory, checkStart, forget, forkedOf, nameOf, nameTaken, objectiveOf, prepare, roleNote } from "./prepare.ts";
import { Restarts } from "./restarts.ts";
import { conversationToResume, conversationWithTurns, workspaceHint } from "./resume.ts";
import { amendSpec, readSessionFiles, readSpec, removeLaunch, type Spec, writeLaunch } from "./run-files.ts";
import { hasStopFile, writeStopFile } from "./stop-file.ts";
import { sendText, Turns } from "./typing.ts";
import { RecentUsage } from "./usage.ts";
import { viewOf } from "./view.ts";

const DEFAULT_SIZE = { columns: 120, rows: 40 };

/** A keeper says that a program has ended within milliseconds; one that has not by then is asked. */
const PROMPT_MS = 250;

/** How long a keeper that was given room takes to write how its program ended. */
const AGAIN_MS = 1000;

/** How long after its last process a run may take to be recorded as ended. */
const END_NOTICE_MS = 10_000;

/** What is left of the grace period of a stop that was cut short: nobody knows, so a usual one. */
const FINISH_GRACE_MS = 5000;

interface Started {
  host: Host;
  directory: string;
  title: string;
  columns?: number;
  rows?: number;
}

type Stopped = Omit<StopReply, "tree">;

interface AttachOptions {
  readOnly: boolean;
  take: boolean;
  from: string | null;
  client?: AttachingClient | undefined;
  actor: Principal;
  scope: Scope;
}

export class Sessions {
  readonly #home: Home;
  readonly #workspaces: Workspaces;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #lifecycle: Lifecycle;
  readonly #status: AgentStatus;
  readonly #reserve: Reserve;
  /** Whoever types into a session does so in turn. */
  readonly typing = new Turns();
  #accounts: Accounts | undefined;
  #memberships: Memberships | undefined;
  #attachments: Pick<Attachments, "look" | "driverHasMark"> | undefined;
  readonly #usage = new RecentUsage();
  readonly restarts: Restarts;
  readonly limits: Limits;
  readonly #profiles: Profiles;
  readonly #programs: string;
  readonly #cli: readonly string[];
  readonly #keys: ClientKeys;
  readonly #missingHost: (host: HostName) => HoldfastError;
  readonly #recordingLimit: number;
  readonly #budget: Budget;

  constructor(options: {
    home: Home;
    workspaces: Workspaces;
    journal: Journal;
    queries: SessionQueries;
    hosts: ReadonlyMap<HostName, Host>;
    lifecycle: Lifecycle;
    status: AgentStatus;
    profiles: Profiles;
    reserve: Reserve;
    programs: string;
    /** The words that run the CLI. */
    cli: readonly string[];
    keys: ClientKeys;
    recordingLimit: number;
    /** Of agents, where nothing else is asked for. */
    budget: Budget;
    missingHost(host: HostName): HoldfastError;
  }) {
    this.#home = options.home;
    this.#workspaces = options.workspaces;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
    this.#lifecycle = options.lifecycle;
    this.#status = options.status;
    this.#profiles = options.profiles;
    this.#reserve = options.reserve;
    this.#programs = options.programs;
    this.#cli = options.cli;
    this.#keys = options.keys;
    this.#missingHost = options.missingHost;
    this.#recordingLimit = options.recordingLimit;
    this.#budget = options.budget;
    this.restarts = new Restarts({ journal: options.journal, queries: options.queries, start: (id) => this.restart(id) });
    this.limits = new Limits({ journal: options.journal, queries: options.queries, hosts: options.hosts });
    options.lifecycle.followWith(this.restarts);
  }

  attendWith(attachments: Pick<Attachments, "look" | "driverHasMark">): void {
    this.#attachments = attachments;
  }

  groupWith(memberships: Memberships): void {
    this.#memberships = memberships;
  }

  accountWith(accounts: Accounts): void {
    this.#accounts = accounts;
  }

  /** Refuses to type into what somebody else drives. */
  checkTyping(ref: string, who: { actor: Principal; scope: Scope }): void {
    refuseWhileDriven(this.#queries.resolve(ref), who);
  }

  /** `within`: only that session and its descendants. */
  list({ within, ...filter }: SessionFilter & { usage?: boolean; within?: SessionId | undefined }): Omit<SessionList, "unread"> {
    const own = within === undefined ? undefined : new Set(this.#queries.descendants(within));
    const records = this.#queries.select(filter).filter(({ id }) => own?.has(id) ?? true);
    const usage = filter.usage ? this.#usage.of(records, () => this.#keepers()) : undefined;
    return { cursor: formatCursor(this.#journal.cursor), sessions: records.map((record) => this.#view(record, usage?.get(record.id))) };
  }

  get(ref: string): Session {
    const record = this.#queries.resolve(ref);
    return this.#view(record, this.#usage.of([record], () => this.#keepers()).get(record.id));
  }

  /** Without what its processes take, which has to be asked of each process of the machine. */
  brief(ref: string): Session {
    return this.#view(this.#queries.resolve(ref));
  }

  explain(ref: string): { session: Session; explanation: Explanation } {
    const record = this.#queries.resolve(ref);
    return { session: this.#view(record), explanation: this.#status.explain(record) };
  }

  /** Throws what a start in a new worktree would be refused for, before anything is made. */
  checkNew(request: SpawnRequest): void {
    nameOf(request, (name) => this.isTaken(name));
    checkStart({ ...request, worktree: { setup: true } }, { profiles: this.#profiles, programs: this.#programs });
    if (request.prompt !== undefined) promptWords(this.#profiles.get(request.agent), request.prompt);
  }

  /** `parent`: the session that asks for it, where one does. `notes`: of a workspace that was made for it. */
  async spawn(
    request: SpawnRequest,
    {
      actor,
      parent = null,
      fork,
      ...made
    }: { actor: Principal; parent?: SessionId | null; fork?: ForkOrder } & Pick<CreateRequest, "tournament" | "copyOf">,
  ): Promise<Session & { notes: string[] }> {
    const host = this.#host(request.chat ? "native" : (request.host ?? this.#usualHost));
    const isTaken = (name: string) => this.isTaken(name);
    const name = nameOf(request, isTaken);
    checkStart(request, { profiles: this.#profiles, programs: this.#programs });
    const groups = this.#memberships?.check(request.groups ?? [], { parent }) ?? [];
    const place = await placeFor(request, { workspaces: this.#workspaces, name, actor, ...made });
    let copied: Copied | null = null;
    try {
      copied = fork ? await fork.copy(place.cwd) : null;
      const forkedFrom = fork && { ...fork.from, copy: copied?.id ?? null };
      const session = await this.#spawnAt(place, { ...request, groups, name, cwd: place.cwd }, { host, actor, parent, forkedFrom });
      return { ...session, notes: place.isNew ? (place.workspace?.notes ?? []) : [] };
    } catch (error) {
      // Of a session that never was, nothing stays; of one that was recorded, all. Another may have begun to work there during the set-up.
      if (!this.#queries.byName(name)) await copied?.undo().catch((left: unknown) => log(`the copy ${copied?.id}: ${describe(left)}`));
      if (place.isNew && place.workspace && this.#queries.inWorkspace(place.workspace.id).length === 0)
        await this.#workspaces.discardNew(place.workspace, actor);
      throw error;
    }
  }

  async #spawnAt(
    { workspace }: Place,
    request: SpawnRequest,
    { host, actor, parent, forkedFrom }: { host: Host; actor: Principal; parent: SessionId | null; forkedFrom?: Spec["forkedFrom"] },
  ): Promise<Session> {
    const { groups = [] } = request;
    refuseFromStopped(parent === null ? undefined : this.#queries.get(parent));
    const prepared = prepare(request, {
      home: this.#home,
      profiles: this.#profiles,
      programs: this.#programs,
      host: host.name,
      owner: actor,
      parent,
      isTaken: (name) => this.isTaken(name),
      workspace: workspace && { id: workspace.id, env: this.#workspaces.environmentOf(workspace) },
      forkedFrom,
      budget: this.#budget,
      introduce: (to) => this.#memberships?.introduction({ ...to, id: null, groups }) ?? null,
    });
    const { id, name, profile, kind, command, cwd, conversation, budget } = prepared;
    const { role = null, restart, memoryLimitBytes = null } = request;
    const objective = objectiveOf(request);
    const data = {
      name,
      kind,
      agent: profile.name,
      role,
      objective,
      host: host.name,
      cwd,
      command,
      restart,
      memoryLimitBytes,
      ...(request.recordingLimitBytes === undefined ? {} : { recordingLimitBytes: request.recordingLimitBytes }),
      ...(budget ? { budget } : {}),
      parent,
      ...(prepared.report ? { report: true } : {}),
      ...(conversation === null ? {} : { conversation }),
      ...(workspace ? { workspace: workspace.id } : {}),
      ...(forkedFrom ? { forkedFrom: forkedFromOf(forkedFrom) } : {}),
    };
    try {
      const joined = this.#memberships?.joining(id, groups, { actor, parent }) ?? [];
      this.#journal.append(
        { type: "session.created", actor, session: id, data },
        ...joined,
        ...firstWords(prepared, actor),
        ...declared({ id, name, actor }, request),
      );
    } catch (error) {
      forget(prepared, this.#home);
      throw error;
    }
    const title = titleOf({ name, agent: profile.name });
    const order =
      kind === "conversation" ? conversationOrder({ profile, cwd, chat: request, known: null, identity: prepared.identity }) : undefined;
    await this.#start({ session: id, run: 1 }, { host, directory: prepared.directory, title, conversation: order });
    return this.#view(this.#queries.resolve(id));
  }

  /** Of one that runs elsewhere and has just been recorded. */
  startAdopted(session: SessionId, size: { columns: number; rows: number } | null): Promise<void> {
    const record = this.#queries.resolve(session);
    const directory = runDirectory(this.#home, session, 1);
    return this.#start({ session, run: 1 }, { host: this.#host("foreign"), directory, title: titleOf(record), ...size });
  }

  /**
   * What follows the first words ever that are said to its agent: its role, who is in its groups, and where the Working Context is, or to what remembers
   * another directory, where it works now. Null: it was told, or is not to be.
   */
  firstPointer(record: SessionRecord, words: string): string | null {
    const { id, turns, cwd, forkedFrom } = record;
    const { asked, instructions } = (turns > 0 ? undefined : readSpec(this.#home, id)) ?? {};
    if (asked && forkedFrom) return movedNote({ from: this.#queries.get(forkedFrom.session)?.cwd, to: cwd }, words);
    if (asked?.prompt !== null) return null;
    const role = instructions === undefined ? null : roleNote(instructions);
    const peers = beginsCommand(words) ? null : (this.#memberships?.introduction(record) ?? null);
    const pointer = asked.context === false ? null : contextPointer(cwd, words);
    return [role, peers, pointer].filter((note) => note !== null).join("\n\n") || null;
  }

  /** The next run of a session that has ended, with what it was started with, as its policy wants it. */
  async restart(id: SessionId): Promise<Session> {
    const record = this.#queries.resolve(id);
    // One that a daemon's death kept from starting is the next run itself.
    const isCreated = this.#lifecycle.isCutShort(record);
    if (!isCreated && !hasEnded(record.status)) throw new HoldfastError("session_running", `${record.name} is running`);
    const refusal = this.#accounts?.refusal(record, record.budget);
    if (refusal) {
      this.#lifecycle.giveUpStart(id);
      throw refusal;
    }
    const known = refusedToGoOn(record) ? null : conversationWithTurns(record, this.#profiles.find(record.agent));
    await this.#nextRun(record, { why: "restart", actor: DAEMON, known, isCreated });
    return this.#view(this.#queries.resolve(id));
  }

  /** The next run because somebody wants it. What it cannot go on with is not forgotten: it can be tried again. */
  async resume(
    ref: string,
    how: {
      fresh: boolean;
      conversation?: string | undefined;
      why: "resume" | "restore";
      budget?: BudgetRequest | undefined;
      actor: Principal;
    },
  ): Promise<Session & { resumed: Resumed }> {
    const record = this.#queries.resolve(ref);
    const known = this.checkResume(record, how);
    this.#changeBudget(record, how);
    if (record.restartAt !== null) this.restarts.abandon(record, how.actor);
    const conversation = await this.#nextRun(this.#queries.resolve(record.id), { ...how, known, isCreated: false });
    // One in which nothing was said is not gone on with, whatever is written down of it.
    const isEmpty = record.kind === "conversation" && record.conversations.find(({ id }) => id === known)?.turns === 0;
    const goesOn = conversation && !isEmpty && ("resume" in conversation || "fork" in conversation);
    const resumed = goesOn ? "conversation" : record.kind === "shell" ? "command" : "fresh";
    return { ...this.#view(this.#queries.resolve(record.id)), resumed };
  }

  /** Which conversation a resume would go on with; null: it would begin anew. Throws what it would be refused for. */
  checkResume(record: SessionRecord, how: { fresh: boolean; conversation?: string | undefined }): string | null {
    const known = conversationToResume(record, this.#profiles.find(record.agent), how);
    checkDirectory(record.cwd, workspaceHint(record));
    return known;
  }

  /** Throws where the next run would be over before it began. */
  #changeBudget(record: SessionRecord, { budget: asked, actor }: { budget?: BudgetRequest | undefined; actor: Principal }): void {
    const budget = asked
      ? changedBudget({ profile: this.#profiles.find(record.agent), kind: record.kind }, record.budget, asked)
      : record.budget;
    const refusal = this.#accounts?.refusal(record, budget);
    if (refusal) throw refusal;
    if (!asked || !budget) return;
    this.#journal.append({ type: "budget.changed", actor, session: record.id, data: { budget } });
    amendSpec(this.#home, record.id, { budget });
  }

  async #nextRun(
    record: SessionRecord,
    how: { why: EventData<"session.run_created">["why"]; actor: Principal; known: string | null; isCreated: boolean; fresh?: boolean },
  ): Promise<Conversation> {
    const session = record.id;
    const run = { session, run: how.isCreated ? record.run : record.run + 1 };
    const { host, directory, conversation, order } = this.#readyToStart(record, { run, ...how });
    const going = conversation && "resume" in conversation ? { conversation: conversation.resume } : {};
    const moved = host.name === record.host ? {} : { host: host.name };
    const data = { run: run.run, why: how.why, ...going, ...moved };
    const created = { type: "session.run_created", actor: how.actor, session, data } as const;
    const id = conversationId(conversation);
    const began = conversation && !("resume" in conversation) && id !== null ? [conversationBegan(run, id)] : [];
    const facts = [...(how.isCreated ? [] : [created]), ...began];
    if (facts.length > 0) this.#journal.append(...facts);
    if (host.name !== record.host) amendSpec(this.#home, session, moved);
    if (id !== null) amendSpec(this.#home, session, { conversation: id });
    await this.#start(run, { host, directory, title: titleOf(record), conversation: order });
    return conversation;
  }

  #readyToStart(
    record: SessionRecord,
    { run, known, why, fresh = false }: { run: RunId; known: string | null; why: EventData<"session.run_created">["why"]; fresh?: boolean },
  ) {
    try {
      // What was adopted ran where it was; its next run is ours.
      const host = this.#host(record.host === "foreign" ? this.#usualHost : record.host);
      const { spec, env } = readSessionFiles(this.#home, record.id);
      const profile = this.#profiles.find(record.agent);
      // Who begins anew says what is to be done next; what was done once is not done again by itself.
      const asked = spec.asked && why !== "restart" && record.turns > 0 ? { ...spec.asked, prompt: null } : spec.asked;
      // Until it had a turn of its own.
      const forked = spec.forkedFrom && !fresh && record.turns === 0 ? forkedOf(spec.forkedFrom, spec.cwd) : undefined;
      const isChat = record.kind === "conversation";
      const isOn = asked && !isChat ? conversationFor(profile, asked, { known, forked }, randomUUID) : null;
      const conversation = isChat && known !== null ? { resume: known } : isOn;
      const started = { spec: { ...spec, ...(asked ? { asked } : {}) }, env, profile, conversation };
      const { directory, identity } = writeLaunch(this.#home, run, started);
      const order = isChat
        ? conversationOrder({ profile, cwd: spec.cwd, chat: spec.chat, known, conversations: record.conversations, identity })
        : undefined;
      return { host, conversation, order, directory };
    } catch (error) {
      // On a full disk it is tried again.
      if (!unwritable(error)) this.#lifecycle.giveUpStart(record.id);
      throw error;
    }
  }

  async #start(run: RunId, how: Pick<StartRequest, "conversation"> & Started): Promise<void> {
    const { host, directory, title, ...size } = { ...DEFAULT_SIZE, ...how };
    try {
      new Times(directory).append({ at: Date.now(), offset: 0, size });
      await this.#lifecycle.starting(run, () => host.start({ ...run, directory, title, ...size }));
      this.limits.begin();
    } catch (error) {
      const endedAt = new Date().toISOString();
      const data = { run: run.run, exit: null, cause: "not_started" as const, endedAt, lastActivityAt: null, bytes: null };
      try {
        this.#lifecycle.recordEnd(this.#queries.resolve(run.session), data);
        removeLaunch(this.#home, run);
      } catch (unwritten) {
        // The next sweep finds that nothing runs.
        log(`session ${run.session}: ${describe(unwritten)}`);
      }
      throw error;
    }
  }

  /** Stops that a daemon's death cut short: what they froze must not stay so, and what was asked for is done. */
  finishStops(): void {
    for (const record of this.#queries.live()) {
      // A restored journal may have lost that it was asked for.
      if (!record.stopRequested && !hasStopFile(runDirectory(this.#home, record.id, record.run))) continue;
      this.stop(record.id, { graceMs: FINISH_GRACE_MS, actor: DAEMON }).catch((error: unknown) => {
        log(`session ${record.id}: the stop that was under way: ${describe(error)}`);
      });
    }
  }

  /**
   * A session and all that descend from it. That each is to be stopped is one fact: from then on none of them starts another, and a daemon that dies
   * here is followed by one that stops them all. Then each ends as by `stop`, all at once.
   */
  async stopTree(ref: string, options: { graceMs: number; actor: Principal }): Promise<StopReply> {
    const root = this.#queries.resolve(ref);
    const records = this.#queries.tree(root.id);
    const due = records.filter(({ restartAt }) => restartAt !== null);
    const running = records.filter(({ status }) => !hasEnded(status));
    if (due.length + running.length === 0) this.#running(root.id);
    for (const record of due) this.restarts.abandon(record, options.actor);
    this.#journal.note(...running.map((record) => stopRequest(record, options)));
    const outcomes = await Promise.allSettled(running.map(({ id }) => this.#endRequested(id, options)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    const killed = new Map(running.map(({ id }, index) => [id, killedBy(outcomes[index])]));
    const viewOf = ({ id }: SessionRecord) => ({ session: this.#view(this.#queries.resolve(id)), killed: killed.get(id) ?? [] });
    const stopped = records.filter(({ id }) => id !== root.id && (killed.has(id) || due.some((record) => record.id === id)));
    return { ...viewOf(root), tree: stopped.map(viewOf) };
  }

  async stop(ref: string, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    const named = this.#queries.resolve(ref);
    if (named.restartAt !== null) {
      this.restarts.abandon(named, options.actor);
      return { session: this.#view(this.#queries.resolve(named.id)), killed: [] };
    }
    // Before it has a pid, there is nothing that could be ended.
    await this.#lifecycle.startDone(named.id);
    this.#journal.note(stopRequest(this.#running(named.id), options));
    return this.#end(named.id, options);
  }

  /** Of one that is to be stopped already. What ended by itself meanwhile is as good as stopped. */
  async #endRequested(id: SessionId, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    await this.#lifecycle.startDone(id);
    const record = this.#queries.resolve(id);
    if (!hasEnded(record.status)) return this.#end(id, options);
    return { session: this.#view(record), killed: [] };
  }

  async #end(id: SessionId, options: { graceMs: number; actor: Principal }): Promise<Stopped> {
    const record = this.#queries.resolve(id);
    const run = runOf(record);
    this.#keepStop(run, options);
    const { ended, left } = await endProcesses({
      root: { pid: record.pid ?? 0, start: record.pidStart ?? "" },
      marker: runMarker(run),
      keepers: this.#keepers(),
      treeOnly: record.host === "foreign",
      graceMs: options.graceMs,
      hangUp: isInteractiveShell(record.command),
    });
    if (left.length > 0) {
      throw new HoldfastError(
        "stop_incomplete",
        `${counted(left.length, "process", "processes")} of ${record.name} still there after SIGKILL: ${left.map(({ pid, name }) => `${pid} (${name})`).join(", ")}`,
        {
          hint: "they may wait for a device or a network file system; try again later",
        },
      );
    }
    if (!(await this.#lifecycle.ended(record.id, PROMPT_MS))) {
      await this.#lifecycle.reconcile();
      await this.#checkRoom(record);
      if (!(await this.#lifecycle.ended(record.id, END_NOTICE_MS))) {
        throw new HoldfastError("stop_incomplete", `the processes of ${record.name} are gone, but its keeper does not say so`, {
          hint: `read ${this.#home.log}`,
        });
      }
    }
    return { session: this.#view(this.#queries.resolve(record.id)), killed: ended };
  }

  /** The second trace of it; a run is stopped also where it cannot be written. */
  #keepStop(run: RunId, by: { actor: Principal; graceMs: number }): void {
    try {
      const { actor, graceMs } = by;
      this.#reserve.spend(() => writeStopFile(runDirectory(this.#home, run.session, run.run), { actor, graceMs }));
    } catch (error) {
      log(`session ${run.session}: only the journal knows that run ${run.run} was stopped: ${describe(error)}`);
    }
  }

  /** An end that cannot be written down is no end for anybody who asks: better said now than waited for. */
  async #checkRoom(record: SessionRecord): Promise<void> {
    const trouble = whyUnwritable(this.#home.path);
    if (!trouble || (await this.#lifecycle.ended(record.id, 0))) return;
    // A keeper that could not write it tries again by itself.
    if (this.#reserve.release() && (await this.#lifecycle.ended(record.id, AGAIN_MS))) return;
    throw new HoldfastError(trouble.code, `the processes of ${record.name} are gone, but ${trouble.message}`, {
      hint: "its end is recorded by itself as soon as that is possible again",
      cause: trouble,
    });
  }

  async rename(ref: string, options: { name: string; actor: Principal }): Promise<Session> {
    const record = this.#queries.resolve(ref);
    const name = checkName(options.name);
    if (name === record.name) return this.#view(record);
    if (this.isTaken(name)) throw nameTaken(name);
    this.#journal.append({ type: "session.renamed", actor: options.actor, session: record.id, data: { from: record.name, name } });
    amendSpec(this.#home, record.id, { name });
    // Only what somebody who is attached reads at the bottom of the screen: not worth failing a rename that has happened.
    if (!hasEnded(record.status))
      await this.#hosts
        .get(record.host)
        ?.retitle(runOf(record), titleOf({ name, agent: record.agent }))
        .catch(() => {});
    return this.#view(this.#queries.resolve(record.id));
  }

  /** The fact first: files that outlive it are swept at the next start, a record without files would be a lie. */
  remove(ref: string, actor: Principal): Session {
    const record = this.#queries.resolve(ref);
    if (!hasEnded(record.status) || record.restartAt !== null) {
      const isDue = record.restartAt !== null;
      throw new HoldfastError("session_running", `${record.name} ${isDue ? "has ended, but its next run starts soon" : "is running"}`, {
        hint: `${isDue ? "call that off" : "stop it"} first: holdfast stop ${record.name}`,
      });
    }
    const view = this.#view(record);
    this.discard(record, { actor, why: "asked", bytes: bytesOfSession(this.#home, record.id).totalBytes });
    return view;
  }

  /** The one way in which a session goes, whoever wants it. */
  discard(record: SessionRecord, { actor, why, bytes }: { actor: Principal; why: "asked" | "age" | "size"; bytes: number }): void {
    const removed = removal(this.#queries, record, { actor, why, bytes });
    try {
      this.#reserve.spend(() => this.#journal.append(...removed));
    } catch (error) {
      if (unwritable(error)?.code !== "disk_full") throw error;
      // What is to be forgotten is what takes the room.
      for (let run = 1; run <= record.run; run++) new Recording(runDirectory(this.#home, record.id, run)).remove();
      this.#journal.append(...removed);
    }
    rmSync(join(this.#home.sessions, record.id), { recursive: true, force: true });
  }

  /** Somebody has looked at it. Only the first look after an end is a fact worth keeping. */
  view(ref: string, actor: Principal): Session {
    const record = this.#queries.resolve(ref);
    if (hasEnded(record.status) && record.restartAt === null && record.viewedAt === null) {
      this.#noteView(record, actor);
    }
    return this.#view(this.#queries.resolve(record.id));
  }

  /** On a full disk it is not kept, and the session is not pruned for it; that is no reason not to show it. */
  #noteView(record: SessionRecord, actor: Principal): void {
    try {
      this.#journal.append({ type: "session.viewed", actor, session: record.id, data: { run: record.run } });
    } catch (error) {
      if (!unwritable(error)) throw error;
    }
  }

  /** While somebody drives, whoever else comes looks on. */
  async attach(ref: string, how: AttachOptions): Promise<AttachPlan> {
    const { id } = this.#onTerminal(ref);
    await this.#attachments?.look();
    const record = this.#running(id);
    const host = this.#host(record.host);
    const driver = driverOf(record);
    const { mark } = how.client ?? {};
    const isBack = mark !== undefined && driver?.principal === how.actor && this.#attachments?.driverHasMark(record.id, mark) === true;
    const take = how.take || isBack;
    if (driver && how.take && driver.principal !== how.actor && !mayTake(record, how)) throw notYours(record, driver);
    const mayOnlyLook = how.readOnly || !grants(how.scope, "driver");
    const readOnly = mayOnlyLook || (driver !== undefined && !take);
    this.#noteAttach(record, { ...how, take, readOnly: mayOnlyLook });
    const here = how.from === null ? undefined : parseRunMarker(how.from);
    const switched = here !== undefined && (await this.#switch(here, record, { readOnly }).catch(() => false));
    if (!switched && here?.session === record.id) {
      // A mirror in a mirror: it would redraw itself without end, and fill the disk with it.
      throw new HoldfastError("usage", `${record.name} cannot be attached inside itself`, { hint: "attach it from another terminal" });
    }
    const ways = switched ? { command: null, socket: null } : await host.attachWays(runOf(record), { readOnly });
    const role = readOnly ? ("observer" as const) : ("driver" as const);
    const instead = readOnly && !mayOnlyLook ? (driver?.principal ?? null) : null;
    return { session: this.#view(record), switched, role, driver: instead, ...ways, ...this.#keys };
  }

  #noteAttach(record: SessionRecord, { actor, readOnly, take, client }: AttachOptions): void {
    const start = client && inspect(client.pid)?.start;
    const data = {
      run: record.run,
      readOnly,
      ...(take && !readOnly ? { take } : {}),
      ...(client && start !== undefined ? { client: { ...client, start } } : {}),
    };
    this.#note({ type: "session.attach_requested", actor, session: record.id, data });
  }

  /** Moves a terminal that shows `from` over, also from one host to the other. */
  async #switch(from: RunId, to: SessionRecord, options: { readOnly: boolean }): Promise<boolean> {
    const here = this.#queries.get(from.session);
    const host = here && this.#hosts.get(here.host);
    if (!host) return false;
    if (host.name === to.host) return host.switchClient(from, runOf(to), options);
    return host.handOver(from, [...this.#cli, "attach", ...(options.readOnly ? ["--read-only"] : []), to.id]);
  }

  async detach(ref: string, actor: Principal): Promise<{ session: Session; detached: number }> {
    const record = this.#onTerminal(ref);
    this.#note({ type: "session.detach_requested", actor, session: record.id, data: { run: record.run } });
    return { session: this.#view(record), detached: await this.#host(record.host).detach(runOf(record)) };
  }

  /** Text, then Enter: what one caller sends is never mixed with what another does at the same time. */
  send(
    ref: string,
    { actor, ...options }: { text: string; enter: boolean; force: boolean; actor: Principal },
  ): Promise<{ session: Session; bytes: number; pasted: boolean; waitingBytes: number | null }> {
    const record = this.#onTerminal(ref);
    const host = this.#host(record.host);
    this.#recordInput(record, { actor, bytes: Buffer.byteLength(options.text), keys: null });
    return this.typing.inTurn(record.id, async () => ({
      session: this.#view(record),
      ...(await sendText(host, {
        ...options,
        enterAfterMs: this.#profiles.find(record.agent)?.enterAfterMs,
        run: runOf(record),
        name: record.name,
      }).catch(naming(record.name))),
    }));
  }

  press(
    ref: string,
    options: { keys: readonly string[]; actor: Principal },
  ): Promise<{ session: Session; pressed: number; waitingBytes: number | null }> {
    const record = this.#onTerminal(ref);
    const keys = options.keys.map(parseKey);
    this.#recordInput(record, { actor: options.actor, bytes: null, keys: keys.length });
    return this.typing.inTurn(record.id, async () => {
      const { waiting } = await this.#host(record.host).press(runOf(record), keys).catch(naming(record.name));
      return { session: this.#view(record), pressed: keys.length, waitingBytes: waiting };
    });
  }

  /** How much, never what: it may be a password. */
  #recordInput(record: SessionRecord, { actor, ...much }: { actor: Principal; bytes: number | null; keys: number | null }): void {
    this.#note({ type: "session.input_requested", actor, session: record.id, data: { run: record.run, ...much } });
  }

  /** For the audit alone: a journal that cannot be written (a full disk) must not keep anybody from a session that runs. */
  #note(draft: Draft): void {
    try {
      this.#journal.append(draft);
    } catch (error) {
      log(`not in the journal: ${draft.type} by ${draft.actor}: ${describe(error)}`);
    }
  }

  screen(ref: string): Promise<Screen> {
    const record = this.#onTerminal(ref);
    return this.#host(record.host).screen(runOf(record)).catch(naming(record.name));
  }

  recording(ref: string, options: { run?: number | undefined; since?: number | undefined; from?: number | undefined }) {
    const { record, run, recording } = this.#recorded(ref, options.run);
    // Of a live run, those that have been read before.
    const times = this.#lifecycle.watchOf(run)?.times ?? new Times(recording.directory);
    const begins = recording.next(options.from ?? 0);
    return {
      session: record.id,
      run: run.run,
      bytes: recording.size(),
      begins,
      limitBytes: (record.recordingLimit ?? this.#recordingLimit) || null,
      from: options.since === undefined ? 0 : times.offsetAt(options.since),
      sizes: times.sizes(),
      gaps: this.#lifecycle
        .gapsOf(run)
        .flatMap(({ at, ...gap }) => (gap.offset < begins ? [] : [{ ...gap, began: at === null ? null : new Date(at).toISOString() }])),
      ended: hasEnded(record.status) || run.run < record.run,
      ...times.span(),
    };
  }

  times(ref: string, options: { run?: number | undefined; after: number }) {
    const { samples, ...page } = new Times(this.#recorded(ref, options.run).recording.directory).page(options.after);
    return { ...page, samples: samples.map(({ at, offset, size, step }) => ({ at, offset, ...size, ...(step ? { stepMs: step } : {}) })) };
  }

  /** Raw output from an offset, or all that is kept; with `follow` until the run has ended, with `untilGap` until a hole from there on. */
  output(
    ref: string,
    options: {
      run?: number | undefined;
      from?: number | undefined;
      follow: boolean;
      untilGap?: number | undefined;
      signal: AbortSignal;
    },
  ): AsyncGenerator<Buffer> {
    const { run, recording } = this.#recorded(ref, options.run);
    const offset = options.from ?? recording.begins();
    checkKept(recording, offset);
    const watch = () => (options.follow ? this.#lifecycle.watchOf(run) : undefined);
    const { untilGap, signal } = options;
    const nextGap = (from: number) => (untilGap === undefined ? undefined : firstGap(recording.directory, Math.max(untilGap, from)));
    return follow({ recording, offset, signal, watch, lives: () => options.follow && this.#lives(run), nextGap });
  }

  #lives({ session, run }: RunId): boolean {
    const record = this.#queries.get(session);
    return record !== undefined && record.run === run && !hasEnded(record.status);
  }

  #recorded(ref: string, wanted: number | undefined): { record: SessionRecord; run: RunId; recording: Recording } {
    const record = this.#queries.resolve(ref);
    const number = wanted ?? record.run;
    if (number < 1 || number > record.run) {
      throw new HoldfastError("usage", `${record.name} has no run ${number}`, { hint: `it has runs 1 to ${record.run}` });
    }
    return { record, run: { session: record.id, run: number }, recording: new Recording(runDirectory(this.#home, record.id, number)) };
  }

  /** An id is taken too: a name wins over it, and a session called like another's id would be stopped in its place. */
  isTaken(name: string): boolean {
    return this.#queries.byName(name) !== undefined || this.#queries.get(name as SessionId) !== undefined;
  }

  #onTerminal(ref: string): SessionRecord {
    const record = this.#running(ref);
    if (record.kind !== "conversation") return record;
    throw new HoldfastError("has_no_terminal", `${record.name} is a conversation: it has no terminal`, {
      hint: `talk to it: holdfast chat ${record.name}; read it: holdfast transcript ${record.name}`,
    });
  }

  #running(ref: string): SessionRecord {
    const record = this.#queries.resolve(ref);
    if (!hasEnded(record.status)) return record;
    throw new HoldfastError("session_ended", `${record.name} has ended (${record.status})`, {
      hint: `read what it said: holdfast logs ${record.name}`,
    });
  }

  #host(name: HostName): Host {
    const host = this.#hosts.get(name);
    if (!host) throw this.#missingHost(name);
    return host;
  }

  get #usualHost(): HostName {
    return this.#hosts.has("tmux") ? "tmux" : "native";
  }

  #keepers(): number[] {
    return [...this.#hosts.values()].flatMap((host) => host.keeperPids());
  }

  #view(record: SessionRecord, usage?: Usage): Session {
    const watched = this.#lifecycle.watchOf(runOf(record));
    const [spent, budget] = [this.#accounts?.spent(record), this.#accounts?.budget(record)];
    return viewOf(record, { now: Date.now(), watched, recordingLimit: this.#recordingLimit, usage, spent, budget });
  }
}

/** That a file says so is one fact with its start: a later `apply` of it knows its own. */
function declared({ id, name, actor }: { id: SessionId; name: string; actor: Principal }, { plan }: SpawnRequest): Draft[] {
  if (plan === undefined) return [];
  const data = { ...plan, what: "session" as const, ref: id, key: null, name };
  return [{ type: "plan.declared", actor, session: null, data }];
}

function forkedFromOf({ copy, ...from }: NonNullable<Spec["forkedFrom"]>): ForkedFrom {
  return from;
}

function conversationBegan({ session, run }: RunId, conversation: string): Draft {
  return { type: "session.conversation_changed", actor: DAEMON, session, data: { run, conversation, begun: true } };
}

/** Whoever stops a tree has seen all of it. */
function refuseFromStopped(parent: SessionRecord | undefined): void {
  if (!parent?.stopRequested) return;
  throw new HoldfastError("session_ended", `${parent.name} is being stopped: it starts nothing any more`, {
    hint: `what it began can be gone on with: holdfast resume ${parent.name}`,
  });
}

function stopRequest({ id, run }: SessionRecord, { graceMs, actor }: { graceMs: number; actor: Principal }): Draft {
  return { type: "session.stop_requested", actor, session: id, data: { run, graceMs } };
}

function killedBy(outcome: PromiseSettledResult<Stopped> | undefined): Stopped["killed"] {
  return outcome?.status === "fulfilled" ? outcome.value.killed : [];
}

function runOf(record: SessionRecord): RunId {
  return { session: record.id, run: record.run };
}

function titleOf(session: { name: string; agent: string }): string {
  return `${session.name} · ${session.agent}`;
}

/**
 * Of an ended run: it was to go on with a conversation, showed nothing that an agent shows, and gave up: the conversation was never kept, or is
 * gone. The next run begins a new one, or none would ever get further.
 */
function refusedToGoOn({ run, standing, exit }: SessionRecord): boolean {
  return run > 1 && standing === null && exit !== null && exit.code !== null && exit.code !== 0;
}
