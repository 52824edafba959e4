/** Serves the completion scripts: takes the words so far, the last one unfinished, and prints the candidates, one per line. */
import { SCOPES } from "@holdfast/contract/scopes";
import { BUDGET_LIMITS, CONTEXT_FILES, HOSTS, RESTARTS, STATUSES, USAGE_BY } from "@holdfast/contract/status";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { Command, Completion, Context } from "../command.ts";
import { COMMON_FLAGS, PAGER_FLAG } from "../command-line.ts";
import { connectRunning } from "../connect.ts";
import { COMMANDS, findCommand } from "../registry.ts";

/** A key press must not hang on a daemon that does not answer. */
const PATIENCE_MS = 1000;

export const command: Command = {
  name: "__complete",
  summary: "for the shells' completion",
  usage: "WORDS…",
  flags: {},
  hidden: true,
  passesOn: true,
  examples: [["holdfast __complete stop b", "names that begin with b"]],
  async run(context) {
    // Errors in the line are reported when it runs.
    const found = await candidates(context, context.rest).catch(() => []);
    if (found.length > 0) process.stdout.write(`${found.join("\n")}\n`);
    return 0;
  },
};

async function candidates(context: Context, words: readonly string[]): Promise<string[]> {
  const isMachine = words.length === 2 && (words[0] === "-H" || words[0] === "--machine");
  if (isMachine) return (await (await import("../far/complete.ts")).machineNames()).filter((name) => name.startsWith(words[1] ?? ""));
  const isFar = words[0]?.startsWith("-") || process.env.HOLDFAST_MACHINE;
  if (!isFar || words.length === 1) return candidatesHere(words, (what, before) => values(context, what, before));
  const { name, rest } = (await import("../far/machine.ts")).splitMachine(words);
  if (name === undefined) return [];
  return candidatesHere(rest, async (what, before) => {
    if (!ASKED.has(what)) return values(context, what, before);
    return (await import("../far/complete.ts")).farCandidates(name, rest);
  });
}

type Values = (what: Completion, before?: readonly string[]) => Promise<string[]>;

async function candidatesHere(words: readonly string[], values: Values): Promise<string[]> {
  const [name = "", ...args] = words;
  const names = [...Object.keys(COMMANDS).filter((known) => !known.startsWith("__")), "help"];
  if (args.length === 0 && name.startsWith("-")) return ["--machine", "--help", "--version"].filter((flag) => flag.startsWith(name));
  if (args.length === 0) return names.filter((known) => known.startsWith(name));
  if (name === "help") return args.length === 1 ? names.filter((known) => known.startsWith(args[0] ?? "")) : [];
  const load = findCommand(name);
  if (!load || args.slice(0, -1).includes("--")) return [];
  const outer = (await load()).command;
  if (outer.verbs && args.length === 1) return Object.keys(outer.verbs).filter((verb) => verb.startsWith(args[0] ?? ""));
  const verb = outer.verbs?.[args[0] ?? ""];
  if (outer.verbs && !verb) return [];
  const command = verb ? (await verb()).command : outer;
  if (verb) args.shift();
  const flags = { ...COMMON_FLAGS, ...(command.pages ? PAGER_FLAG : {}), ...command.flags };
  const current = args.at(-1) ?? "";
  const before = flags[args.at(-2)?.replace(/^--/, "") ?? ""];
  const all =
    before?.value && args.at(-2)?.startsWith("--")
      ? await values(before.complete ?? "nothing")
      : current.startsWith("-")
        ? Object.keys(flags).map((flag) => `--${flag}`)
        : await values(command.arguments ?? "nothing", args.slice(0, -1));
  return all.filter((word) => word.startsWith(current));
}

/** Candidates that only the daemon knows. */
const ASKED: ReadonlySet<Completion> = new Set([
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

/** `before`: the arguments already typed. */
async function values(context: Context, what: Completion, before: readonly string[] = []): Promise<string[]> {
  if (what === "statuses") return [...STATUSES];
  if (what === "hosts") return [...HOSTS];
  if (what === "restarts") return [...RESTARTS];
  if (what === "usage-by") return [...USAGE_BY];
  if (what === "budget-limits") return BUDGET_LIMITS.map((limit) => `${limit}=`);
  if (what === "shells") return ["bash", "zsh", "fish"];
  if (what === "scopes") return [...SCOPES];
  if (what === "waits") return ["exit", "idle", "waiting", "turn", "output="];
  if (what === "token-verbs") return ["create", "ls", "revoke"];
  if (what === "boot-verbs") return ["status", "install", "uninstall"];
  if (what === "context-files" && before.length === 0) return [...CONTEXT_FILES];
  if (!ASKED.has(what)) return [];
  using client = connectRunning(context.home);
  try {
    if (what === "agents") {
      const { agents } = await client.call("listAgents", {}, AbortSignal.timeout(PATIENCE_MS));
      return agents.map(({ name }) => name);
    }
    if (what === "personas") {
      const query = { cwd: process.cwd(), ...(process.env.HOME ? { home: process.env.HOME } : {}) };
      const { personas } = await client.call("listPersonas", { query }, AbortSignal.timeout(PATIENCE_MS));
      return before.length > 0 ? [] : [...new Set(personas.map(({ name }) => name))];
    }
    if (what.startsWith("group")) return await ofGroups(client, what, before);
    if (what === "workspaces" || what === "removed-workspaces" || (what === "checkpoints" && before.length === 0)) {
      const all = what === "removed-workspaces";
      const { workspaces } = await client.call("listWorkspaces", { query: { all } }, AbortSignal.timeout(PATIENCE_MS));
      const meant = all ? workspaces.filter(({ removedAt }) => removedAt !== null) : workspaces;
      return before.length > 0 ? [] : [...new Set(meant.map(({ name }) => name))];
    }
    if (what === "trusted") {
      const { trusted } = await client.call("listTrust", {}, AbortSignal.timeout(PATIENCE_MS));
      return before.length > 0 ? [] : [...new Set(trusted.map(({ directory }) => directory))];
    }
    if (what === "tournaments") {
      const { tournaments } = await client.call("listTournaments", {}, AbortSignal.timeout(PATIENCE_MS));
      return before.length > 0 ? [] : tournaments.map(({ name }) => name);
    }
    if (what === "entries") {
      const { workspaces } = await client.call("listWorkspaces", {}, AbortSignal.timeout(PATIENCE_MS));
      return before.length > 0 ? [] : workspaces.filter(({ tournament }) => tournament !== undefined).map(({ name }) => name);
    }
    if (what === "checkpoints") {
      const params = { ref: before[0] ?? "" };
      const { checkpoints } = await client.call("listCheckpoints", { params }, AbortSignal.timeout(PATIENCE_MS));
      return checkpoints.map(({ number }) => String(number));
    }
    if (what === "approvals") {
      const { approvals } = await client.call("listApprovals", {}, AbortSignal.timeout(PATIENCE_MS));
      const ids = approvals.map(({ id }) => id);
      return before.length > 0 ? ids : ["ls", "show", "allow", "deny", "answer", "watch", ...ids];
    }
    if (what === "messages" && before[0] === "cancel") {
      const { messages } = await client.call("listMessages", { query: { state: ["queued"] } }, AbortSignal.timeout(PATIENCE_MS));
      return messages.map(({ id }) => id);
    }
    const { sessions } = await client.call("listSessions", { query: { all: true } }, AbortSignal.timeout(PATIENCE_MS));
    const names = sessions.map((session) => session.name);
    return what === "messages" ? [...names, "cancel"] : names;
  } catch {
    return [];
  }
}

/** Completes a group first, then the verb's own argument. */
async function ofGroups(client: HoldfastClient, what: Completion, [group, ...more]: readonly string[]): Promise<string[]> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  if (group === undefined) return (await client.call("listGroups", {}, signal)).groups.map(({ path }) => path);
  const params = { group };
  if (what === "group-members") return (await client.call("getGroup", { params }, signal)).members.map(({ name }) => name);
  if (what === "group-sessions") return (await client.call("listSessions", { query: {} }, signal)).sessions.map(({ name }) => name);
  if (what !== "group-keys" || more.length > 0) return [];
  return [...new Set((await client.call("listValues", { params }, signal)).values.map(({ key }) => key))];
}
