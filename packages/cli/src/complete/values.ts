/** Candidates for arguments and for values of flags. */
import { SCOPES } from "@holdfast/contract/access/scopes";
import { CONTEXT_FILES } from "@holdfast/contract/context/enums";
import type { Session } from "@holdfast/contract/session/session";
import { HOSTS, RESTARTS, STATUSES } from "@holdfast/contract/session/status";
import { BUDGET_LIMITS, USAGE_BY } from "@holdfast/contract/usage/enums";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { Completion, Context } from "../command.ts";
import { connectRunning } from "../connection/running.ts";
import { statusCell } from "../session/status-text.ts";
import { aboutText } from "../session/table.ts";
import { bare, type Candidate } from "./candidate.ts";

/** A key press must not hang on a daemon that does not answer. */
const PATIENCE_MS = 1000;

/** Candidates that only the daemon knows. */
export const ASKED: ReadonlySet<Completion> = new Set([
  "sessions",
  "agents",
  "personas",
  "approvals",
  "messages",
  "workspaces",
  "removed-workspaces",
  "trusted",
  "checkpoints",
  "context-files",
  "tournaments",
  "entries",
  "groups",
  "group-sessions",
  "group-members",
  "group-keys",
]);

/** `before`: the arguments already typed. Without an answer in time there are no candidates. */
export async function values(context: Context, what: Completion, before: readonly string[] = []): Promise<Candidate[]> {
  const fixed = fixedValues(what, before);
  if (fixed) return bare(fixed);
  if (!ASKED.has(what)) return [];
  using client = connectRunning(context.home);
  try {
    return await asked(client, what, before);
  } catch {
    return [];
  }
}

function fixedValues(what: Completion, before: readonly string[]): readonly string[] | undefined {
  if (what === "statuses") return STATUSES;
  if (what === "hosts") return HOSTS;
  if (what === "restarts") return RESTARTS;
  if (what === "usage-by") return USAGE_BY;
  if (what === "budget-limits") return BUDGET_LIMITS.map((limit) => `${limit}=`);
  if (what === "shells") return ["bash", "zsh", "fish"];
  if (what === "scopes") return SCOPES;
  if (what === "waits") return ["exit", "idle", "waiting", "turn", "output="];
  return what === "context-files" && before.length === 0 ? CONTEXT_FILES : undefined;
}

async function asked(client: HoldfastClient, what: Completion, before: readonly string[]): Promise<Candidate[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (what === "agents") {
    const { agents } = await client.call("listAgents", {}, signal);
    return agents.map(({ name, description }) => ({ word: name, about: description }));
  }
  if (what.startsWith("group")) return ofGroups(client, what, { before, signal });
  if (what === "checkpoints" && before[0] !== undefined) {
    const { checkpoints } = await client.call("listCheckpoints", { params: { ref: before[0] } }, signal);
    return bare(checkpoints.map(({ number }) => String(number)));
  }
  if (what === "approvals") {
    const { approvals } = await client.call("listApprovals", {}, signal);
    return approvals.map(({ id, name, text }) => ({ word: id, about: `${name}: ${text}` }));
  }
  if (what === "messages") {
    const { messages } = await client.call("listMessages", { query: { state: ["queued"] } }, signal);
    return messages.map(({ id, name, text }) => ({ word: id, about: `to ${name}: ${text}` }));
  }
  if (ONLY_FIRST.has(what)) return before.length > 0 ? [] : ofFirst(client, what, signal);
  const { sessions } = await client.call("listSessions", { query: { all: true } }, signal);
  return sessions.map(sessionCandidate);
}

/** Completed once per line, as the first argument. */
const ONLY_FIRST: ReadonlySet<Completion> = new Set([
  "personas",
  "workspaces",
  "removed-workspaces",
  "checkpoints",
  "trusted",
  "tournaments",
  "entries",
]);

async function ofFirst(client: HoldfastClient, what: Completion, signal: AbortSignal): Promise<Candidate[]> {
  if (what === "personas") {
    const query = { cwd: process.cwd(), ...(process.env.HOME ? { home: process.env.HOME } : {}) };
    const { personas } = await client.call("listPersonas", { query }, signal);
    return once(personas.map(({ name, description }) => ({ word: name, about: description })));
  }
  if (what === "trusted") return once(bare((await client.call("listTrust", {}, signal)).trusted.map(({ directory }) => directory)));
  if (what === "tournaments") return bare((await client.call("listTournaments", {}, signal)).tournaments.map(({ name }) => name));
  const { workspaces } = await client.call("listWorkspaces", { query: { all: what === "removed-workspaces" } }, signal);
  const isMeant = ({ removedAt, tournament }: (typeof workspaces)[number]) =>
    what === "removed-workspaces" ? removedAt !== null : what !== "entries" || tournament !== undefined;
  return once(workspaces.filter(isMeant).map(({ name, branch }) => ({ word: name, about: branch ?? "" })));
}

/** Completes a group first, then the verb's own argument. */
async function ofGroups(
  client: HoldfastClient,
  what: Completion,
  { before: [group, ...more], signal }: { before: readonly string[]; signal: AbortSignal },
): Promise<Candidate[]> {
  if (group === undefined)
    return (await client.call("listGroups", {}, signal)).groups.map(({ path, goal }) => ({ word: path, about: goal ?? "" }));
  const params = { group };
  if (what === "group-members") return bare((await client.call("getGroup", { params }, signal)).members.map(({ name }) => name));
  if (what === "group-sessions") return (await client.call("listSessions", { query: {} }, signal)).sessions.map(sessionCandidate);
  if (what !== "group-keys" || more.length > 0) return [];
  return once(bare((await client.call("listValues", { params }, signal)).values.map(({ key }) => key)));
}

function sessionCandidate(session: Session): Candidate {
  return { word: session.name, about: `${statusCell(session)} · ${aboutText(session)}` };
}

function once(found: readonly Candidate[]): Candidate[] {
  return [...new Map(found.map((each) => [each.word, each])).values()];
}
