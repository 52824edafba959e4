import type { Group, SharedValue } from "@holdfast/contract/group/group";
import type { Declaration } from "@holdfast/contract/plan/plan";
import type { Session } from "@holdfast/contract/session/session";
import { expect, test } from "vitest";
import { compare, type World } from "./compare.ts";
import type { Plan, PlannedGroup, PlannedSession } from "./plan.ts";
import { fingerprint, saidBy } from "./read-plan.ts";
import { isSeen, type Step } from "./steps.ts";

const FILE = "/p/team.toml";

function planned(name: string, more: Partial<PlannedSession["request"]> & { groups?: string[]; prompt?: string } = {}): PlannedSession {
  const { groups = [], ...request } = more;
  const whole = { agent: "demo", chat: true, args: [], cwd: "/p", ...request };
  const { args: _, cwd: __, ...table } = whole;
  return { name, line: 1, request: whole, env: {}, groups, said: saidBy({ ...table, groups: groups.length > 0 ? groups : undefined }) };
}

const group = (path: string, more: Partial<PlannedGroup> = {}): PlannedGroup => ({
  ...{ path, line: 1, limit: null, goal: null, coordinator: null, context: {} },
  ...more,
});

const plan = (what: Partial<Plan>): Plan => ({ file: FILE, sessions: [], groups: [], ...what });

const session = (name: string, more: Partial<Session> = {}): Session =>
  ({
    ...{ id: `id-${name}`, name, agent: "demo", kind: "conversation", cwd: "/p", status: "idle", restartAt: null, groups: [] },
    ...{ restart: "never", host: "native", role: null, objective: null, workspace: null },
    ...more,
  }) as Session;

const there = (path: string, members: Session[] = [], more: Partial<Group> = {}): Group =>
  ({
    ...{ path, limit: 32, children: [], coordinator: members[0] ? { session: members[0].id, name: members[0].name } : null },
    members: members.map(({ id, name, status }) => ({ session: id, name, ended: status === "done" || status === "failed" })),
    ...more,
  }) as unknown as Group;

const value = (path: string, key: string, it: unknown): SharedValue =>
  ({ group: path, key, value: it, revision: 7, author: "session:x" }) as unknown as SharedValue;

const declared = (what: Declaration["what"], ref: string, more: Partial<Declaration> = {}): Declaration =>
  ({ ...{ file: FILE, what, ref, key: null, name: ref, said: {}, at: "", session: null }, ...more }) as Declaration;

/** The declaration of a session that was started from the file as planned. */
const own = (it: PlannedSession) => declared("session", `id-${it.name}`, { name: it.name, said: it.said });

const EMPTY: World = { sessions: [], groups: [], limit: 32, values: [], declared: [], workspaces: [] };
const seen = (steps: readonly Step[]) => steps.filter(isSeen);
const does = (steps: readonly Step[]) => seen(steps).map((step) => step.do);

test("in an empty home apply creates groups and their values first, each declared beforehand, then sessions, then coordinators", () => {
  const sessions = [planned("a", { groups: ["team"] }), planned("b", { groups: ["team"] })];
  const groups = [group("team", { coordinator: "b", limit: 4, context: { goal: 1 } })];
  const { steps, notes, left } = compare(plan({ sessions, groups }), EMPTY);
  expect(steps.map((step) => step.do)).toEqual(["remember", "create_group", "remember", "share", "start", "start", "set_coordinator"]);
  expect([notes, left]).toEqual([[], []]);
  // The first member of a group coordinates it anyway.
  expect(does(compare(plan({ sessions, groups: [group("team", { coordinator: "a" })] }), EMPTY).steps)).not.toContain("set_coordinator");
});

test("an applied file needs no further steps", () => {
  const a = planned("a", { groups: ["team"] });
  const live = session("a", { groups: ["team"] });
  const world: World = {
    ...EMPTY,
    sessions: [live],
    groups: [there("team", [live], { limit: 4 })],
    values: [value("team", "goal", { x: 1 })],
    declared: [own(a), declared("group", "team"), declared("value", "team", { key: "goal", said: { value: fingerprint({ x: 1 }) } })],
  };
  const groups = [group("team", { coordinator: "a", limit: 4, context: { goal: { x: 1 } } })];
  expect(compare(plan({ sessions: [a], groups }), world, { prune: true, resume: true })).toEqual({
    steps: [],
    notes: [],
    left: [],
    refused: [],
  });
});

test("a value is set again if the file changed, and left alone if somebody else changed it", () => {
  const it = plan({ groups: [group("team", { context: { goal: "new" } })] });
  const world = (now: unknown, said?: unknown): World => ({
    ...EMPTY,
    groups: [there("team")],
    values: [value("team", "goal", now)],
    declared: said === undefined ? [] : [declared("value", "team", { key: "goal", said: { value: fingerprint(said) } })],
  });
  expect(seen(compare(it, world("old", "old")).steps)).toEqual([{ do: "share", group: "team", key: "goal", value: "new", ifRevision: 7 }]);
  for (const changed of [world("theirs", "old"), world("theirs")])
    expect(compare(it, changed)).toMatchObject({ steps: [], notes: [{ why: "value_changed", key: "goal", by: "session:x" }] });
  // An apply died after it had shared the value.
  expect(compare(it, world("new", "old")).steps.map((step) => step.do)).toEqual(["remember"]);
  expect(compare(it, world("new")).steps).toEqual([]);
});

test("groups, model and mode of a session are changed; other differences are reported each time and left", () => {
  const before = planned("a", { groups: ["team", "old"], model: "small", prompt: "one" });
  const now = planned("a", { groups: ["team", "new"], model: "large", prompt: "two" });
  const live = session("a", { groups: ["old", "by-hand"] });
  const groups = ["team", "new"].map((path) => group(path));
  const world: World = {
    ...EMPTY,
    sessions: [live],
    groups: ["team", "new", "old", "by-hand"].map((path) => there(path)),
    declared: [own(before)],
  };
  const { steps, notes } = compare(plan({ sessions: [now], groups }), world);
  expect(seen(steps)).toMatchObject([
    { do: "join", group: "team" },
    { do: "join", group: "new" },
    { do: "leave", group: "old" },
    { do: "choose", model: "large" },
  ]);
  expect(notes).toEqual([{ why: "differs", name: "a", key: "prompt", was: '"one"', now: '"two"' }]);
  const remember = steps.find((step) => step.do === "remember");
  expect(remember).toMatchObject({ declaration: { said: { prompt: '"one"', model: '"large"', groups: '["team","new"]' } } });
  // An ended session takes no other model.
  const over = { ...world, sessions: [session("a", { status: "done", groups: ["team", "new"] })] };
  expect(compare(plan({ sessions: [now], groups }), over).notes.map((note) => "key" in note && note.key)).toEqual(["model", "prompt"]);
});

test("an existing session of that name joins its groups, and settings that cannot be applied to it are refused by name (mend 16)", () => {
  const world: World = { ...EMPTY, sessions: [session("a")], groups: [there("team")] };
  const of = (more: Parameters<typeof planned>[1]) =>
    compare(plan({ sessions: [planned("a", { groups: ["team"], ...more })], groups: [group("team")] }), world, { prune: true });
  expect(of({})).toMatchObject({ notes: [], left: [], refused: [] });
  expect(does(of({}).steps)).toEqual(["join"]);
  const { refused, notes } = of({ agent: "claude", prompt: "x", model: "large", budget: { turns: 3 } });
  expect(refused).toEqual([{ name: "a", line: 1, keys: ["agent", "prompt", "model"] }]);
  expect(notes).toEqual([]);
  expect(seen(of({ budget: { turns: 3 } }).steps)).toContainEqual({ do: "set_budget", name: "a", session: "id-a", budget: { turns: 3 } });
});

test("a changed budget is applied at once and changed variables with the next run; a budget that a person changed stays (mend 16)", () => {
  const limits = (...all: [string, number][]) =>
    ({ limits: all.map(([limit, allowed]) => ({ limit, allowed, used: 0 })), exceeded: null }) as never;
  const before = planned("a", { budget: { turns: 5, cost: 2 } });
  const world: World = { ...EMPTY, sessions: [session("a", { budget: limits(["turns", 5], ["cost", 2]) })], declared: [own(before)] };
  const { steps, notes } = compare(plan({ sessions: [planned("a", { budget: { turns: 9 } })] }), world);
  expect(seen(steps)).toEqual([{ do: "set_budget", name: "a", session: "id-a", budget: { turns: 9, cost: null } }]);
  expect(notes).toEqual([]);
  const byHand = { ...world, sessions: [session("a", { budget: limits(["turns", 50]) })] };
  expect(compare(plan({ sessions: [before] }), byHand).steps).toEqual([]);
  const withKey = (key: string): PlannedSession => ({
    ...planned("a"),
    env: { KEY: key },
    said: { ...planned("a").said, env: fingerprint({ KEY: key }) },
  });
  const ended: World = { ...EMPTY, sessions: [session("a", { status: "failed" })], declared: [own(withKey("old"))] };
  expect(compare(plan({ sessions: [withKey("new")] }), ended).notes).toMatchObject([{ why: "ended" }, { why: "differs", key: "env" }]);
  const resumed = compare(plan({ sessions: [withKey("new")] }), ended, { resume: true });
  expect(seen(resumed.steps)).toEqual([{ do: "resume", name: "a", session: "id-a", env: { KEY: "new" } }]);
  expect(resumed.notes).toEqual([]);
});

test("a group is created with its goal, and a changed goal is applied (mend 16)", () => {
  const it = plan({ groups: [group("team", { goal: "ship 2.0" })] });
  expect(seen(compare(it, EMPTY).steps)).toEqual([{ do: "create_group", group: "team", limit: null, goal: "ship 2.0" }]);
  const world = (goal: string | null): World => ({ ...EMPTY, groups: [there("team", [], { goal })] });
  expect(seen(compare(it, world("ship 1.0")).steps)).toEqual([{ do: "change_goal", group: "team", from: "ship 1.0", to: "ship 2.0" }]);
  expect(compare(it, world("ship 2.0")).steps).toEqual([]);
  expect(compare(plan({ groups: [group("team")] }), world("ship 1.0")).steps).toEqual([]);
});

test("a session that is started again works in its existing worktree", () => {
  const start = (worktree: { branch?: string; setup: boolean }, branch: string) => {
    const world = { ...EMPTY, workspaces: [{ name: "a", branch }] };
    const [step] = compare(plan({ sessions: [planned("a", { worktree })] }), world).steps;
    return step?.do === "start" ? [step.planned.request.workspace, step.planned.request.worktree] : [];
  };
  expect(start({ setup: true }, "holdfast/a")).toEqual(["a", undefined]);
  expect(start({ branch: "topic", setup: true }, "topic")).toEqual(["a", undefined]);
  expect(start({ branch: "topic", setup: true }, "other")).toEqual([undefined, { branch: "topic", setup: true }]);
});

test("a renamed session is still the same; an ended one is resumed only on request, and never if it was done", () => {
  const a = planned("a");
  const it = plan({ sessions: [a] });
  const world = (more: Partial<Session>): World => ({ ...EMPTY, sessions: [session("a", more)], declared: [own(a)] });
  expect(compare(it, world({ name: "b" }))).toMatchObject({ steps: [], notes: [{ why: "renamed", name: "a", to: "b" }] });
  expect(compare(it, world({ status: "failed" }))).toMatchObject({ steps: [], notes: [{ why: "ended", status: "failed" }] });
  expect(does(compare(it, world({ status: "failed" }), { resume: true }).steps)).toEqual(["resume"]);
  expect(compare(it, world({ status: "done" }), { resume: true })).toEqual({ steps: [], notes: [], left: [], refused: [] });
  expect(compare(it, world({ status: "failed", restartAt: "soon" }), { resume: true })).toEqual({
    steps: [],
    notes: [],
    left: [],
    refused: [],
  });
});

test("the declared coordinator is set again, unless it has ended", () => {
  const sessions = [planned("a", { groups: ["team"] }), planned("b", { groups: ["team"] })];
  const it = plan({ sessions, groups: [group("team", { coordinator: "b" })] });
  const world = (b: Partial<Session>): World => {
    const all = [session("a", { groups: ["team"] }), session("b", { groups: ["team"], ...b })];
    return { ...EMPTY, sessions: all, groups: [there("team", all)], declared: sessions.map(own) };
  };
  expect(seen(compare(it, world({})).steps)).toEqual([{ do: "set_coordinator", group: "team", name: "b" }]);
  expect(compare(it, world({ status: "failed" })).notes.map(({ why }) => why)).toEqual(["ended", "coordinator_ended"]);
  expect(does(compare(it, world({ status: "failed" }), { resume: true }).steps)).toEqual(["resume", "set_coordinator"]);
});

test("only --prune removes items that are no longer in the file; items that others use or changed stay", () => {
  const gone = planned("gone", { groups: ["old/deep"] });
  const kept = planned("kept", { groups: ["team"] });
  const all = [
    session("gone", { groups: ["old/deep"], workspace: { id: "w", name: "tree", branch: "x" } as never }),
    session("kept", { groups: ["team", "old"] }),
    session("theirs", { groups: ["used"] }),
  ];
  const [first, second, third] = all as [Session, Session, Session];
  const world: World = {
    ...EMPTY,
    sessions: all,
    groups: [
      there("team", [second]),
      there("old", [second], { children: ["old/deep"] }),
      there("old/deep", [first]),
      there("used", [third]),
      there("above", [], { children: ["above/by-hand"] }),
      there("above/by-hand"),
    ],
    values: [value("team", "mine", 1), value("team", "changed", 2), value("old", "goes with it", 3)],
    declared: [
      own(gone),
      declared("session", "id-kept", { name: "kept", said: { ...kept.said, groups: '["team","old"]' } }),
      ...["team", "old", "old/deep", "used", "above"].map((path) => declared("group", path)),
      ...["mine", "changed"].map((key) => declared("value", "team", { key, said: { value: fingerprint(1) } })),
      declared("value", "old", { key: "goes with it", said: { value: fingerprint(3) } }),
    ],
  };
  const it = plan({ sessions: [kept], groups: [group("team")] });
  const goings: Step[] = [
    { do: "unset", group: "team", key: "mine", ifRevision: 7 },
    { do: "remove_session", name: "gone", session: "id-gone", status: "idle", ended: false, workspace: "tree" },
    { do: "remove_group", group: "old/deep" },
    { do: "remove_group", group: "old" },
  ];
  const pruned = compare(it, world, { prune: true });
  expect(seen(pruned.steps)).toEqual([{ do: "leave", name: "kept", session: "id-kept", group: "old" }, ...goings]);
  expect(pruned.notes).toEqual([
    { why: "value_changed", group: "team", key: "changed", by: "session:x" },
    { why: "still_used", group: "used", by: "theirs" },
    { why: "still_used", group: "above", by: "above/by-hand" },
  ]);
  expect(compare(it, world)).toMatchObject({ left: goings, notes: [] });
});
