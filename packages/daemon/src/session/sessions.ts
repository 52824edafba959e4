import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type Budget,
  type BudgetRequest,
  checkName,
  type Explanation,
  type ForkedFrom,
  formatCursor,
  HoldfastError,
  type HostName,
  hasEnded,
  isRunning,
  type Principal,
  type PromptFate,
  type Resumed,
  type RoleTools,
  type RunState,
  type Session,
  type SessionId,
  type SessionList,
  type SpawnRequest,
  type Usage,
  unwritable,
} from "@holdfast/contract";
import { describe, type Home, type KeyedMutex, log, runDirectory } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Background } from "../agent/background.ts";
import type { Copied } from "../agent/fork.ts";
import { promptWords } from "../agent/launch.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { unenforcedNote } from "../agent/tool-rule.ts";
import { turnsIn } from "../agent/transcript.ts";
import type { Host } from "../host/host.ts";
import type { ClientKeys } from "../host/keys.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { Reserve } from "../journal/reserve.ts";
import { removal } from "../projection/removal.ts";
import type { SessionFilter, SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { lastLines } from "../record/last-lines.ts";
import { Recording } from "../record/recording.ts";
import { TranscriptFile } from "../record/transcript.ts";
import { beginsCommand, contextPointer } from "../workspace/context/context.ts";
import type { CreateRequest, Workspaces } from "../workspace/workspaces.ts";
import type { Accounts } from "./accounts.ts";
import { Terminals } from "./attach/terminals.ts";
import { bytesOfSession } from "./disk-use.ts";
import type { ForkOrder } from "./fork-order.ts";
import type { Memberships } from "./memberships.ts";
import { movedNote } from "./moved-note.ts";
import { type Place, placeFor, plannedPlace } from "./place.ts";
import { conversationToResume, workspaceHint } from "./resume.ts";
import { roleToolsOf } from "./role-tools.ts";
import { changedBudget } from "./run/budget.ts";
import { ComingUp } from "./run/coming-up.ts";
import { conversationOrder, firstWords } from "./run/in-conversation.ts";
import { checkSettable } from "./run/launch-file.ts";
import type { Lifecycle } from "./run/lifecycle.ts";
import { Limits } from "./run/limits.ts";
import { checkDirectory, checkPlan, type Plan, planOf } from "./run/plan.ts";
import { forget, nameOf, nameTaken, prepare, roleNote } from "./run/prepare.ts";
import { Recordings } from "./run/recordings.ts";
import { Restarts } from "./run/restarts.ts";
import { amendEnvironment, amendSpec, readEnvironment, readSpec, ruleIn, type Spec } from "./run/run-files.ts";
import { runOf } from "./run/running.ts";
import { Starting, titleOf } from "./run/starting.ts";
import { Stopping } from "./run/stopping.ts";
import { Survivors } from "./run/survivors.ts";
import { RecentUsage } from "./run/usage.ts";
import { isWithinReach, sharedNote, sharedRefusal, sharedWith } from "./shared-conversation.ts";
import type { AgentStatus } from "./status/agent-status.ts";
import { conversationsOf, conversationWithTurns, turnsOf } from "./turns.ts";
import { viewOf } from "./view.ts";

/** Grace period for processes that a removed session left behind. */
const REMOVE_GRACE_MS = 5000;

type SpawnOrder = { actor: Principal; parent?: SessionId | null; fork?: ForkOrder } & Pick<CreateRequest, "tournament" | "copyOf">;

export class Sessions {
  /** Starts in progress, by the requested id. */
  readonly #spawning = new Map<
    SessionId,
    { spawning: Promise<Session & { notes: string[] }>; actor: Principal; parent: SessionId | null }
  >();
  readonly #home: Home;
  readonly #workspaces: Workspaces;
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #hosts: ReadonlyMap<HostName, Host>;
  readonly #lifecycle: Lifecycle;
  readonly #status: AgentStatus;
  readonly #reserve: Reserve;
  #accounts: Accounts | undefined;
  readonly #memberships: Memberships | undefined;
  readonly #usage = new RecentUsage();
  readonly #survivors: Survivors;
  readonly restarts: Restarts;
  readonly limits: Limits;
  readonly starting: Starting;
  readonly stopping: Stopping;
  readonly terminals: Terminals;
  readonly recordings: Recordings;
  readonly comingUp: ComingUp;
  readonly #profiles: Profiles;
  readonly #missingHost: (host: HostName) => HoldfastError;
  readonly #recordingLimit: number;
  readonly #configured: Parameters<typeof planOf>[1];

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
    /** The command line of the CLI. */
    cli: readonly string[];
    keys: ClientKeys;
    recordingLimit: number;
    /** The default budget of agents. */
    budget: Budget;
    /** Defaults for agents that start without a person attached. */
    background?: Background;
    missingHost(host: HostName): HoldfastError;
    /** Serializes all typing into a session. */
    typing: KeyedMutex;
    /** Undefined: sessions start in no groups. */
    memberships?: Memberships;
    /** Called before the files of a session's next run are written. */
    prepare?(record: SessionRecord): void;
  }) {
    this.#memberships = options.memberships;
    this.#home = options.home;
    this.#workspaces = options.workspaces;
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#hosts = options.hosts;
    this.#lifecycle = options.lifecycle;
    this.#status = options.status;
    this.#profiles = options.profiles;
    this.#reserve = options.reserve;
    this.#missingHost = options.missingHost;
    this.#recordingLimit = options.recordingLimit;
    this.#configured = options;
    this.#survivors = new Survivors(options);
    this.restarts = new Restarts({ journal: options.journal, queries: options.queries, start: (id) => this.restart(id) });
    this.limits = new Limits({ journal: options.journal, queries: options.queries, hosts: options.hosts });
    this.starting = new Starting({
      ...options,
      limits: this.limits,
      hostOf: (name) => this.#host(name),
      usualHost: () => this.#usualHost,
    });
    const view = (record: SessionRecord) => this.#view(record);
    this.stopping = new Stopping({ ...options, survivors: this.#survivors, restarts: this.restarts, keepers: () => this.#keepers(), view });
    this.terminals = new Terminals({ ...options, hostOf: (name) => this.#host(name), view });
    this.recordings = new Recordings(options);
    this.comingUp = new ComingUp(options);
    options.lifecycle.followWith(this.restarts);
  }

  accountWith(accounts: Accounts): void {
    this.#accounts = accounts;
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
    const usage = this.#usage.of([record], () => this.#keepers()).get(record.id);
    const tools = this.#toolsOf(record);
    return { ...this.#view(record, usage), ...this.#leftOf(record), ...(tools ? { tools } : {}) };
  }

  #toolsOf({ id, agent, kind }: SessionRecord): RoleTools | undefined {
    return roleToolsOf(readSpec(this.#home, id), { kind, profile: this.#profiles.find(agent) });
  }

  /** Without resource usage, which needs a look at every process of the machine. */
  brief(ref: string): Session {
    return this.#view(this.#queries.resolve(ref));
  }

  explain(ref: string): { session: Session; explanation: Explanation } {
    const record = this.#queries.resolve(ref);
    return { session: { ...this.#view(record), ...this.#leftOf(record) }, explanation: this.#status.explain(record) };
  }

  /** Throws what a start in a new worktree would refuse, before anything is created. */
  checkNew(request: SpawnRequest): void {
    nameOf(request, (name) => this.isTaken(name), this.#holder);
    const plan = planOf(request, this.#configured);
    checkPlan(plan, { ...request, worktree: { setup: true } });
    if (request.prompt !== undefined) promptWords(plan.profile, request.prompt);
  }

  /** Throws what `spawn` would refuse, and creates nothing. */
  async check(request: SpawnRequest, actor: Principal): Promise<{ repository: string | null; branch: string | null }> {
    const { name, plan } = this.#decide(request, null);
    if (request.workspace === undefined) checkDirectory(request.cwd);
    const { cwd, ...place } = await plannedPlace(request, { workspaces: this.#workspaces, name, actor });
    checkPlan(plan, { ...request, cwd });
    return place;
  }

  /** All that is decided before anything is looked at or created; for a check and for a start. */
  #decide(request: SpawnRequest, parent: SessionId | null): { host: Host; name: string; plan: Plan; groups: string[] } {
    const host = this.#host(request.chat ? "native" : (request.host ?? this.#usualHost));
    const name = nameOf(request, (each) => this.isTaken(each), this.#holder);
    const plan = planOf(request, this.#configured);
    return { host, name, plan, groups: this.#memberships?.check(request.groups ?? [], { parent }) ?? [] };
  }

  /**
   * `parent`: the session that asks, if one does. `notes`: those of a workspace that was created for it. Two requests with the same id give the same
   * session, even if the daemon died during the first.
   */
  async spawn(request: SpawnRequest, how: SpawnOrder): Promise<Session & { notes: string[] }> {
    const { id } = request;
    if (id === undefined) return this.#spawn(request, how);
    const { actor, parent = null } = how;
    const underWay = this.#spawning.get(id);
    const known = this.#queries.get(id);
    const asked = underWay ?? (known && { actor: known.owner, parent: known.parent });
    // A principal must not see or overwrite what another one started.
    const isOthers = asked ? asked.actor !== actor || asked.parent !== parent : this.isTaken(id) || this.#hasPast(id);
    if (isOthers) throw new HoldfastError("usage", `${id} is the id or the name of another session`, { hint: "omit it: one is generated" });
    if (underWay) return underWay.spawning;
    const spawning = (known ? this.#spawnAgain(known, actor) : this.#spawn(request, how)).finally(() => this.#spawning.delete(id));
    this.#spawning.set(id, { spawning, actor, parent });
    return spawning;
  }

  /** A removed session is still in the journal: a new session with its id would inherit its events. */
  #hasPast(id: SessionId): boolean {
    return this.#journal.readAfter(0, 1, { session: id }).length > 0;
  }

  async #spawnAgain(record: SessionRecord, actor: Principal): Promise<Session & { notes: string[] }> {
    const isCutOff = record.startedAt === null && hasEnded(record.status) && !record.stopRequested;
    const session = isCutOff
      ? await this.resume(record.id, { fresh: false, why: "resume", actor })
      : this.#view(this.#queries.resolve(record.id));
    return { ...session, notes: [] };
  }

  async #spawn(request: SpawnRequest, { actor, parent = null, fork, ...made }: SpawnOrder): Promise<Session & { notes: string[] }> {
    const { host, name, plan, groups } = this.#decide(request, parent);
    if (request.worktree) checkPlan(plan, request);
    const place = await placeFor(request, { workspaces: this.#workspaces, name, actor, ...made });
    let copied: Copied | null = null;
    try {
      copied = fork ? await fork.copy(place.cwd) : null;
      const forkedFrom = fork && { ...fork.from, copy: copied?.id ?? null };
      const session = await this.#spawnAt(place, { ...request, groups, name, cwd: place.cwd }, { host, plan, actor, parent, forkedFrom });
      const record = this.#queries.resolve(session.id);
      const other = sharedWith(this.#queries, record, this.#profiles.find(record.agent));
      const shared = other ? [sharedNote(record, this.#called(other, actor))] : [];
      const tools = this.#toolsOf(record);
      const unenforced = (tools && unenforcedNote(record.agent, tools)) ?? [];
      const notes = [...(place.isNew ? (place.workspace?.notes ?? []) : []), ...shared].concat(unenforced);
      return { ...session, notes };
    } catch (error) {
      // If no session was recorded, its copy is removed; if one was, everything stays. Another session may have started in the workspace meanwhile.
      if (!this.#queries.byName(name)) await copied?.undo().catch((left: unknown) => log(`the copy ${copied?.id}: ${describe(left)}`));
      if (place.isNew && place.workspace && this.#queries.inWorkspace(place.workspace.id).length === 0)
        await this.#workspaces.discardNew(place.workspace, actor);
      throw error;
    }
  }

  async #spawnAt(
    { workspace }: Place,
    request: SpawnRequest,
    {
      host,
      plan,
      actor,
      parent,
      forkedFrom,
    }: { host: Host; plan: Plan; actor: Principal; parent: SessionId | null; forkedFrom?: Spec["forkedFrom"] },
  ): Promise<Session> {
    const { groups = [] } = request;
    const starter = parent === null ? undefined : this.#queries.get(parent);
    refuseFromStopped(starter);
    const refusal =
      starter && this.#accounts?.childRefusal(request.name ?? request.agent, [starter, ...this.#queries.ancestors(starter.id)]);
    if (refusal) throw refusal;
    const prepared = prepare(request, {
      home: this.#home,
      plan,
      host: host.name,
      owner: actor,
      parent,
      parentName: starter?.name,
      isTaken: (name) => this.isTaken(name),
      holder: this.#holder,
      workspace: workspace && { id: workspace.id, env: this.#workspaces.environmentOf(workspace) },
      forkedFrom,
      introduce: (to) =>
        this.#memberships?.introduction({ ...to, id: null, groups, declared: request.plan?.peers, rule: plan.rule }) ?? null,
    });
    const { id, attributes, conversation } = prepared;
    const { profile, chat, rule } = plan;
    const { name, kind, cwd } = attributes;
    const data = {
      ...attributes,
      ...(conversation === null ? {} : { conversation }),
      prompted: prepared.prompted && request.start,
      ...(workspace ? { workspace: workspace.id } : {}),
      ...(forkedFrom ? { forkedFrom: forkedFromOf(forkedFrom) } : {}),
      ...(request.start ? {} : { start: false as const }),
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
    const { identity } = prepared;
    if (identity === null) return this.#view(this.#queries.resolve(id));
    const title = titleOf({ name, agent: profile.name });
    const order = kind === "conversation" ? conversationOrder({ profile, cwd, chat, rule, known: null, identity }) : undefined;
    await this.starting.start({ session: id, run: 1 }, { host, directory: prepared.directory, title, conversation: order });
    return this.#view(this.#queries.resolve(id));
  }

  /**
   * Notes that follow the agent's first message: its role, its groups and the Working Context; or, for a fork, its new directory. Null if it already
   * got them, or should not get any.
   */
  firstPointer(record: SessionRecord, words: string): string | null {
    const { id, turns, cwd, forkedFrom } = record;
    const spec = turns > 0 ? undefined : readSpec(this.#home, id);
    const { asked, instructions } = spec ?? {};
    if (asked && forkedFrom) return movedNote({ from: this.#queries.get(forkedFrom.session)?.cwd, to: cwd }, words);
    if (asked?.prompt !== null) return null;
    const role = roleIn(instructions);
    const peers = beginsCommand(words) ? null : (this.#memberships?.introduction({ ...record, rule: spec && ruleIn(spec) }) ?? null);
    const pointer = asked.context === false ? null : contextPointer(cwd, words);
    return [role, peers, pointer].filter((note) => note !== null).join("\n\n") || null;
  }

  /** The session that has a name. */
  readonly #holder = (name: string) => this.#queries.byName(name);

  /** The note that tells an agent its role; null if it has none. */
  roleOf(id: SessionId): string | null {
    return roleIn(readSpec(this.#home, id)?.instructions);
  }

  /** Starts the next run of an ended session, with its original options, as its restart policy demands. */
  async restart(id: SessionId): Promise<Session> {
    const before = this.#queries.resolve(id);
    // The policy demands a run that can be reached.
    if (hasEnded(before.status)) await this.#survivors.endProgram(before);
    const record = this.#queries.resolve(id);
    // A run that did not start because a daemon died is itself the next run.
    const isCreated = this.#lifecycle.isCutShort(record);
    if (!isCreated && !hasEnded(record.status)) throw new HoldfastError("session_running", `${record.name} is running`);
    const refusal = this.#accounts?.refusal(record, record.budget);
    if (refusal) {
      this.#lifecycle.giveUpStart(id);
      throw refusal;
    }
    const profile = this.#profiles.find(record.agent);
    const isUnclear = refusedToGoOn(record) || sharedWith(this.#queries, record, profile) !== undefined;
    const known = isUnclear ? null : conversationWithTurns(record, { profile, kept: this.#keptOf(record) });
    await this.starting.next(record, { why: "restart", actor: DAEMON, known, isCreated });
    return this.#view(this.#queries.resolve(id));
  }

  /** Starts the next run on request. A conversation that cannot be continued is kept, and can be tried again. */
  async resume(
    ref: string,
    how: {
      fresh: boolean;
      conversation?: string | undefined;
      why: "resume" | "restore";
      budget?: BudgetRequest | undefined;
      /** Replaces variables of the same name, for this run and later ones. */
      env?: Record<string, string> | undefined;
      repeatPrompt?: boolean;
      /** How long to wait until the run is up; by default not at all. */
      waitMs?: number;
      actor: Principal;
    },
  ): Promise<Session & { resumed: Resumed; prompt: PromptFate | null; state: RunState; lines: string[] }> {
    const { left } = await this.#alone(this.#queries.resolve(ref));
    const record = this.#queries.resolve(ref);
    const known = this.checkResume(record, how);
    if (how.env) checkSettable(how.env);
    this.#changeBudget(record, how);
    if (how.env) amendEnvironment(this.#home, record.id, how.env);
    if (record.restartAt !== null) this.restarts.abandon(record, how.actor);
    const why = record.status === "created" ? "start" : how.why;
    const { conversation, prompt } = await this.starting.next(this.#queries.resolve(record.id), { ...how, why, known, isCreated: false });
    // A conversation without turns does not count as continued, whatever its record says.
    const isEmpty = record.kind === "conversation" && record.conversations.find(({ id }) => id === known)?.turns === 0;
    const goesOn = conversation && !isEmpty && ("resume" in conversation || "fork" in conversation);
    const resumed = goesOn ? "conversation" : record.kind === "shell" ? "command" : "fresh";
    const run = { session: record.id, run: this.#queries.resolve(record.id).run };
    const { state } = await this.comingUp.wait({ id: run.session, run: run.run }, { ms: how.waitMs ?? 0 });
    const lines = state === "ended" ? lastLines(runDirectory(this.#home, run.session, run.run)) : [];
    return { ...this.#view(this.#queries.resolve(record.id)), ...(left ? { left } : {}), resumed, prompt, state, lines };
  }

  /** Throws if the program of an ended session still runs: a second copy must not work beside it. Returns what its runs left running. */
  async #alone(record: SessionRecord): Promise<Pick<Session, "left">> {
    if (hasEnded(record.status)) await this.#survivors.refuse(record);
    return this.#leftOf(record);
  }

  /** Processes left by an ended session. */
  #leftOf(record: SessionRecord): Pick<Session, "left"> {
    const left = hasEnded(record.status) ? this.#survivors.list(record) : [];
    return left.length > 0 ? { left } : {};
  }

  /** The conversation that a resume would continue; null: a new one. Throws what a resume would refuse. */
  checkResume(record: SessionRecord, how: { fresh: boolean; conversation?: string | undefined; actor: Principal }): string | null {
    const profile = this.#profiles.find(record.agent);
    const known = conversationToResume(record, profile, {
      ...how,
      onlyKnown: how.actor.startsWith("session:"),
      kept: () => this.#keptOf(record),
      opened: () => this.#openedBy(record),
    });
    const other = known === null ? undefined : sharedWith(this.#queries, record, profile);
    const canChoose = !other || isWithinReach(this.#queries, other, how.actor);
    if (other && (how.conversation === undefined || !canChoose)) throw sharedRefusal(record, this.#called(other, how.actor), { canChoose });
    checkDirectory(record.cwd, workspaceHint(record));
    return known;
  }

  #openedBy({ id, run }: SessionRecord): string | null {
    for (let each = run; each > 0; each--) {
      let opened: string | null = null;
      for (const read of new TranscriptFile(runDirectory(this.#home, id, each)).read(0))
        if ("entry" in read && read.entry.type === "note") opened = read.entry.conversation ?? opened;
      if (opened !== null) return opened;
    }
    return null;
  }

  #called(other: SessionRecord, actor: Principal): string {
    return isWithinReach(this.#queries, other, actor) ? other.name : "another session";
  }

  /** Also for a running session. */
  setBudget(ref: string, { budget: asked, actor }: { budget: BudgetRequest; actor: Principal }): Session {
    const record = this.#queries.resolve(ref);
    const budget = changedBudget({ profile: this.#profiles.find(record.agent), kind: record.kind }, record.budget, asked);
    this.#journal.append({ type: "budget.changed", actor, session: record.id, data: { budget } });
    amendSpec(this.#home, record.id, { budget });
    return this.#view(this.#queries.resolve(record.id));
  }

  /** Number of turns of its conversation in the agent's own files; null if unknown. */
  #keptOf({ id, agent, conversation, cwd }: SessionRecord): number | null {
    const env = readEnvironment(this.#home, id);
    return conversation === null || !env ? null : turnsIn(this.#profiles.find(agent)?.transcript, { conversation, cwd, env });
  }

  /** Throws if the budget would end the next run at once. */
  #changeBudget(record: SessionRecord, { budget: asked, actor }: { budget?: BudgetRequest | undefined; actor: Principal }): void {
    const budget = asked
      ? changedBudget({ profile: this.#profiles.find(record.agent), kind: record.kind }, record.budget, asked)
      : record.budget;
    const refusal = this.#accounts?.refusal(record, budget);
    if (refusal) throw refusal;
    // The budget of a session above had ended it, and that one allows more now.
    const isOver = record.budgetExceeded?.of !== undefined;
    if (asked || isOver) this.#journal.append({ type: "budget.changed", actor, session: record.id, data: { budget: budget ?? {} } });
    if (asked) amendSpec(this.#home, record.id, { budget: budget ?? {} });
  }

  async rename(ref: string, options: { name: string; actor: Principal }): Promise<Session> {
    const record = this.#queries.resolve(ref);
    const name = checkName(options.name);
    if (name === record.name) return this.#view(record);
    if (this.isTaken(name)) throw nameTaken(name, this.#holder(name)?.status);
    this.#journal.append({ type: "session.renamed", actor: options.actor, session: record.id, data: { from: record.name, name } });
    amendSpec(this.#home, record.id, { name });
    // The title is only shown at the bottom of attached terminals: its failure must not fail a rename that has happened.
    if (isRunning(record.status))
      await this.#hosts
        .get(record.host)
        ?.retitle(runOf(record), titleOf({ name, agent: record.agent }))
        .catch(() => {});
    return this.#view(this.#queries.resolve(record.id));
  }

  /**
   * Ends the remaining processes of a session, then removes it; `tree`: with all its descendants, which must have ended. The event comes first: files
   * that outlive it are swept at the next start, while a record without files would be false.
   */
  async remove(ref: string, { actor, tree }: { actor: Principal; tree: boolean }): Promise<Session> {
    const { id } = this.#queries.resolve(ref);
    const family = this.#removable(id);
    const view = this.#view(this.#queries.resolve(id));
    const doomed = tree ? family.toReversed() : family.filter((record) => record.id === id);
    const left = this.#survivors.among(doomed);
    for (const record of doomed) if (left.has(record.id)) await this.#survivors.end(record, { graceMs: REMOVE_GRACE_MS });
    // One of them may have been started meanwhile.
    if (left.size > 0) this.#removable(id);
    for (const record of doomed) this.discard(record, { actor, why: "asked", bytes: bytesOfSession(this.#home, record.id).totalBytes });
    return view;
  }

  /** The session and all its descendants; throws if one of them runs. */
  #removable(id: SessionId): SessionRecord[] {
    const record = this.#queries.resolve(id);
    if (isRunning(record.status) || record.restartAt !== null) {
      const isDue = record.restartAt !== null;
      throw new HoldfastError("session_running", `${record.name} ${isDue ? "has ended, but its next run starts soon" : "is running"}`, {
        hint: `${isDue ? "cancel it" : "stop it"} first: holdfast stop ${record.name}`,
      });
    }
    const family = this.#queries.tree(id);
    const running = family.filter(({ status, restartAt }) => isRunning(status) || restartAt !== null);
    if (running.length === 0) return family;
    const names = running.map(({ name }) => name).join(", ");
    throw new HoldfastError("session_running", `sessions that ${record.name} started still run: ${names}`, {
      hint: `stop them first: holdfast stop ${record.name} --tree`,
    });
  }

  /** The only way to remove a session, whoever asks. */
  discard(record: SessionRecord, { actor, why, bytes }: { actor: Principal; why: "asked" | "age" | "size"; bytes: number }): void {
    const removed = removal(this.#queries, record, { actor, why, bytes });
    try {
      this.#reserve.spend(() => this.#journal.append(...removed));
    } catch (error) {
      if (unwritable(error)?.code !== "disk_full") throw error;
      // The files to be removed are what fills the disk.
      for (let run = 1; run <= record.run; run++) new Recording(runDirectory(this.#home, record.id, run)).remove();
      this.#journal.append(...removed);
    }
    rmSync(join(this.#home.sessions, record.id), { recursive: true, force: true });
  }

  /** Records that a person has viewed the session. Only the first view after an end is kept. */
  view(ref: string, actor: Principal): Session {
    const record = this.#queries.resolve(ref);
    const isUnseen = hasEnded(record.status) && record.restartAt === null && record.viewedAt === null;
    // A view by an agent is not a view by a person.
    if ((isUnseen || record.failure !== null) && !actor.startsWith("session:")) this.#noteView(record, actor);
    return this.#view(this.#queries.resolve(record.id));
  }

  /** On a full disk the view is not recorded, and the session is not pruned because of it; it must still be shown. */
  #noteView(record: SessionRecord, actor: Principal): void {
    try {
      this.#journal.append({ type: "session.viewed", actor, session: record.id, data: { run: record.run } });
    } catch (error) {
      if (!unwritable(error)) throw error;
    }
  }

  /** An id counts as taken too: names win over ids, so a session named like another's id would be stopped in its place. */
  isTaken(name: string): boolean {
    return this.#queries.named(name) !== undefined;
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
    const spent = this.#accounts?.spent(record);
    const spentWithChildren = this.#accounts?.spentWithChildren(record);
    const budget = this.#accounts?.budget(record);
    const profile = this.#profiles.find(record.agent);
    const counted = { turns: turnsOf(record, profile), conversations: conversationsOf(record, profile) };
    return viewOf(record, {
      counted,
      now: Date.now(),
      watched,
      recordingLimit: this.#recordingLimit,
      usage,
      spent,
      spentWithChildren,
      budget,
    });
  }
}

/** Written together with the start, so that a later `apply` of the file recognizes its own sessions. */
function declared({ id, name, actor }: { id: SessionId; name: string; actor: Principal }, { plan }: SpawnRequest): Draft[] {
  if (plan === undefined) return [];
  const { file, said } = plan;
  const data = { file, said, what: "session" as const, ref: id, key: null, name };
  return [{ type: "plan.declared", actor, session: null, data }];
}

function forkedFromOf({ copy, ...from }: NonNullable<Spec["forkedFrom"]>): ForkedFrom {
  return from;
}

/** A stop of a tree must cover every session in it. */
function refuseFromStopped(parent: SessionRecord | undefined): void {
  if (!parent?.stopRequested) return;
  throw new HoldfastError("session_ended", `${parent.name} is being stopped and cannot start sessions`, {
    hint: `continue its work: holdfast resume ${parent.name}`,
  });
}

/**
 * True if an ended run was to continue a conversation, showed no sign of its agent and failed: the conversation was never saved, or is gone. The next
 * run starts a new one; otherwise no run would ever get further.
 */
function refusedToGoOn({ run, standing, exit }: SessionRecord): boolean {
  return run > 1 && standing === null && exit !== null && exit.code !== null && exit.code !== 0;
}

function roleIn(instructions: string | undefined): string | null {
  return instructions === undefined ? null : roleNote(instructions);
}
