/** Reads a file of `[sessions.NAME]` and `[groups.PATH]` tables as a plan. Reports errors before anything starts. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { inexactNumber } from "@holdfast/contract/exact-numbers";
import { checkGroup, checkKey, LONGEST_GOAL, LONGEST_VALUE, lineOf, MOST_KEYS, MOST_MEMBERS } from "@holdfast/contract/group/path";
import { checkName } from "@holdfast/contract/names";
import { HOSTS, RESTARTS } from "@holdfast/contract/session/status";
import { sizeBytes } from "@holdfast/platform/units";
import { parseBudget } from "../usage/budget-flag.ts";
import type { Plan, PlannedGroup, PlannedSession } from "./plan.ts";
import { type Table, Tables } from "./tables.ts";

const SESSION_KEYS = [
  ...["agent", "persona", "prompt", "chat", "model", "mode", "args", "command", "cwd", "worktree", "base", "setup", "workspace", "group"],
  ...["groups", "role", "objective", "restart", "host", "memory", "recording_limit", "budget", "context", "env"],
];
const GROUP_KEYS = ["limit", "goal", "coordinator", "context"];

/** Longest text of a key that is kept for display. Longer texts, and the environment, are kept as fingerprints. */
const SHORT = 200;

export async function readPlan(name: string): Promise<Plan> {
  const { file, text } = open(name);
  const tables = await Tables.read(name, text);
  const { root } = tables;
  tables.checkKeys(root, [], ["sessions", "groups"]);
  const sessions = Object.entries(tables.table(root.sessions ?? {}, ["sessions"])).map(([each, value]) =>
    sessionOf(tables, { name: each, value, directory: dirname(file) }),
  );
  const groups = Object.entries(tables.table(root.groups ?? {}, ["groups"])).map(([path, value]) => groupOf(tables, { path, value }));
  if (sessions.length + groups.length === 0)
    throw new HoldfastError("plan_invalid", `${name} declares nothing`, {
      hint: "it needs tables such as [sessions.NAME] or [groups.NAME]",
    });
  refuseTwice(
    tables,
    "sessions",
    sessions.map((each) => each.name),
  );
  refuseTwice(
    tables,
    "groups",
    groups.map(({ path }) => path),
  );
  const all = withImplied(groups, sessions);
  checkMembers(tables, all, sessions);
  return { file, sessions, groups: all };
}

function open(name: string): { file: string; text: string } {
  try {
    const file = realpathSync(name);
    return { file, text: readFileSync(file, "utf8") };
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const what = isMissing ? `there is no file ${name}` : `${name} cannot be read: ${(cause as Error).message}`;
    throw new HoldfastError("file_unusable", what, { cause });
  }
}

function sessionOf(tables: Tables, what: { name: string; value: unknown; directory: string }): PlannedSession {
  const path = ["sessions", what.name];
  const table = tables.table(what.value, path);
  const name = named(tables, path, () => checkName(what.name));
  tables.checkKeys(table, path, SESSION_KEYS);
  const text = (key: string) => tables.text(table, path, key);
  const command = tables.texts(table, path, "command");
  const persona = text("persona");
  const agent = text("agent") ?? (command ? "shell" : "");
  if (agent === "" && persona === undefined) throw tables.wrong(path, `the session ${name} has no agent`, 'for example: agent = "claude"');
  if (command && agent !== "shell")
    throw tables.wrong([...path, "command"], `the agent ${agent} has its own command`, "omit command, and pass arguments with args");
  const chat = tables.flag(table, path, "chat") ?? false;
  for (const key of ["model", "mode"])
    if (!chat && table[key] !== undefined && persona === undefined)
      throw tables.wrong([...path, key], `${key} applies only to a conversation`, "add chat = true");
  const groups = groupsOf(tables, path, table);
  return {
    name,
    line: tables.lineOf(...path),
    request: {
      agent,
      persona,
      prompt: text("prompt"),
      chat,
      model: text("model"),
      mode: text("mode"),
      args: tables.texts(table, path, "args") ?? [],
      command,
      cwd: resolve(what.directory, text("cwd") ?? "."),
      worktree: worktreeOf(tables, path, table),
      workspace: text("workspace"),
      role: text("role"),
      objective: text("objective"),
      restart: tables.oneOf(table, path, { key: "restart", words: RESTARTS }),
      host: tables.oneOf(table, path, { key: "host", words: HOSTS }),
      memoryLimitBytes: sizeOf(tables, path, { table, key: "memory" }),
      recordingLimitBytes: table.recording_limit === "off" ? 0 : sizeOf(tables, path, { table, key: "recording_limit" }),
      budget: budgetOf(tables, path, table),
      context: tables.flag(table, path, "context"),
    },
    env: environmentOf(tables, path, table),
    groups,
    said: saidBy({ ...table, group: undefined, groups: groups.length === 0 ? undefined : groups }),
  };
}

function groupsOf(tables: Tables, path: readonly string[], table: Table): string[] {
  const one = tables.text(table, path, "group");
  const several = tables.texts(table, path, "groups") ?? [];
  if (one !== undefined && several.length > 0)
    throw tables.wrong([...path, "group"], "group and groups cannot be used together", "use groups");
  const key = one === undefined ? "groups" : "group";
  const all = (one === undefined ? several : [one]).map((each) => named(tables, [...path, key], () => checkGroup(each)));
  return [...new Set(all)];
}

function worktreeOf(tables: Tables, path: readonly string[], table: Table): PlannedSession["request"]["worktree"] {
  const { worktree } = table;
  const [base, setup] = [tables.text(table, path, "base"), tables.flag(table, path, "setup") ?? true];
  if (worktree !== undefined && worktree !== false) {
    if (table.workspace !== undefined) throw tables.wrong([...path, "workspace"], "workspace and worktree cannot be used together");
    return { branch: worktree === true ? undefined : tables.text(table, path, "worktree"), base, setup };
  }
  const odd = ["base", "setup"].find((key) => table[key] !== undefined);
  if (odd === undefined) return undefined;
  throw tables.wrong([...path, odd], `${odd} applies only to a new worktree`, "add worktree = true");
}

function sizeOf(tables: Tables, path: readonly string[], { table, key }: { table: Table; key: string }): number | undefined {
  const text = tables.text(table, path, key);
  const bytes = text === undefined ? undefined : sizeBytes(text);
  if (text === undefined || bytes !== undefined) return bytes;
  throw tables.wrong([...path, key], `${key} takes a size, not ${JSON.stringify(text)}`, 'for example: "500M" or "2G"');
}

/** Reads `"turns=20,cost=5"` or a table. */
function budgetOf(tables: Tables, path: readonly string[], table: Table): PlannedSession["request"]["budget"] {
  const { budget } = table;
  if (budget === undefined) return undefined;
  const isTable = typeof budget === "object" && budget !== null && !Array.isArray(budget);
  const text = isTable
    ? Object.entries(budget)
        .map(([limit, amount]) => `${limit}=${amount}`)
        .join(",")
    : tables.text(table, path, "budget");
  try {
    return parseBudget(text);
  } catch (error) {
    const { message } = HoldfastError.from(error);
    throw tables.wrong([...path, "budget"], message.replace(/^--budget/, "budget"), "for example: budget = { turns = 20, cost = 5 }");
  }
}

function environmentOf(tables: Tables, path: readonly string[], table: Table): Record<string, string> {
  const entries = Object.entries(tables.table(table.env ?? {}, [...path, "env"]));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        throw tables.wrong([...path, "env", name], `${JSON.stringify(name)} is not a variable name`);
      if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return [name, String(value)];
      throw tables.wrong([...path, "env", name], `the variable ${name} is not a text`);
    }),
  );
}

function groupOf(tables: Tables, what: { path: string; value: unknown }): PlannedGroup {
  const path = ["groups", what.path];
  const table = tables.table(what.value, path);
  const group = named(tables, path, () => checkGroup(what.path));
  tables.checkKeys(table, path, GROUP_KEYS);
  const { limit = null } = table as { limit?: unknown };
  if (limit !== null && !(Number.isInteger(limit) && (limit as number) >= 1 && (limit as number) <= MOST_MEMBERS))
    throw tables.wrong([...path, "limit"], `limit must be a number from 1 to ${MOST_MEMBERS}, not ${JSON.stringify(limit)}`);
  const context = Object.entries(tables.table(table.context ?? {}, [...path, "context"]));
  if (context.length > MOST_KEYS)
    throw tables.wrong([...path, "context"], `a group has at most ${MOST_KEYS} values, this one has ${context.length}`);
  for (const [key, value] of context) {
    named(tables, [...path, "context", key], () => checkKey(key));
    const odd = inexactNumber(value);
    if (odd !== undefined)
      throw tables.wrong(
        [...path, "context", key],
        `the value of ${key} has a number that JSON cannot represent exactly: ${odd}`,
        "write it as text, in quotes",
      );
    if (Buffer.byteLength(JSON.stringify(value)) > LONGEST_VALUE)
      throw tables.wrong([...path, "context", key], `the value of ${key} has more than 64 KB`, "put it into a file and share the path");
  }
  return {
    path: group,
    line: tables.lineOf(...path),
    limit: limit as number | null,
    goal: goalOf(tables, path, table),
    coordinator: tables.text(table, path, "coordinator") ?? null,
    context: Object.fromEntries(context),
  };
}

function goalOf(tables: Tables, path: readonly string[], table: Table): string | null {
  const goal = tables.text(table, path, "goal")?.trim();
  if (goal === undefined) return null;
  if (goal !== "" && goal.length <= LONGEST_GOAL) return goal;
  throw tables.wrong([...path, "goal"], goal === "" ? "the goal is empty" : `a goal has at most ${LONGEST_GOAL} characters`);
}

function named(tables: Tables, path: readonly string[], check: () => string): string {
  try {
    return check();
  } catch (error) {
    const { message, hint } = HoldfastError.from(error);
    throw tables.wrong(path, message, hint);
  }
}

function refuseTwice(tables: Tables, what: "sessions" | "groups", names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw tables.wrong([what, twice], `${twice} is declared twice`);
}

/** Adds the groups of sessions and all parent groups; parents first. */
function withImplied(groups: readonly PlannedGroup[], sessions: readonly PlannedSession[]): PlannedGroup[] {
  const found = new Map(groups.map((group) => [group.path, group]));
  const imply = (path: string, line: number) => {
    for (const each of lineOf(path))
      if (!found.has(each)) found.set(each, { path: each, line, limit: null, goal: null, coordinator: null, context: {} });
  };
  for (const { path, line } of groups) imply(path, line);
  for (const session of sessions) for (const path of session.groups) imply(path, session.line);
  return [...found.values()].sort((a, b) => a.path.split("/").length - b.path.split("/").length || (a.path < b.path ? -1 : 1));
}

function checkMembers(tables: Tables, groups: readonly PlannedGroup[], sessions: readonly PlannedSession[]): void {
  for (const { path, limit, coordinator } of groups) {
    const members = sessions.filter((session) => session.groups.includes(path)).map(({ name }) => name);
    const where = ["groups", path];
    if (limit !== null && members.length > limit)
      throw tables.wrong(
        [...where, "limit"],
        `the group ${path} has a limit of ${limit}, but the file puts ${members.length} sessions into it`,
      );
    if (coordinator !== null && !members.includes(coordinator))
      throw tables.wrong([...where, "coordinator"], `the coordinator ${coordinator} is not a member of ${path}`, undefined, members);
  }
}

/** Text of each key, for comparison and, if short, for display. */
export function saidBy(table: Table): Record<string, string> {
  const said = Object.entries(table).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said.map(([key, value]) => [key, key === "env" ? fingerprint(value) : shown(value)]));
}

function shown(value: unknown): string {
  const json = canonical(value);
  return json.length <= SHORT ? json : fingerprint(value);
}

export function fingerprint(value: unknown): string {
  return `sha256:${createHash("sha256").update(canonical(value)).digest("hex").slice(0, 32)}`;
}

/** Sorts keys, because their order has no meaning. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort()) : each,
  );
}
