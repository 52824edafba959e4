/**
 * Answers queries when no daemon can run, because the home is unwritable or its configuration is invalid. The reader lives as long as the command
 * that started it. It reads a copy of the database, starts nothing, and refuses every request that would need a write. Session state is as last
 * recorded; recordings are read in place.
 */
import { copyFileSync, existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { ENDPOINTS, type EndpointName, HoldfastError, isAnsweredWithout, type SessionId, unwritable } from "@holdfast/contract";
import { type Home, KeyedMutex } from "@holdfast/platform";
import { Access } from "./access/access.ts";
import { Refusals } from "./access/refusals.ts";
import { Tokens } from "./access/tokens.ts";
import { findAgents } from "./agent/found.ts";
import { Profiles } from "./agent/profiles/index.ts";
import { enforcedIn } from "./agent/tool-limits.ts";
import { approvalHandlers } from "./api/approval-handlers.ts";
import { bind, type Handlers } from "./api/bind.ts";
import { contextHandlers } from "./api/context-handlers.ts";
import { digestHandlers } from "./api/digest-handlers.ts";
import { Gate, UNIX_DOOR } from "./api/gate.ts";
import { groupHandlers } from "./api/group-handlers.ts";
import { handlers } from "./api/handlers.ts";
import { messageHandlers, readerOf } from "./api/message-handlers.ts";
import { personaHandlers } from "./api/persona-handlers.ts";
import { planHandlers } from "./api/plan-handlers.ts";
import { serve } from "./api/serve.ts";
import { taskHandlers } from "./api/task-handlers.ts";
import { trustHandlers } from "./api/trust-handlers.ts";
import { usageHandlers } from "./api/usage-handlers.ts";
import { workspaceHandlers } from "./api/workspace-handlers.ts";
import { Approvals } from "./approval/approvals.ts";
import type { Configuration } from "./configuration.ts";
import { Digests } from "./digest/digests.ts";
import { Looks } from "./digest/looks.ts";
import { type ConfigurationLook, Doctor } from "./doctor/doctor.ts";
import type { TmuxFacts } from "./doctor/programs.ts";
import { Groups } from "./group/groups.ts";
import { GroupReach } from "./group/reach.ts";
import { SharedValues } from "./group/shared-values.ts";
import { clientKeysOf } from "./host/keys.ts";
import { Backups } from "./journal/backups.ts";
import { openDatabase } from "./journal/database.ts";
import { Journal } from "./journal/journal.ts";
import { Reserve } from "./journal/reserve.ts";
import { Delivery } from "./message/delivery.ts";
import { Expiry } from "./message/expiry.ts";
import { GroupMessages } from "./message/group-messages.ts";
import { Messages } from "./message/messages.ts";
import { People } from "./message/people.ts";
import { Personas } from "./persona/personas.ts";
import { PROJECTIONS } from "./projection/all.ts";
import { ApprovalQueries } from "./projection/approvals.ts";
import { GroupMessageQueries } from "./projection/group-messages.ts";
import { GroupQueries } from "./projection/group-queries.ts";
import { MessageQueries } from "./projection/messages.ts";
import { PlanQueries } from "./projection/plans.ts";
import { SessionQueries } from "./projection/session-queries.ts";
import { TaskQueries } from "./projection/tasks.ts";
import { TokenQueries } from "./projection/tokens.ts";
import { TrustQueries } from "./projection/trust.ts";
import { UsageQueries } from "./projection/usage.ts";
import { WorkspaceQueries } from "./projection/workspaces.ts";
import { diskUse } from "./session/disk-use.ts";
import { Lifecycle } from "./session/run/lifecycle.ts";
import { readEnvironment } from "./session/run/run-files.ts";
import { Sessions } from "./session/sessions.ts";
import { AgentStatus } from "./session/status/agent-status.ts";
import { Plans } from "./task/plans.ts";
import { Tasks } from "./task/tasks.ts";
import { Budgets } from "./usage/budgets.ts";
import { readPrices } from "./usage/prices.ts";
import { Spending } from "./usage/spending.ts";
import { Checkpoints } from "./workspace/checkpoint/workspace-checkpoints.ts";
import { Contexts } from "./workspace/context/contexts.ts";
import { TrustedProjects } from "./workspace/setup/trust.ts";
import { Workspaces } from "./workspace/workspaces.ts";

const MOST_CONNECTIONS = 100;

export async function serveReader(options: {
  home: Home;
  /** A writable directory of this process alone; it holds the socket. */
  place: string;
  /** Why no daemon runs. */
  trouble: HoldfastError;
  configuration: Configuration;
  configured(): ConfigurationLook;
  tmux: TmuxFacts;
  programs: string;
}): Promise<void> {
  const { home, trouble, configuration } = options;
  const journaled = openCopy(home, options.place);
  const { db } = journaled;
  const journal = new Journal({ db, projections: PROJECTIONS, machineName: hostname().split(".")[0] || "machine" });
  const queries = new SessionQueries(db);
  const tokenQueries = new TokenQueries(db);
  const refusals = new Refusals({ journal });
  const workspaceQueries = new WorkspaceQueries(db);
  const gate = new Gate({
    access: new Access({ home, queries, tokens: tokenQueries, refusals }),
    refusals,
    queries,
    workspaces: workspaceQueries,
    runs: { has: ({ session }) => queries.get(session) !== undefined },
  });
  const hosts = new Map();
  const reserve = new Reserve(join(options.place, "reserve"));
  const { recordingLimit } = configuration;
  const lifecycle = new Lifecycle({ home, journal, queries, reserve, hosts, recordingLimit });
  const profiles = new Profiles(() => []);
  const status = new AgentStatus({ home, journal, queries, hosts, profiles });
  const trusted = new TrustedProjects({ journal, queries: new TrustQueries(db) });
  const workspaces = new Workspaces({ home, journal, queries: workspaceQueries, trusted });
  const typing = new KeyedMutex();
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
    programs: options.programs,
    cli: [],
    keys: clientKeysOf(configuration),
    recordingLimit,
    budget: {},
    missingHost: () => trouble,
    typing,
  });
  const spending = new Spending({ queries: new UsageQueries(db), prices: readPrices(configuration.prices) });
  const groupQueries = new GroupQueries(db);
  const nothing = async () => {};
  const spent = (id: SessionId) => spending.of(id);
  // These budgets only report: begin() is never called.
  const withChildren = (tree: readonly SessionId[]) => spending.withChildren(tree);
  const idle = { read: nothing, tell: nothing, interrupt: nothing, stop: nothing };
  sessions.accountWith(new Budgets({ journal, sessions: queries, spent, withChildren, ...idle }));
  const messages = new MessageQueries(db);
  const expiry = new Expiry({ journal, messages });
  const delivery = new Delivery({ home, journal, queries, messages, hosts, profiles, status, typing, expiry, usedUp: () => null });
  const backups = new Backups({ home });
  const refuse = (): never => {
    throw trouble;
  };
  const doctor = new Doctor({ home, backups, tmux: options.tmux, configured: options.configured, trouble: journaled.trouble ?? trouble });
  const approvals = new Approvals({
    home,
    journal,
    queries: new ApprovalQueries(db),
    sessions: queries,
    profiles,
    status,
    rules: [],
    hosts,
    typing,
  });
  const log = new GroupMessageQueries(db);
  const people = new People({ sessions: queries, scopeOf: () => undefined });
  const said = new Messages({ journal, queries, messages, sessions, delivery, expiry, people, log, attend() {}, nearLimit: () => null });
  const groupReach = new GroupReach({ queries: groupQueries, sessions: queries, refusals });
  const toGroups = new GroupMessages({
    journal,
    sessions: queries,
    groups: groupQueries,
    log,
    copies: messages,
    messages: said,
    expiry,
    attend() {},
  });
  const envOf = (id: SessionId) => readEnvironment(home, id);
  const looks = new Looks({ journal, db, isThere: () => true });
  const digests = new Digests({
    db,
    journal,
    queries,
    workspaces: workspaceQueries,
    profiles,
    looks,
    envOf,
    spentSince: (id, seq) => spending.since(id, seq),
    sessions,
    messages: said,
    approvals,
  });
  // Only what the endpoints answered without a daemon need: everything that changes state is absent.
  const rooms: Partial<Parameters<typeof handlers>[0]> = {
    sessions,
    messages: messageHandlers({ messages: said, toGroups, groupReach, sessions, queries, gate }),
    unread: (who) => said.unread(readerOf(who)),
    doctor,
    journal,
    backups,
    queries,
    diskUse: () => diskUse(home, queries),
    listAgents: ({ query }) => findAgents(profiles, { ...query, programs: options.programs }),
    approvals: approvalHandlers({ approvals, queries, journal, gate, parentsAnswer: false }),
    tokens: new Tokens({ home, journal, queries: tokenQueries }),
    gate,
    digests: digestHandlers({ digests, queries, seen: (ref, actor) => void sessions.view(ref, actor) }),
    usage: usageHandlers({ spending, queries, gate }),
    groupReach,
    groups: groupHandlers({
      groups: new Groups({ journal, queries: groupQueries, sessions: queries, limit: configuration.groupLimit, keep() {} }),
      values: new SharedValues({ journal, queries: groupQueries, nameOf: (principal) => principal }),
      reach: groupReach,
      sessions: queries,
      gate,
      spent: (ids) => spending.total(ids),
      tellGoal() {},
    }),
    personas: personaHandlers(
      new Personas({
        knowsAgent: (name) => profiles.find(name) !== undefined,
        enforcedIn: (agent) => enforcedIn(profiles.find(agent)),
      }),
    ),
    trust: trustHandlers(trusted),
    plans: planHandlers(new Plans({ journal, queries: new PlanQueries(db) })),
    tasks: taskHandlers({ tasks: new Tasks({ journal, queries: new TaskQueries(db) }), queries, gate }),
    workspaces: workspaceHandlers({
      workspaces,
      checkpoints: new Checkpoints({ journal, sessions: queries, mutex: new KeyedMutex(), envOf }),
      queries,
      gate,
      lookForConflicts: async () => {},
    }),
    contexts: contextHandlers({ contexts: new Contexts({ journal, sessions: queries, workspaces: workspaces.queries }), queries, gate }),
  };
  const all = handlers(rooms as Parameters<typeof handlers>[0]);
  const unreadable = (): never => {
    throw journaled.trouble ?? trouble;
  };
  const answers = Object.fromEntries(
    (Object.keys(ENDPOINTS) as EndpointName[]).map((name) => {
      if (name === "examine") return [name, all[name]];
      if (!isAnsweredWithout("daemon", name)) return [name, refuse];
      return [name, journaled.trouble ? unreadable : all[name]];
    }),
  ) as unknown as Handlers;
  const { server } = serve(bind(answers, { gate, door: UNIX_DOOR }), { most: MOST_CONNECTIONS });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(join(options.place, "reader.sock"), resolve);
  });
}

/** Opens a copy of the database and its write-ahead log, or an empty one with the reason. The copy may be migrated: nobody else sees it. */
function openCopy(home: Home, place: string): { db: DatabaseSync; trouble?: HoldfastError } {
  const copy = join(place, "holdfast.db");
  try {
    if (!existsSync(home.database)) return { db: openDatabase(":memory:") };
    for (const suffix of ["", "-wal"]) if (existsSync(home.database + suffix)) copyFileSync(home.database + suffix, copy + suffix);
    return { db: openDatabase(copy) };
  } catch (cause) {
    const why = unwritable(cause) ? `there is no space for a copy of it in ${place}` : (cause as Error).message;
    const trouble =
      cause instanceof HoldfastError
        ? cause
        : new HoldfastError("journal_damaged", `the journal cannot be read without a daemon: ${why}`, {
            hint: "holdfast doctor shows why no daemon can start; the next daemon restores damaged files",
            cause,
          });
    return { db: openDatabase(":memory:"), trouble };
  }
}
