/**
 * The daemon. Order of a start: lock, database, reconciliation with what happened meanwhile, socket, and only then `ready`, so that clients see the
 * true state. The daemon may die at any line: the keepers do not notice, and the next start finds everything on disk. This file is the composition
 * root: only it names concrete adapters.
 */
import { closeSync, mkdirSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import {
  compareVersions,
  type DaemonStatus,
  HoldfastError,
  type HostName,
  hasEnded,
  isRunning,
  type Orphan,
  type Principal,
  type Session,
  type SessionId,
  VERSION,
} from "@holdfast/contract";
import {
  boot,
  configurationFile,
  describe,
  EXIT_ALREADY_RUNNING,
  type Home,
  inspect,
  KeyedMutex,
  launchDaemon,
  log,
  minimalEnvironment,
  openHome,
  secureHome,
  whyUnwritable,
  writeFileAtomic,
} from "@holdfast/platform";
import { Access } from "./access/access.ts";
import { calledIn, DAEMON, scopeOf } from "./access/principal.ts";
import { Refusals } from "./access/refusals.ts";
import { Rights } from "./access/rights.ts";
import { tokenClock } from "./access/token-clock.ts";
import { Tokens } from "./access/tokens.ts";
import { choiceWords, readCommonBackground } from "./agent/background.ts";
import { findAgents } from "./agent/found.ts";
import { ownServer, readServers } from "./agent/mcp.ts";
import { Profiles } from "./agent/profiles/index.ts";
import { enforcedIn } from "./agent/tool-limits.ts";
import { userProfiles } from "./agent/user-profiles.ts";
import { approvalHandlers } from "./api/approval-handlers.ts";
import { bind } from "./api/bind.ts";
import { contextHandlers } from "./api/context-handlers.ts";
import { conversationHandlers } from "./api/conversation-handlers.ts";
import { digestHandlers } from "./api/digest-handlers.ts";
import { type Door, Gate, UNIX_DOOR } from "./api/gate.ts";
import { groupHandlers } from "./api/group-handlers.ts";
import { type Control, handlers } from "./api/handlers.ts";
import { listen } from "./api/listen.ts";
import { messageHandlers, readerOf } from "./api/message-handlers.ts";
import { personaHandlers } from "./api/persona-handlers.ts";
import { planHandlers } from "./api/plan-handlers.ts";
import { progressHandlers } from "./api/progress-handlers.ts";
import { serve as serveHttp } from "./api/serve.ts";
import { SHARED_DOOR, SharedDoor } from "./api/shared.ts";
import { eventSockets } from "./api/socket.ts";
import { taskHandlers } from "./api/task-handlers.ts";
import { TcpDoor } from "./api/tcp.ts";
import { terminalUpgrades } from "./api/terminal-upgrade.ts";
import { tournamentHandlers } from "./api/tournament-handlers.ts";
import { trustHandlers } from "./api/trust-handlers.ts";
import { usageHandlers } from "./api/usage-handlers.ts";
import { workspaceEndHandlers } from "./api/workspace-end-handlers.ts";
import { workspaceHandlers } from "./api/workspace-handlers.ts";
import { Approvals } from "./approval/approvals.ts";
import { parentsAnswer, readRules } from "./approval/rules.ts";
import { WorktreeTrust } from "./approval/worktree-trust.ts";
import { defaultConfiguration, readConfiguration } from "./configuration.ts";
import { Conversations } from "./conversation/conversations.ts";
import { TranscriptMending } from "./conversation/mending.ts";
import { Transcripts } from "./conversation/transcripts.ts";
import { ConversationVerbs } from "./conversation/verbs.ts";
import { Digests } from "./digest/digests.ts";
import { Looks } from "./digest/looks.ts";
import { type ConfigurationLook, Doctor } from "./doctor/doctor.ts";
import { Coordination } from "./group/coordination.ts";
import { Groups } from "./group/groups.ts";
import { keepGroups } from "./group/keep.ts";
import { GroupMemberships } from "./group/memberships.ts";
import { GroupReach } from "./group/reach.ts";
import { SharedValues } from "./group/shared-values.ts";
import { watchForHomeGone } from "./home-gone.ts";
import type { Host } from "./host/host.ts";
import { clientKeysOf } from "./host/keys.ts";
import { NativeHost } from "./host/native/host.ts";
import { ForeignHost } from "./host/tmux/foreign/host.ts";
import { PanesOfOthers } from "./host/tmux/foreign/panes.ts";
import { ForeignTmux } from "./host/tmux/foreign/tmux.ts";
import { TmuxHost } from "./host/tmux/host.ts";
import { findTmux, TMUX_HINT, TmuxServer, tmuxAtLeast } from "./host/tmux/server.ts";
import { Backups } from "./journal/backups.ts";
import { Damage, isDamage, onDamage } from "./journal/database.ts";
import { Journal } from "./journal/journal.ts";
import { openJournalDatabase } from "./journal/open.ts";
import { Reserve } from "./journal/reserve.ts";
import { orderRestore, pendingReport, unusable } from "./journal/restore.ts";
import { takeHome } from "./lock.ts";
import { Delivery } from "./message/delivery.ts";
import { Expiry } from "./message/expiry.ts";
import { GroupMessages } from "./message/group-messages.ts";
import { Messages } from "./message/messages.ts";
import { People } from "./message/people.ts";
import { reportsFrom } from "./message/reports.ts";
import { revokedMail } from "./message/revoked-mail.ts";
import { roleMail } from "./message/role-mail.ts";
import { stashWarnings } from "./message/stash-warnings.ts";
import { inRole } from "./persona/in-role.ts";
import { Personas } from "./persona/personas.ts";
import { PROJECTIONS } from "./projection/all.ts";
import { ApprovalQueries } from "./projection/approvals.ts";
import { AttachmentQueries } from "./projection/attachments.ts";
import { GroupMessageQueries } from "./projection/group-messages.ts";
import { GroupQueries } from "./projection/group-queries.ts";
import { MessageQueries } from "./projection/messages.ts";
import { PlanQueries } from "./projection/plans.ts";
import { lastRestore } from "./projection/restores.ts";
import { SessionQueries, type SessionRecord } from "./projection/session-queries.ts";
import { TaskQueries } from "./projection/tasks.ts";
import { TokenQueries } from "./projection/tokens.ts";
import { TournamentQueries } from "./projection/tournaments.ts";
import { TrustQueries } from "./projection/trust.ts";
import { TurnQueries } from "./projection/turns.ts";
import { UsageQueries } from "./projection/usage.ts";
import { WorkspaceQueries } from "./projection/workspaces.ts";
import { serveReader } from "./reader.ts";
import { Adopting } from "./session/adopting.ts";
import { Attachments } from "./session/attach/attachments.ts";
import { controlWith } from "./session/attach/driving.ts";
import { handOverWith } from "./session/attach/hand-over.ts";
import { Moving } from "./session/attach/moving.ts";
import { RemoteTerminals } from "./session/attach/remote-terminals.ts";
import { diskUse } from "./session/disk-use.ts";
import { forkWith } from "./session/fork.ts";
import { KeepAwake } from "./session/keep-awake.ts";
import { Pruning } from "./session/pruning.ts";
import { Orphans } from "./session/restore/orphans.ts";
import { canRebuild, keptRuns, rebuildSessions } from "./session/restore/rebuild.ts";
import { writeNotice } from "./session/restore/restore-notice.ts";
import { Restoring } from "./session/restore/restoring.ts";
import { sweepSessions } from "./session/restore/sweep.ts";
import { Lifecycle, type RunObserver } from "./session/run/lifecycle.ts";
import { keepChoice, readEnvironment } from "./session/run/run-files.ts";
import { Sessions } from "./session/sessions.ts";
import { AgentStatus } from "./session/status/agent-status.ts";
import { firstPrompt } from "./session/status/first-prompt.ts";
import { HungWatch } from "./session/status/hung.ts";
import { LeftRunning } from "./session/status/left-running.ts";
import { conversationsFrom } from "./session/status/own-conversations.ts";
import { ownTurns } from "./session/status/own-turns.ts";
import { repliesFrom } from "./session/status/replies.ts";
import { usualPlaceFor } from "./session/usual-place.ts";
import { Plans } from "./task/plans.ts";
import { Tasks } from "./task/tasks.ts";
import { Tournaments } from "./task/tournaments.ts";
import { describeUnknown } from "./unknown-keys.ts";
import { Budgets } from "./usage/budgets.ts";
import { readPrices } from "./usage/prices.ts";
import { UsageReading } from "./usage/reading.ts";
import { Spending } from "./usage/spending.ts";
import { servedWithout, withoutConfiguration } from "./without-configuration.ts";
import { TurnCheckpoints } from "./workspace/checkpoint/turn-checkpoints.ts";
import { Checkpoints } from "./workspace/checkpoint/workspace-checkpoints.ts";
import { Contexts } from "./workspace/context/contexts.ts";
import { Merging } from "./workspace/merge/merging.ts";
import { Radar } from "./workspace/radar/radar.ts";
import { collectWith } from "./workspace/removal/collect.ts";
import { Removing } from "./workspace/removal/removing.ts";
import { TrustedProjects } from "./workspace/setup/trust.ts";
import { Workspaces } from "./workspace/workspaces.ts";

/** A daemon that finds damage this soon after its start launches no successor: the two could restart each other forever. */
const STEADY_MS = 10_000;

/** Longest delay until an unused token is found to have expired. */
const EXPIRY_MS = 60_000;

/** Most connections over TCP or on the shared socket: each costs memory before it shows a token. */
const MOST_CONNECTIONS = 1000;

/** Grace period, as with `stop`, for a session whose workspace is removed by force. */
const STOP_GRACE_MS = 5000;

/** Longest wait for an agent that must run to print its version; a slower one is reported next time. */
const VERSIONS_MS = 2000;

/** The bundled CLI, which the keys of an attached terminal run. */
const CLI = [process.execPath, join(import.meta.dirname, "holdfast.cjs")];

const home = openHome();
try {
  const [mode, ...args] = process.argv.slice(2);
  if (mode === "--read") await read(home, args);
  else await serve(home, mode === "--without-configuration" ? HoldfastError.fromBody(JSON.parse(args[0] ?? "{}")) : undefined);
} catch (error) {
  log(`the daemon cannot run: ${describe(error)}`);
  if (isDamage(error) || HoldfastError.from(error).code === "journal_damaged") startAnew(home, error as Error);
  tellStarter(`${JSON.stringify(reasonOf(error).toBody())}\n`);
  process.exit(1);
}

/** An unwritable home breaks a start in many places, and most errors do not name that cause. */
function reasonOf(error: unknown): HoldfastError {
  return whyUnwritable(home.path) ?? HoldfastError.from(error);
}

/** `daemon.mjs --without-configuration TROUBLE` serves one command; see without-configuration.ts. */
async function serve(home: Home, trouble: HoldfastError | undefined): Promise<void> {
  process.on("SIGHUP", () => {});
  // The umask for files of the daemon and the recorders. A session gets its caller's umask back in its launch file.
  process.umask(0o077);
  secureHome(home);
  mkdirSync(home.sessions, { recursive: true, mode: 0o700 });
  const lock = takeHome(home);
  if (!lock) process.exit(EXIT_ALREADY_RUNNING);

  const startedAt = new Date().toISOString();
  // Read the whole configuration before any of it takes effect.
  const configuration = trouble ? withoutConfiguration(home) : readConfiguration();
  const { agents } = configuration;
  const profiles = trouble
    ? Profiles.none()
    : new Profiles(
        (builtIn) => userProfiles(agents.table, { file: agents.file, builtIn }),
        [...readServers(configuration.mcp), ...ownServer(CLI, configuration.mcp.table)],
      );
  const rules = readRules(configuration.approvals);
  const background = readCommonBackground(configuration.agents.table, configuration.agents.file);
  const parents = parentsAnswer(configuration.approvals);
  const prices = readPrices(configuration.prices);
  const warnings = configuration.unknown.map((key) => describeUnknown(configuration.file, key));
  for (const warning of warnings) log(warning);
  // Damage found during the start is kept and thrown at its end: much of a start tolerates one unreadable session.
  let damage: string | undefined;
  let foundDamage = (what: string): void => {
    damage ??= what;
  };
  const backups = new Backups({ home, copier: join(import.meta.dirname, "backup-copy.mjs"), onDamage: (what) => foundDamage(what) });
  const db = await openJournalDatabase(home, { backups, projections: PROJECTIONS, canRebuild: (id) => canRebuild(home, id) });
  onDamage(db, (error) => foundDamage(error.message));
  const reserve = new Reserve(join(home.path, "reserve"));
  const journal = new Journal({ db, reserve, projections: PROJECTIONS, machineName: hostname().split(".")[0] || "machine" });
  const queries = new SessionQueries(db);
  const tokenQueries = new TokenQueries(db);
  const clock = tokenClock({ least: Date.parse(journal.lastOf()?.at ?? "") || 0 });
  const tokens = new Tokens({ home, journal, queries: tokenQueries, clock });
  const refusals = new Refusals({ journal });
  const workspaceQueries = new WorkspaceQueries(db);
  const groupQueries = new GroupQueries(db);
  const gate = new Gate({
    access: new Access({ home, queries, tokens: tokenQueries, refusals, clock, onExpired: () => tokens.expire() }),
    refusals,
    queries,
    workspaces: workspaceQueries,
    runs: { has: ({ session }) => queries.get(session) !== undefined },
    peersOf: (session) => groupQueries.peersIn(groupQueries.of(session), session).map((peer) => peer.session),
  });
  const tmux = openTmux(home, configuration);
  const native = new NativeHost({ home, program: join(import.meta.dirname, "holder.mjs") });
  const foreignTmux = tmux && new ForeignTmux({ program: tmux.server.program.path, env: minimalEnvironment(home) });
  const foreign = new ForeignHost({ home, tmux: foreignTmux });
  const hosts = new Map<HostName, Host>([...(tmux ? [["tmux", tmux] as const] : []), ["native", native], ["foreign", foreign]]);
  const lifecycle = new Lifecycle({ home, journal, queries, reserve, hosts, recordingLimit: configuration.recordingLimit });
  const status = new AgentStatus({ home, journal, queries, hosts, profiles });
  const hung = new HungWatch({
    home,
    status,
    lifecycle,
    hosts,
    profiles,
    envOf: (session) => readEnvironment(home, session),
    afterMs: configuration.hungAfterMs,
  });
  const leftRunning = new LeftRunning({ status, queries, profiles, hosts });
  const trusted = new TrustedProjects({ journal, queries: new TrustQueries(db) });
  const typing = new KeyedMutex();
  const approvals = new Approvals({
    home,
    journal,
    queries: new ApprovalQueries(db),
    sessions: queries,
    profiles,
    status,
    rules,
    background,
    hosts,
    typing,
    worktrees: new WorktreeTrust({ home, workspaces: workspaceQueries, trusted }),
  });
  status.parkWith(approvals);
  status.followWith(approvals.follow);
  status.followWith(leftRunning.follow);
  status.followWith(conversationsFrom({ home, profiles, queries }));
  status.followWith(ownTurns({ profiles, envOf: (session) => readEnvironment(home, session) }));
  status.followWith(repliesFrom(new TurnQueries(db)));
  status.followWith(firstPrompt);
  const workspaces = new Workspaces({ home, journal, queries: workspaceQueries, trusted });
  const mutex = new KeyedMutex();
  const envOf = (id: SessionId) => readEnvironment(home, id);
  const checkpoints = new Checkpoints({ journal, sessions: queries, mutex, envOf });
  const turnCheckpoints = new TurnCheckpoints({ journal, sessions: queries, workspaces: workspaces.queries, checkpoints });
  const groups = new Groups({ journal, queries: groupQueries, sessions: queries, limit: configuration.groupLimit, keep: keepGroups(home) });
  const groupReach = new GroupReach({ queries: groupQueries, sessions: queries, refusals });
  const transcriptMending = new TranscriptMending({ home, journal, queries });
  const sessions = new Sessions({
    home,
    workspaces,
    journal,
    queries,
    hosts,
    lifecycle,
    status,
    profiles,
    reserve,
    programs: import.meta.dirname,
    cli: CLI,
    keys: clientKeysOf(configuration),
    recordingLimit: configuration.recordingLimit,
    budget: configuration.budget,
    background,
    missingHost,
    typing,
    memberships: new GroupMemberships({ groups, reach: groupReach, profiles, directory: home.path }),
    // An agent may read the transcripts of its earlier runs to remember its work.
    prepare: (record) => transcriptMending.tryToMend(record),
  });
  const usageQueries = new UsageQueries(db);
  const spending = new Spending({ queries: usageQueries, prices });
  const usageReading = new UsageReading({
    journal,
    sessions: queries,
    usage: usageQueries,
    profiles,
    envOf: (id) => readEnvironment(home, id),
  });
  const lastStart = journal.lastOf("daemon.started")?.seq ?? 0;
  const budgets = new Budgets({
    journal,
    sessions: queries,
    spent: (id) => spending.of(id),
    withChildren: (tree) => spending.withChildren(tree),
    tell: ({ id, run, kind }, note) =>
      kind === "conversation" ? conversations.note({ session: id, run }, { about: "budget", ...note }) : Promise.resolve(),
    read: (id) => usageReading.read(id),
    interrupt: ({ id }) => conversationVerbs.cancel(id, DAEMON),
    stop: (id, how) => sessions.stopping.stop(id, how),
  });
  sessions.accountWith(budgets);
  const values = new SharedValues({ journal, queries: groupQueries, nameOf: (principal) => calledIn(queries, principal) });
  const coordination = new Coordination({ journal, queries: groupQueries });
  const attachmentQueries = new AttachmentQueries(db);
  const rights = new Rights({ sessions: queries, tokens: tokenQueries });
  const attachments = new Attachments({
    journal,
    rights,
    sessions: queries,
    queries: attachmentQueries,
    hosts,
    onLeft: ({ session, principal, upTo }) => {
      const noted = digests.look(session, { actor: principal, upTo });
      noted.catch((error: unknown) => log(`session ${session}: the detach of ${principal} was not recorded: ${describe(error)}`));
    },
  });
  const moving = new Moving({ cli: CLI, attachments, rights, list: (within) => sessions.list({ within }).sessions });
  sessions.terminals.attendWith({ attachments, moving, rights });
  const people = {
    home,
    journal,
    sessions: queries,
    attachments,
    viewOf: (ref: string) => sessions.get(ref),
    scopeOf: (principal: Principal) => scopeOf(principal, tokenQueries),
  };
  const controlSession = controlWith({ ...people, queries: attachmentQueries });
  const handOver = handOverWith(people);
  const remoteTerminals = new RemoteTerminals({
    home,
    terminals: sessions.terminals,
    attachments,
    moving,
    rights,
    keys: clientKeysOf(configuration),
  });
  const fork = forkWith({ home, queries, profiles, sessions, workspaces, checkpoints });
  const merging = new Merging({ journal, mutex });
  const removing = new Removing({
    journal,
    queries: workspaces.queries,
    ports: workspaces.ports,
    trusted,
    mutex,
    directoryOf: (id) => workspaces.directoryOf(id),
    setAside: home.setAside,
    stopSession: async (name, actor) => void (await sessions.stopping.stop(name, { graceMs: STOP_GRACE_MS, actor })),
  });
  const collect = collectWith({ directory: home.workspaces, journal, queries: workspaces.queries, removing });
  const restoring = new Restoring({ journal, db, queries, sessions, auto: configuration.restoreAuto });
  const keepAwake = new KeepAwake({ journal, queries, wanted: configuration.keepAwake });
  const tournaments = new Tournaments({
    journal,
    queries: new TournamentQueries(db),
    sessionQueries: queries,
    sessions,
    workspaces,
    merging,
    removing,
    mutex,
  });
  const messageQueries = new MessageQueries(db);
  const groupLog = new GroupMessageQueries(db);
  journal.followWith(reportsFrom({ journal, sessions: queries, messages: messageQueries }));
  journal.followWith(revokedMail(messageQueries));
  const expiry = new Expiry({ journal, messages: messageQueries });
  const usedUp = (record: SessionRecord) => budgets.usedUp(record);
  const delivery = new Delivery({
    home,
    journal,
    queries,
    messages: messageQueries,
    hosts,
    profiles,
    status,
    typing,
    expiry,
    usedUp,
  });
  const conversations = new Conversations({
    home,
    journal,
    queries,
    messages: messageQueries,
    status,
    approvals,
    keeper: native,
    said: (message) => delivery.said(message),
    usedUp,
    expire: () => expiry.look(),
    onUse: (id) => budgets.usedMore(id),
  });
  spending.countWith(conversations);
  lifecycle.observeWith(observedBy({ conversations, status }));
  const mendingEnd = new AbortController();
  const transcripts = new Transcripts({
    home,
    queries,
    mend: (record, how) => transcriptMending.tryToMend(record, how),
    changed: (run, signal) => lifecycle.watchOf(run)?.changed(signal),
  });
  const conversationVerbs = new ConversationVerbs({
    transcripts,
    keeper: native,
    turnOf: (run) => conversations.turnOf(run),
    catchUp: (run) => conversations.look(run),
    viewOf: (ref) => sessions.brief(ref),
    resolve: (ref) => queries.resolve(ref),
    get: (id) => queries.get(id),
    journal,
    lookAgain: (run, inMs) => status.lookAgain(run, inMs),
    profiles,
    keepChoice: (session, chosen) => keepChoice(home, session, chosen),
    press: (ref, options) => sessions.terminals.press(ref, options),
  });
  const messages = new Messages({
    journal,
    queries,
    messages: messageQueries,
    sessions,
    delivery,
    attend: (session) => conversations.attend(session),
    expiry,
    people: new People({ sessions: queries, scopeOf: people.scopeOf }),
    log: groupLog,
    nearLimit: (record) => budgets.nearWords(record),
  });
  const onStashTaken = stashWarnings({ messages, workspaces: workspaces.queries, sessions: queries });
  const radar = new Radar({ home, journal, queries: workspaces.queries, onStashTaken });
  const toGroups = new GroupMessages({
    journal,
    sessions: queries,
    groups: groupQueries,
    log: groupLog,
    copies: messageQueries,
    messages,
    expiry,
    attend: (session) => conversations.attend(session),
  });
  const additionFor = (session: SessionId, text: string) => messages.additionFor(queries.resolve(session), text);
  journal.followWith(roleMail({ messages: messageQueries, groups: groupQueries, additionFor }));
  const looks = new Looks({ journal, db, isThere: (id) => queries.get(id) !== undefined });
  const digests = new Digests({
    db,
    journal,
    queries,
    workspaces: workspaces.queries,
    profiles,
    looks,
    envOf,
    spentSince: (id, seq) => spending.since(id, seq),
    sessions,
    messages,
    approvals,
  });
  const discard = sessions.discard.bind(sessions);
  const pruning = new Pruning({ home, queries, journal, policy: configuration.prune, discard });

  const orphans = new Orphans({ home, hosts, queries, journal, lifecycle });
  const adopting = new Adopting({
    home,
    journal,
    queries,
    sessions,
    lifecycle,
    profiles,
    panes: new PanesOfOthers(foreignTmux),
    programs: import.meta.dirname,
  });
  const program = tmux && { ...tmux.server.program, isNew: tmuxAtLeast(tmux.server.program.version, 3, 3) };
  const running = {
    orphans,
    listening: () => tcp.listening,
    damagedTranscripts: () => transcriptMending.damaged(),
    projects: () => ({ sessions: queries.select({ all: true }), workspaces: workspaces.queries.list() }),
    agents: async (place: { path?: string | undefined; home?: string | undefined }) => {
      const { agents } = await findAgents(profiles, { ...place, versions: true, waitMs: VERSIONS_MS, programs: import.meta.dirname });
      return { agents: agents.map((agent) => ({ ...agent, setup: profiles.find(agent.name)?.setup })) };
    },
  };
  const doctor = new Doctor({ home, backups, tmux: { hint: TMUX_HINT, program }, configured: lookAtConfiguration, running });

  const pending = pendingReport(db);
  if (pending) {
    const { drafts, report } = rebuildSessions(pending, {
      home,
      journal,
      queries,
      kept: await keptRuns(hosts),
      groups: groupQueries.paths(),
    });
    // Write the notice before the events: showing it twice is better than never. A requested restore is reported in its reply.
    if (report.why === "damaged") writeNotice(home, report);
    journal.append(...drafts, ...messages.doubtAll());
  }
  journal.append({
    type: "daemon.started",
    actor: DAEMON,
    session: null,
    data: { pid: process.pid, version: VERSION, node: process.execPath, ...(process.platform === "linux" ? { boot: boot() } : {}) },
  });
  tokens.begin();
  tokens.expire();
  setInterval(() => tokens.expire(), EXPIRY_MS).unref();
  await workspaces.begin({ restored: pending !== undefined });
  radar.begin();
  sweepSessions(home, { journal, queries });
  await lifecycle.begin();
  await attachments.begin();
  sessions.stopping.finish();
  if (!trouble) {
    approvals.begin();
    expiry.look();
    delivery.begin();
    conversations.begin();
    void transcriptMending
      .begin(mendingEnd.signal)
      .catch((error: unknown) => log(`transcripts are not checked for damage: ${describe(error)}`));
    sessions.restarts.begin(lifecycle.cutShort);
    sessions.limits.begin();
    restoring.begin();
    adopting.begin();
    keepAwake.begin();
    hung.begin();
    leftRunning.begin();
    pruning.begin();
    turnCheckpoints.begin();
    usageReading.begin(lastStart);
    budgets.begin();
    coordination.begin();
  }
  void removing.finish();
  backups.spare(db);
  backups.begin(() => journal.cursor.seq);

  let ending = false;
  const end = async (why: "asked" | "replaced" | "signal" | "restore" | "damaged" | "home gone", actor: Principal = DAEMON) => {
    if (ending) return;
    ending = true;
    homeWatch[Symbol.dispose]();
    await Promise.all([door, tcp, shared].map((each) => each[Symbol.asyncDispose]()));
    sessions.restarts[Symbol.dispose]();
    sessions.limits[Symbol.dispose]();
    restoring[Symbol.dispose]();
    adopting[Symbol.dispose]();
    keepAwake[Symbol.dispose]();
    hung[Symbol.dispose]();
    leftRunning[Symbol.dispose]();
    pruning[Symbol.dispose]();
    await radar[Symbol.asyncDispose]();
    looks[Symbol.dispose]();
    turnCheckpoints[Symbol.dispose]();
    usageReading[Symbol.dispose]();
    budgets[Symbol.dispose]();
    coordination[Symbol.dispose]();
    workspaces[Symbol.dispose]();
    expiry[Symbol.dispose]();
    delivery[Symbol.dispose]();
    mendingEnd.abort();
    conversations[Symbol.dispose]();
    attachments[Symbol.dispose]();
    lifecycle[Symbol.dispose]();
    approvals[Symbol.dispose]();
    status[Symbol.dispose]();
    for (const host of hosts.values()) await host[Symbol.asyncDispose]();
    backups[Symbol.dispose]();
    try {
      // Another daemon may already use this path: nothing there is ours.
      if (why === "home gone") process.exit(0);
      if (why !== "damaged") {
        journal.append({ type: "daemon.stopped", actor, session: null, data: { pid: process.pid, why } });
        // A damaged database stays open: closing it would write to it.
        db.close();
      }
      // The remaining file tells clients that another daemon follows.
      if (why !== "restore" && why !== "damaged") rmSync(home.daemonFile, { force: true });
    } catch (error) {
      // No worse than being killed, which also leaves no event.
      log(`the daemon stopped, but could not record it in the journal: ${describe(error)}`);
    }
    lock.close();
    if (why === "restore" || (why === "damaged" && performance.now() > STEADY_MS)) launchNext(home);
    process.exit(0);
  };
  const homeWatch = watchForHomeGone(home.path, () => {
    log(`the home ${home.path} is gone: the daemon stops; sessions keep running`);
    void end("home gone");
  });
  /** Ends the daemon; the next start checks every page and restores a damaged database. */
  const startAfresh = (what: string) => {
    if (ending) return;
    log(`the database is damaged: ${what}; the daemon restarts to restore it`);
    orderRestore(home, { why: "doubted", what, backup: null });
    // Other failures that the damage causes must not interrupt the end.
    process.on("unhandledRejection", (error) => log(`after the damage: ${describe(error)}`));
    setTimeout(() => void end("damaged"), 20);
  };
  const control: Control = {
    status: (_, { actor, scope }) => ({ ...statusOf(), actor, scope }),
    setListening: async ({ body }, { actor }) => ({ listen: await tcp.set(body, actor) }),
    setSharing: async ({ body }, { actor }) => ({ share: await shared.set(body, actor) }),
    async shutdown({ body }, { actor, version }) {
      // When several newer clients find an older daemon, the first replaces it; the others then find one that is not older.
      if (body.why === "replaced" && version !== undefined && compareVersions(version, VERSION) <= 0) {
        throw new HoldfastError("usage", `the daemon is not older than ${version}: it is ${VERSION}`);
      }
      const ended = body.all ? await stopAll({ sessions, orphans, hosts, graceMs: body.graceMs, actor }) : { stopped: [], orphans: [] };
      // Send the reply before the socket closes.
      setTimeout(() => void end(body.why, actor), 20);
      return { pid: process.pid, ...ended };
    },
    async restoreBackup({ params }, { actor }) {
      const backup = backups.find(params.name);
      backups.hold(backup);
      if (!(await backups.isUsable(backup))) throw unusable(backup);
      const before = await backups.create("restore");
      orderRestore(home, { why: "asked", what: `${actor} asked for the backup ${backup.name}`, backup: backup.name });
      setTimeout(() => void end("restore", actor), 20);
      return { backup, before, pid: process.pid };
    },
  };
  const statusOf = (): Omit<DaemonStatus, "actor" | "scope"> => ({
    pid: process.pid,
    version: VERSION,
    node: process.execPath,
    nodeVersion: process.versions.node,
    home: home.path,
    socket: home.daemonSocket,
    startedAt,
    uptimeMs: Math.round(process.uptime() * 1000),
    machine: journal.machine,
    ...journal.cursor,
    sessions: queries.counts(),
    backup: backups.list()[0] ?? null,
    restored: lastRestore(db),
    listen: tcp.listening,
    share: shared.sharing,
    keepAwake: keepAwake.state,
    warnings,
    tmux: tmux ? { ...tmux.server.program, socket: home.tmuxSocket, pid: tmux.server.pid ?? null } : null,
  });

  const personas = new Personas({
    knowsAgent: (name) => profiles.find(name) !== undefined,
    enforcedIn: (agent) => enforcedIn(profiles.find(agent)),
  });
  const all = handlers({
    sessions,
    fork,
    messages: messageHandlers({ messages, toGroups, groupReach, sessions, queries, gate }),
    unread: (who) => messages.unread(readerOf(who)),
    orphans,
    adopting,
    doctor,
    journal,
    backups,
    queries,
    pruning,
    restoring,
    controlSession,
    handOver,
    remoteTerminals,
    approvals: approvalHandlers({ approvals, queries, journal, gate, parentsAnswer: parents }),
    progress: progressHandlers({ journal, queries, sessions }),
    diskUse: () => diskUse(home, queries),
    listAgents: ({ query }) => findAgents(profiles, { ...query, programs: import.meta.dirname }),
    tokens,
    gate,
    control,
    workspaces: workspaceHandlers({ workspaces, checkpoints, queries, gate, lookForConflicts: () => radar.look() }),
    contexts: contextHandlers({ contexts: new Contexts({ journal, sessions: queries, workspaces: workspaces.queries }), queries, gate }),
    tournaments: tournamentHandlers({ tournaments, workspaces, queries, gate, journal, mutex, lookForConflicts: () => radar.look() }),
    digests: digestHandlers({ digests, queries, seen: (ref, actor) => void sessions.view(ref, actor) }),
    conversations: conversationHandlers({ transcripts, verbs: conversationVerbs, sessions }),
    usage: usageHandlers({ spending, queries, gate }),
    groupReach,
    groups: groupHandlers({
      groups,
      values,
      reach: groupReach,
      sessions: queries,
      gate,
      spent: (ids) => spending.total(ids),
      tellGoal: (goal) => toGroups.tellGoal(goal),
    }),
    personas: personaHandlers(personas),
    usualPlace: usualPlaceFor({ home, queries }),
    inRole: (request) => inRole(personas, request, (agent, choice) => choiceWords(profiles.find(agent), choice)),
    trust: trustHandlers(trusted),
    plans: planHandlers(new Plans({ journal, queries: new PlanQueries(db) })),
    tasks: taskHandlers({ tasks: new Tasks({ journal, queries: new TaskQueries(db) }), queries, gate }),
    workspaceEnds: workspaceEndHandlers({ workspaces, merging, removing, collect, queries, gate }),
  });
  const isMended = () => lookAtConfiguration().error === undefined;
  const bound = trouble ? servedWithout(all, { trouble, isMended, end: () => void end("asked") }) : all;
  const upgrades = (door: Door) => terminalUpgrades(bound, { gate, door, other: eventSockets(bound, { gate, door }) });
  const serveAt = (door: Door) => serveHttp(bind(bound, { gate, door }), { upgrade: upgrades(door), most: MOST_CONNECTIONS });
  const tcp = new TcpDoor({ home, journal, serve: serveAt });
  const shared = new SharedDoor({ home, journal, serve: () => serveAt(SHARED_DOOR) });
  const door = await listen(bind(bound, { gate, door: UNIX_DOOR }), home, upgrades(UNIX_DOOR));
  if (trouble) process.stdin.on("close", () => void end("asked")).resume();
  else await Promise.all([tcp.begin(), shared.begin()]);
  if (damage !== undefined) throw new Damage(damage);
  foundDamage = startAfresh;
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end("signal"));
  writeFileAtomic(home.daemonFile, `${JSON.stringify({ pid: process.pid, start: inspect(process.pid)?.start, version: VERSION })}\n`);
  log(`daemon ${VERSION} ready: pid ${process.pid}, home ${home.path}`);
  tellStarter(`${warnings.map((warning) => `warning ${JSON.stringify(warning)}\n`).join("")}ready\n`);
}

/** `daemon.mjs --read DIRECTORY TROUBLE`: a reader, see reader.ts. */
async function read(home: Home, [place = "", body = ""]: string[]): Promise<void> {
  const look = lookAtConfiguration();
  const program = findTmux(home);
  await serveReader({
    home,
    place,
    trouble: HoldfastError.fromBody(JSON.parse(body)),
    configuration: look.error ? defaultConfiguration() : readConfiguration(),
    configured: lookAtConfiguration,
    tmux: { hint: TMUX_HINT, program: program && { ...program, isNew: tmuxAtLeast(program.version, 3, 3) } },
    programs: import.meta.dirname,
  });
  process.stdin.on("close", () => process.exit(0)).resume();
  tellStarter("ready\n");
}

/** Reads the configuration as a daemon that starts now would. */
function lookAtConfiguration(): ConfigurationLook {
  try {
    const { file, isThere, unknown, agents, approvals, mcp, prices } = readConfiguration();
    new Profiles((builtIn) => userProfiles(agents.table, { file: agents.file, builtIn }));
    readRules(approvals);
    parentsAnswer(approvals);
    readServers(mcp);
    readPrices(prices);
    return { file, isThere, error: undefined, unknown: unknown.map((key) => describeUnknown(file, key)) };
  } catch (error) {
    return { file: configurationFile(), isThere: true, error: HoldfastError.from(error), unknown: [] };
  }
}

/** Handles damage found before the daemon accepted clients: a waiting client looks again and starts the daemon that restores. */
function startAnew(home: Home, error: Error): never {
  orderRestore(home, { why: "doubted", what: error.message, backup: null });
  process.exit(EXIT_ALREADY_RUNNING);
}

/** Does not wait: the next daemon can begin only when this process has ended. */
function launchNext(home: Home): void {
  launchDaemon(home, process.argv[1] ?? "").catch((error: unknown) => log(`the next daemon did not start: ${describe(error)}`));
}

/** The status begins before conversations and ends after them: transcripts are evidence for the status. */
function observedBy({ conversations, status }: { conversations: RunObserver; status: RunObserver }): RunObserver {
  return {
    began(run) {
      status.began(run);
      conversations.began(run);
    },
    wrote(run, news) {
      conversations.wrote(run, news);
      status.wrote(run, news);
    },
    look(run) {
      conversations.look(run);
      status.look(run);
    },
    ended(run) {
      conversations.ended(run);
      status.ended(run);
    },
  };
}

function openTmux(home: Home, keys: { detachKey: string; nextKey: string }): TmuxHost | undefined {
  const program = findTmux(home);
  return program && new TmuxHost({ home, server: new TmuxServer({ home, program, ...keys, cli: CLI }) });
}

function missingHost(host: HostName): HoldfastError {
  if (host === "tmux") return new HoldfastError("host_missing", "tmux is not on this machine", { hint: TMUX_HINT });
  return new HoldfastError("host_missing", `there is no host ${host}`);
}

/** Stops all sessions at once, then orphans, then the keepers, which are empty by then. */
async function stopAll(options: {
  sessions: Sessions;
  orphans: Orphans;
  hosts: ReadonlyMap<HostName, Host>;
  graceMs: number;
  actor: Principal;
}): Promise<{ stopped: Session[]; orphans: Orphan[] }> {
  // An adopted agent belongs to its user: it keeps running, and the next daemon finds it again.
  const running = options.sessions.list({}).sessions.filter(({ host, status }) => host !== "foreign" && isRunning(status));
  const stopped = await Promise.all(
    running.map(async ({ id }) => {
      const stop = options.sessions.stopping.stop(id, options).then(({ session }) => session);
      // The session may end on its own meanwhile, which is as good.
      return stop.catch((error: unknown) => {
        const now = options.sessions.get(id);
        if (hasEnded(now.status)) return now;
        throw error;
      });
    }),
  );
  const orphans: Orphan[] = [];
  for (const { id } of await options.orphans.list()) {
    try {
      orphans.push((await options.orphans.stop(id, options)).orphan);
    } catch (error) {
      // Stopping the previous orphan may have ended this one too.
      if ((error as HoldfastError).code !== "orphan_not_found") throw error;
    }
  }
  for (const host of options.hosts.values()) await host.shutdown();
  return { stopped, orphans };
}

/** Descriptor 3 is the starter's pipe, if there is one. */
function tellStarter(text: string): void {
  try {
    writeSync(3, text);
    closeSync(3);
  } catch {
    // The daemon was started by hand, or the starter has exited.
  }
}
