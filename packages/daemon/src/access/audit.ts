/** The audit: every event whose actor is not the daemon, described in words. */
import { type AnyEvent, type AuditEntry, type EventData, type EventType, inOneLine, type SessionId, visible } from "@holdfast/contract";
import type { Journal } from "../journal/journal.ts";

/** Each text lacks its subject, the actor. `name` is the session's. */
type Words = { [T in EventType]?: (data: EventData<T>, name: string) => string };

const WORDS: Words = {
  "daemon.stopped": ({ why }) => (why === "restore" ? "restored a backup" : "stopped the daemon"),
  "daemon.listening": ({ address, public: isPublic }) =>
    address === null ? "stopped listening on TCP" : `started listening on ${address}${isPublic ? ", also for other machines" : ""}`,
  "daemon.shared": ({ group }) => (group === null ? "closed the shared socket" : `opened a socket for the group ${group}`),
  "token.created": ({ name, scope, expiresAt }) =>
    `created the token ${name} (${scope}${expiresAt === null ? "" : `, until ${expiresAt}`})`,
  "token.revoked": ({ name }) => `revoked the token ${name}`,
  "access.refused": ({ endpoint, why, more }) =>
    `was refused${endpoint === "any" ? "" : ` ${endpoint}`}: ${why}${more > 0 ? ` (and ${more} times before)` : ""}`,
  "session.created": ({ name, agent, forkedFrom }) => `started ${name} (${agent}${forkedFrom ? `, a fork of ${forkedFrom.name}` : ""})`,
  "session.adopted": (_, name) => `adopted ${name}`,
  "session.input_requested": ({ bytes, keys }, name) =>
    bytes === null ? `pressed ${plural(keys ?? 0, "key")} in ${name}` : `typed ${plural(bytes, "byte")} into ${name}`,
  "message.queued": ({ id, steer, to, sent }, name) =>
    `sent the message ${id} to ${to ?? name}${sent === undefined ? "" : `, as ${sent} to its group`}${steer ? ", during a turn" : ""}`,
  "message.read": ({ id }) => `read the message ${id}`,
  "message.answered": ({ id, by }) => `answered the message ${id} with ${by}`,
  "group.message_sent": ({ id, group, role, to }) =>
    `sent the message ${id} to ${role === "coordinator" ? "the coordinator of " : ""}the group ${group}, for ${plural(to.length, "session")}`,
  "message.cancelled": ({ id }, name) => `took back the message ${id} to ${name}`,
  "checkpoint.created": ({ number, id }) => `created checkpoint ${number} of the workspace ${id}`,
  "checkpoint.rewound": ({ number, id, filesOnly }) =>
    `rewound ${filesOnly ? "the files of " : ""}the workspace ${id} to checkpoint ${number}`,
  "plan.declared": ({ file, what, name, key }) => `applied ${file}: the ${what} ${key === null ? name : `${key} of ${name}`}`,
  "plan.forgotten": ({ file, what, ref, key }) =>
    `removed the ${what} ${key === null ? ref : `${key} of ${ref}`}: it is no longer in ${file}`,
  "trust.added": (data) => `trusted ${data.directory}: ${actionsText(data)}`,
  "trust.revoked": (data) => `revoked the trust in ${data.directory}: ${actionsText(data)}`,
  "tournament.started": ({ name, agents }) => `started the tournament ${name} of ${agents.length} (${[...new Set(agents)].join(", ")})`,
  "tournament.kept": ({ name }) => `kept ${name} of its tournament`,
  "group.created": ({ group }) => `created the group ${group}`,
  "group.goal_changed": ({ group, goal }) => (goal === null ? `removed the goal of ${group}` : `changed the goal of ${group}`),
  "group.limit_changed": ({ group, limit }) =>
    `set the limit of the group ${group} to ${limit === null ? "the default" : plural(limit, "member")}`,
  "group.removed": ({ group }) => `removed the group ${group}`,
  "group.joined": ({ group }, name) => `added ${name} to the group ${group}`,
  "group.left": ({ group }, name) => `removed ${name} from the group ${group}`,
  "group.coordinator_changed": ({ group, coordinator }, name) =>
    coordinator === null ? `left the group ${group} without a coordinator` : `made ${name} the coordinator of ${group}`,
  "group.value_shared": ({ group, key, revision }) => `shared ${key} in ${group} (revision ${revision})`,
  "group.value_unset": ({ group, key, revision }) => `removed ${key} from ${group} (revision ${revision})`,
  "workspace.created": ({ name, branch }) => `created the workspace ${name}${branch === null ? "" : ` on the branch ${branch}`}`,
  "workspace.setup_started": ({ id, command }) => `ran the set-up of the workspace ${id}: ${command}`,
  "workspace.merged": ({ id, into, way, commit }) => `merged the workspace ${id} into ${into} (${way}), now at ${commit.slice(0, 10)}`,
  "workspace.pushed": ({ branch, remote }) => `pushed the branch ${branch} to ${remote}`,
  "workspace.removed": ({ name }) => `removed the workspace ${name}`,
  "workspace.recovered": ({ name }) => `recovered the workspace ${name}`,
  "restore.ended": ({ items }) => `restored lost sessions: ${items.map(({ name, outcome }) => `${name} ${outcome}`).join(", ")}`,
  "session.run_created": ({ run, why, conversation, prompt }, name) =>
    `started run ${run} of ${name} (${why}${conversation === undefined ? "" : `, with its conversation ${conversation}`}${prompt === undefined ? "" : `, first prompt ${prompt}`})`,
  "workspace.forgotten": ({ name }) => `deleted the recovery data of the workspace ${name}`,
  "workspace.check_started": ({ id, command }) => `ran a check in the workspace ${id}: ${command}`,
  "context.created": ({ root }) => `created the Working Context of ${root}`,
  "context.written": ({ root, file }) => `wrote ${file} of the Working Context of ${root}`,
  "session.attach_requested": ({ readOnly }, name) => `attached to ${name}${readOnly ? " as observer" : ""}`,
  "session.handed_over": ({ to, note }, name) => `handed ${name} over to ${to}${note === null ? "" : `: ${note}`}`,
  "session.control_requested": ({ driver }, name) => `asked ${driver ?? "nobody"} for control of ${name}`,
  "session.control_changed": ({ driver, how }, name) =>
    how === "taken"
      ? `took control of ${name} for ${driver?.principal ?? "nobody"}`
      : `gave control of ${name} to ${driver?.principal ?? "nobody"}`,
  "session.detach_requested": (_, name) => `detached the terminals of ${name}`,
  "approval.requested": ({ text }, name) => `filed a request for ${name}: ${text}`,
  "approval.resolved": (_, name) => `withdrew the request of ${name}`,
  "approval.reopened": ({ text }, name) => `found that ${name} did not accept the answer: ${text}`,
  "approval.answering": ({ decision, text }, name) => `pressed keys to ${decision} ${name}: ${text}`,
  "approval.answered": ({ decision, reason, text }, name) =>
    `${{ allow: "allowed", deny: "denied", answer: "answered" }[decision]} ${name}: ${text}${reason === null ? "" : ` (${reason})`}`,
  "session.progress_reported": ({ text }, name) => `reported the progress of ${name}: ${text}`,
  "session.stop_requested": (_, name) => `stopped ${name}`,
  "session.restart_abandoned": (_, name) => `stopped ${name} before its next run`,
  "session.looked_at": (_, name) => `viewed ${name}`,
  "session.viewed": (_, name) => `viewed ${name}`,
  "session.renamed": ({ from, name }) => `renamed ${from} to ${name}`,
  "session.reparented": (_, name) => `detached ${name} from the session that started it`,
  "session.removed": ({ name }) => `removed ${name}`,
  "orphan.stop_requested": ({ id, command }) => `stopped the orphan ${id} (${command})`,
};

/** Names per session; nobody renames a session more often. */
const MOST_NAMES = 1000;

export interface AuditQuery {
  seq: number;
  limit: number;
  since?: number | undefined;
  actors?: readonly string[] | undefined;
}

export function auditEntries(journal: Journal, query: AuditQuery): AuditEntry[] {
  const since = query.since === undefined ? undefined : new Date(query.since).toISOString();
  const events = journal.readAfter(query.seq, query.limit, { byOthers: true, since, actors: query.actors });
  const namings = new Map<SessionId, AnyEvent[]>();
  /** The session's name at that time, because another session may have it now. */
  const nameOf = (session: SessionId, seq: number) => {
    const known = namings.get(session) ?? journal.readAfter(0, MOST_NAMES, { session, types: ["session.created", "session.renamed"] });
    namings.set(session, known);
    return String(known.findLast((event) => event.seq <= seq)?.data.name ?? session);
  };
  return events.map((event) => {
    const { seq, at, actor, type, session } = event;
    return { seq, at, actor, type, session, what: inWords(event, session === null ? "" : nameOf(session, seq)) };
  });
}

/** An event type without a text, such as one of a newer Holdfast, is shown by its name. */
function inWords({ type, data }: AnyEvent, name: string): string {
  const words = WORDS[type as EventType] as ((data: unknown, name: string) => string) | undefined;
  return words ? words(data, name) : `${type}${name === "" ? "" : ` ${name}`}`;
}

function actionsText({ setup, copy, agent }: EventData<"trust.added">): string {
  if (agent) return `${agent.name} in the worktrees of ${agent.owner}`;
  const run = setup === null ? [] : [`run ${inOneLine(setup)}`];
  return [...run, ...(copy.length === 0 ? [] : [`copy ${copy.map(visible).join(", ")}`])].join("; ");
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
