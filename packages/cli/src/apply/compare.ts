/** Compares a file with the current state. Pure. Never removes or overwrites anything that somebody else made or changed. */

import type { Group, SharedValue } from "@holdfast/contract/group/group";
import type { Declaration, DeclaredPeer } from "@holdfast/contract/plan/plan";
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import type { BudgetRequest } from "@holdfast/contract/usage/budget";
import { BUDGET_LIMITS } from "@holdfast/contract/usage/enums";
import type { Plan, PlannedGroup, PlannedSession } from "./plan.ts";
import { fingerprint } from "./read-plan.ts";
import type { Comparison, Note, Refused, Step } from "./steps.ts";

export interface World {
  /** Includes ended sessions. */
  sessions: readonly Session[];
  groups: readonly Group[];
  /** Default limit of a group's members. */
  limit: number;
  /** Each group's own values. */
  values: readonly SharedValue[];
  /** Declarations recorded by earlier applies of this file. */
  declared: readonly Declaration[];
  /** Workspaces without a session. */
  workspaces: readonly { name: string; branch: string | null }[];
}

export function compare(plan: Plan, world: World, options: { prune?: boolean; resume?: boolean } = {}): Comparison {
  const notes: Note[] = [];
  const refused: Refused[] = [];
  const steps = [
    ...plan.groups.flatMap((group) => stepsOfGroup(plan, group, { world, notes })),
    ...plan.sessions.flatMap((session) => stepsOfSession(plan, session, { world, notes, refused, resume: options.resume === true })),
  ];
  const comings = [...steps, ...plan.groups.flatMap((group) => coordination(plan, group, { world, notes, steps })), ...confirming(steps)];
  const kept: Note[] = [];
  const goings = goneFrom(plan, { world, notes: kept, steps });
  return options.prune
    ? { steps: [...comings, ...goings], notes: [...notes, ...kept], left: [], refused }
    : { steps: comings, notes, left: goings, refused };
}

function stepsOfGroup(plan: Plan, planned: PlannedGroup, { world, notes }: { world: World; notes: Note[] }): Step[] {
  const { path, limit, goal } = planned;
  const group = world.groups.find((each) => each.path === path);
  const values = Object.entries(planned.context).flatMap(([key, value]) => stepsOfValue(plan, { path, key, value }, { world, notes }));
  if (!group) {
    const declaration = { file: plan.file, what: "group" as const, ref: path, key: null, name: path, said: {} };
    return [{ do: "remember", declaration }, { do: "create_group", group: path, limit, goal }, ...values];
  }
  const isOther = limit !== null && limit !== group.limit;
  return [
    ...(isOther ? [{ do: "change_limit" as const, group: path, from: group.limit, to: limit }] : []),
    ...(goal !== null && goal !== group.goal ? [{ do: "change_goal" as const, group: path, from: group.goal, to: goal }] : []),
    ...values,
  ];
}

function stepsOfValue(
  { file }: Plan,
  { path, key, value }: { path: string; key: string; value: unknown },
  { world, notes }: { world: World; notes: Note[] },
): Step[] {
  const now = world.values.find((each) => each.group === path && each.key === key);
  const own = world.declared.find((each) => each.what === "value" && each.ref === path && each.key === key);
  const said = { value: fingerprint(value) };
  const remember: Step = { do: "remember", declaration: { file, what: "value", ref: path, key, name: path, said } };
  if (!now) return [remember, { do: "share", group: path, key, value, ifRevision: 0 }];
  const isAsSaid = fingerprint(now.value) === said.value;
  // An earlier apply stopped before it recorded the value.
  if (isAsSaid) return own && own.said.value !== said.value ? [remember] : [];
  if (own?.said.value === fingerprint(now.value)) return [{ do: "share", group: path, key, value, ifRevision: now.revision }, remember];
  notes.push({ why: "value_changed", group: path, key, by: now.author });
  return [];
}

/** Longest objective line shown to peers. */
const LONGEST_LINE = 200;

function stepsOfSession(
  plan: Plan,
  planned: PlannedSession,
  { world, notes, refused, resume }: { world: World; notes: Note[]; refused: Refused[]; resume: boolean },
): Step[] {
  const { name } = planned;
  const { own, session } = known(name, world);
  if (!session) return [{ do: "start", name, planned: whereItWas(planned, world), peers: peersOf(plan, world) }];
  const about = { name: session.name, session: session.id };
  const isOver = hasEnded(session.status) && session.restartAt === null;
  if (session.name !== name) notes.push({ why: "renamed", name, to: session.name });
  const said = own?.said ?? saidOf(session, planned);
  // While a session starts, the apply that starts it sets its model and mode.
  const isAsked = (key: string) => session.startedAt === null && (key === "model" || key === "mode");
  const changed = keysOf(said, planned.said).filter((key) => said[key] !== planned.said[key] && !isAsked(key));
  const wasMeant = session.status === "done";
  const isResumed = isOver && resume && !wasMeant;
  if (isOver && !isResumed && !wasMeant) notes.push({ why: "ended", name: session.name, status: session.status });
  const steps: Step[] = [];
  // A budget that a person changed since then stays.
  const budget =
    own && !changed.includes("budget") ? undefined : budgetChange(session, { said: own?.said, wanted: planned.request.budget });
  if (budget) steps.push({ do: "set_budget", ...about, budget });
  const canSetEnv = isResumed && Object.keys(planned.env).length > 0;
  if (isResumed) steps.push({ do: "resume", ...about, env: changed.includes("env") && canSetEnv ? planned.env : null });
  const before = own ? groupsSaid(own.said) : [];
  for (const group of planned.groups) if (!session.groups.includes(group)) steps.push({ do: "join", ...about, group });
  for (const group of before)
    if (!planned.groups.includes(group) && session.groups.includes(group)) steps.push({ do: "leave", ...about, group });
  const chosen = changed.filter((key) => key === "model" || key === "mode");
  const { model, mode } = planned.request;
  const canChoose = session.kind === "conversation" && (!isOver || resume) && chosen.every((key) => planned.said[key] !== undefined);
  if (own && chosen.length > 0 && canChoose)
    steps.push({
      do: "choose",
      ...about,
      ...(chosen.includes("model") && model !== undefined ? { model } : {}),
      ...(chosen.includes("mode") && mode !== undefined ? { mode } : {}),
    });
  const can: Readonly<Record<string, boolean>> = {
    ...{ groups: true, model: canChoose, mode: canChoose },
    ...{ budget: planned.request.budget !== undefined, env: canSetEnv },
  };
  const isDone = (key: string) => can[key] ?? false;
  const undone = changed.filter((each) => !isDone(each));
  if (!own) {
    // The session was not made from this file. Settings that differ, or cannot be checked, are refused.
    const keys = [...undone, ...chosen.filter(isDone)];
    if (keys.length > 0) refused.push({ name: session.name, line: planned.line, keys });
    return steps;
  }
  for (const key of undone) notes.push({ why: "differs", name: session.name, key, was: said[key] ?? null, now: planned.said[key] ?? null });
  if (!changed.some(isDone)) return steps;
  // Keeps the old text of keys that cannot change, so that the next apply reports them again.
  const kept = Object.fromEntries(keysOf(said, planned.said).flatMap((key) => entryOf(key, isDone(key) ? planned.said : said)));
  return [...steps, { do: "remember", declaration: { file: plan.file, what: "session", ref: session.id, key: null, name, said: kept } }];
}

/** Returns the limits that differ from the file. Limits dropped from the file are removed. Undefined if nothing differs. */
function budgetChange(
  { budget }: Session,
  { said, wanted }: { said: Readonly<Record<string, string>> | undefined; wanted: BudgetRequest | undefined },
): BudgetRequest | undefined {
  if (!wanted) return undefined;
  const now = (limit: string) => budget?.limits.find((each) => each.limit === limit)?.allowed ?? null;
  const target = (limit: (typeof BUDGET_LIMITS)[number]) => {
    const amount = wanted[limit];
    return amount === undefined && said?.budget !== undefined && new RegExp(`\\b${limit}\\b`).test(said.budget) ? null : amount;
  };
  const other = BUDGET_LIMITS.flatMap((limit) => {
    const amount = target(limit);
    return amount === undefined || amount === now(limit) ? [] : [[limit, amount] as const];
  });
  return other.length === 0 ? undefined : Object.fromEntries(other);
}

function confirming(steps: readonly Step[]): Step[] {
  const chosen = steps.flatMap((step) => (step.do === "start" && hasChoice(step.planned) ? [step.planned] : []));
  return chosen.length === 0 ? [] : [{ do: "confirm", chosen }];
}

/** True if the file sets a model or mode, which only the agent can confirm. */
function hasChoice({ request: { chat, model, mode } }: PlannedSession): boolean {
  return chat && (model !== undefined || mode !== undefined);
}

/** Finds the session of a plan entry, even if it was renamed. */
function known(name: string, { declared, sessions }: World): { own: Declaration | undefined; session: Session | undefined } {
  const own = declared.find((each) => each.what === "session" && each.name === name);
  return { own, session: sessions.find((each) => (own ? each.id === own.ref : each.name === name)) };
}

/** Sessions that are in groups, or will be after this apply. */
function peersOf(plan: Plan, world: World): DeclaredPeer[] {
  return plan.sessions.flatMap((other) => {
    const { session } = known(other.name, world);
    const isOver = session !== undefined && hasEnded(session.status) && session.restartAt === null;
    if (other.groups.length === 0 || isOver) return [];
    const { agent, persona = null, role = persona, objective = firstLine(other.request.prompt) } = other.request;
    const coordinates = plan.groups.filter(({ coordinator }) => coordinator === other.name).map(({ path }) => path);
    return [
      { name: session?.name ?? other.name, agent: agent === "" ? null : agent, role, objective, groups: [...other.groups], coordinates },
    ];
  });
}

function firstLine(prompt: string | undefined): string | null {
  return prompt?.trim().split("\n")[0]?.slice(0, LONGEST_LINE) ?? null;
}

/** A session that starts again uses the worktree made for it before. */
function whereItWas(planned: PlannedSession, { workspaces }: World): PlannedSession {
  const { worktree } = planned.request;
  const before = workspaces.find(({ name }) => name === planned.name);
  if (!worktree || !before || (worktree.branch ?? before.branch) !== before.branch) return planned;
  return { ...planned, request: { ...planned.request, worktree: undefined, workspace: before.name } };
}

function keysOf(...said: readonly Readonly<Record<string, string>>[]): string[] {
  return [...new Set(said.flatMap((each) => Object.keys(each)))];
}

function entryOf(key: string, said: Readonly<Record<string, string>>): [string, string][] {
  const value = said[key];
  return value === undefined ? [] : [[key, value]];
}

function groupsSaid({ groups }: Readonly<Record<string, string>>): string[] {
  try {
    return groups === undefined ? [] : (JSON.parse(groups) as string[]);
  } catch {
    // The list was long, so only its fingerprint was kept.
    return [];
  }
}

/** Builds the said values of a session not made from this file, from its visible fields. Other keys are unknown. */
function saidOf(session: Session, { said, request }: PlannedSession): Record<string, string> {
  const seen: Record<string, unknown> = {
    agent: session.agent,
    chat: session.kind === "conversation",
    restart: session.restart,
    host: session.host,
    role: session.role,
    objective: session.objective,
  };
  const shown = Object.entries(said).flatMap(([key, value]): [string, string][] => {
    if (key === "cwd") return [[key, session.cwd === request.cwd ? value : JSON.stringify(session.cwd)]];
    return Object.hasOwn(seen, key) ? [[key, JSON.stringify(seen[key])]] : [];
  });
  return Object.fromEntries(shown);
}

/** The first member of a group without a coordinator becomes its coordinator. */
function coordination(
  { sessions }: Plan,
  { path, coordinator: wanted }: PlannedGroup,
  { world, notes, steps }: { world: World; notes: Note[]; steps: readonly Step[] },
): Step[] {
  if (wanted === null) return [];
  const now = world.groups.find((each) => each.path === path)?.coordinator ?? null;
  const isResumed = (id: string) => steps.some((step) => step.do === "resume" && step.session === id);
  const there = known(wanted, world).session;
  if (there && hasEnded(there.status) && !isResumed(there.id)) {
    notes.push({ why: "coordinator_ended", group: path, name: there.name });
    return [];
  }
  const lives = (name: string) => {
    const { session } = known(name, world);
    return !session || !hasEnded(session.status) || isResumed(session.id);
  };
  const first = sessions.find((each) => each.groups.includes(path) && lives(each.name));
  const isAlready = now ? now.session === there?.id : first?.name === wanted;
  return isAlready ? [] : [{ do: "set_coordinator", group: path, name: there?.name ?? wanted }];
}

/** Steps that remove what an earlier apply made and the file no longer has. */
function goneFrom(plan: Plan, { world, notes, steps }: { world: World; notes: Note[]; steps: readonly Step[] }): Step[] {
  const declared = (what: Declaration["what"]) => world.declared.filter((each) => each.what === what);
  const sessions = declared("session").flatMap(({ ref, name }): Extract<Step, { do: "remove_session" }>[] => {
    const session = world.sessions.find(({ id }) => id === ref);
    if (!session || plan.sessions.some((each) => each.name === name)) return [];
    const { status, workspace } = session;
    const ended = hasEnded(status) && session.restartAt === null;
    return [
      { do: "remove_session", name: session.name, session: ref, status, ended, workspace: workspace?.branch ? workspace.name : null },
    ];
  });
  const values = declared("value").flatMap(({ ref, key, said }): Step[] => {
    const group = plan.groups.find(({ path }) => path === ref);
    const now = world.values.find((each) => each.group === ref && each.key === key);
    // Removing its group removes the value too.
    if (!group || !now || key === null || Object.hasOwn(group.context, key)) return [];
    if (fingerprint(now.value) === said.value) return [{ do: "unset", group: ref, key, ifRevision: now.revision }];
    notes.push({ why: "value_changed", group: ref, key, by: now.author });
    return [];
  });
  const goes = (session: string, group: string) =>
    sessions.some((each) => each.session === session) ||
    steps.some((step) => step.do === "leave" && step.session === session && step.group === group);
  return [...values, ...sessions, ...groupsGone(plan, { world, notes, goes })];
}

/** Deepest groups first: a group with subgroups cannot be removed. */
function groupsGone(
  plan: Plan,
  { world, notes, goes }: { world: World; notes: Note[]; goes(session: string, group: string): boolean },
): Step[] {
  const gone: string[] = [];
  const mine = world.declared
    .filter(({ what, ref }) => what === "group" && !plan.groups.some(({ path }) => path === ref))
    .sort((a, b) => b.ref.split("/").length - a.ref.split("/").length);
  for (const { ref } of mine) {
    const group = world.groups.find(({ path }) => path === ref);
    if (!group) continue;
    const member = group.members.find(({ session, ended }) => !ended && !goes(session, ref));
    const child = group.children.find((path) => !gone.includes(path));
    const by = member?.name ?? child;
    if (by === undefined) gone.push(ref);
    else notes.push({ why: "still_used", group: ref, by });
  }
  return gone.map((group) => ({ do: "remove_group", group }));
}
