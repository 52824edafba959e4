import { HoldfastError } from "@holdfast/contract/errors";
import { MessageId } from "@holdfast/contract/message/message";
import { expect, test } from "vitest";
import { ScriptedDaemon } from "../../test/task-daemon.ts";
import type { Hands } from "./hands.ts";
import { parseTaskFile, type TaskItem } from "./parse.ts";
import { messageId, SessionTurns } from "./sessions.ts";

const HANDS: Hands = { agents: ["demo"], personas: new Map([["reviewer", "demo"]]), usual: "demo" };
const never = new AbortController().signal;
const how = { signal: never, onWait: () => {} };

function items(text: string): [TaskItem, ...TaskItem[]] {
  return parseTaskFile("tasks.md", text) as [TaskItem, ...TaskItem[]];
}

function open(daemon: ScriptedDaemon, all: readonly TaskItem[], more: { file?: string; worktree?: boolean } = {}): Promise<SessionTurns> {
  const where = { file: more.file ?? "/p/tasks.md", cwd: "/p", worktree: more.worktree ?? false, hands: HANDS };
  return SessionTurns.open(daemon.client, where, all);
}

test("an item gets its own session, named after the file, with the item's settings", async () => {
  const daemon = new ScriptedDaemon();
  const [one, two] = items("- [ ] 1. a <!-- agent: reviewer --> <!-- model: big --> <!-- budget: $2 -->\n- [ ] 2. b\n") as [
    TaskItem,
    TaskItem,
  ];
  const turns = await open(daemon, [one, two], { worktree: true });
  expect(await turns.start(one)).toMatchObject({ session: "tasks-1", agent: "demo", goesOn: false });
  expect(daemon.spawned[0]).toMatchObject({
    agent: "demo",
    persona: "reviewer",
    chat: true,
    cwd: "/p",
    objective: "a",
    model: "big",
    budget: { cost: 2 },
    worktree: { setup: true },
  });
  expect(daemon.tasks).toMatchObject([{ title: "a", file: "/p/tasks.md", label: "1", turns: 1 }]);
  await (await open(daemon, [two])).start(two);
  for (const key of ["persona", "model", "budget", "worktree"]) expect(daemon.spawned[1]).not.toHaveProperty(key);
});

test("a taken name gets a number, and after many attempts a generated name is used", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const begin = async (file: string) => (await (await open(daemon, [], { file })).start(item)).session;
  expect(await begin("/p/… notes!.md")).toBe("notes-1");
  for (let count = 2; count <= 21; count++) expect(await begin(`/${count}/notes.md`)).toBe(`notes-1-${count}`);
  expect(await begin("/22/notes.md")).toMatch(/^spare-/);
  expect(await begin("/p/…")).toBe("task-1");
  daemon.fails.set("spawn", new HoldfastError("host_failed", "no"));
  await expect((await open(daemon, [])).start(item)).rejects.toMatchObject({ code: "host_failed" });
});

test("a turn is sent once, even by another run of the file, and its answer is awaited", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n  Turn 1: one\n  Turn 2: two\n");
  const doing = await (await open(daemon, [item])).start(item);
  expect(await doing.prompt(0, how)).toBe("yes");
  expect(await doing.prompt(0, how)).toBe("yes");
  expect(daemon.messages.map(({ text }) => text)).toEqual(["a\n\none"]);
  const again = await (await open(daemon, [item])).start(item);
  expect([again.goesOn, again.session]).toEqual([true, doing.session]);
  await again.prompt(0, how);
  await again.prompt(1, how);
  expect(daemon.messages.map(({ text }) => text)).toEqual(["a\n\none", "two"]);
});

test("a wait for a person is reported when it changes", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const doing = await (await open(daemon, [item])).start(item);
  let looks = 0;
  daemon.answer = (message) => {
    looks++;
    daemon.session("tasks-1").attention = looks === 1 || looks === 2 ? { for: "approval", text: "rm", until: null } : null;
    if (looks === 4) Object.assign(message, { state: "replied", reply: "done", endedAt: "now" });
  };
  const waits: string[] = [];
  expect(await doing.prompt(0, { signal: never, onWait: (what) => waits.push(what) })).toBe("done");
  expect(waits).toEqual([expect.stringContaining("rm"), ""]);
});

test("a failed turn reports the reason, and the next attempt sends another message", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const doing = await (await open(daemon, [item])).start(item);
  daemon.answer = (message) => Object.assign(message, { state: "failed", why: "no key", endedAt: "now" });
  await expect(doing.prompt(0, how)).rejects.toMatchObject({ code: "message_failed", message: "no key" });
  daemon.answer = (message) => Object.assign(message, { state: "replied", reply: "yes", endedAt: "now" });
  expect(await doing.prompt(0, how)).toBe("yes");
  expect(new Set(daemon.messages.map(({ id }) => id)).size).toBe(2);
});

test("a turn that the budget ended reports the limit", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const doing = await (await open(daemon, [item])).start(item);
  daemon.answer = (message) => {
    daemon.session("tasks-1").budget = { limits: [], exceeded: { limit: "turns", used: 1, allowed: 1, at: "now" } };
    Object.assign(message, { state: "failed", why: "the session has ended", endedAt: "now" });
  };
  await expect(doing.prompt(0, how)).rejects.toThrow(
    "its budget is used up: turn limit 1 reached (1 used); allow it more in the file: <!-- budget: turns=… -->",
  );
});

test("a session that takes no messages, or fails every time, is an error; an interruption ends the wait", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const doing = await (await open(daemon, [item])).start(item);
  const stop = new AbortController();
  daemon.answer = () => stop.abort();
  await expect(doing.prompt(0, { signal: stop.signal, onWait: () => {} })).rejects.toMatchObject({ code: "timeout" });
  const { call } = daemon.client;
  const typed = { call: async (name: never, input: never) => (name === "sendMessage" ? { message: null } : call(name, input)) };
  const where = { file: "/p/x.md", cwd: "/p", worktree: false, hands: HANDS };
  const odd = await (await SessionTurns.open(typed as never, where, [])).start(item);
  await expect(odd.prompt(0, how)).rejects.toMatchObject({ code: "not_a_conversation" });
  const failing = {
    call: async (name: never, input: never) => (name === "sendMessage" ? { message: { state: "failed" } } : call(name, input)),
  };
  const hopeless = await (await SessionTurns.open(failing as never, { ...where, file: "/p/y.md" }, [])).start(item);
  await expect(hopeless.prompt(0, how)).rejects.toMatchObject({ code: "message_failed", message: expect.stringContaining("100 times") });
});

test("the end of an item is recorded and its agent stopped; an agent that has already ended is not an error", async () => {
  const daemon = new ScriptedDaemon();
  const [item, next] = items("- [ ] a\n- [ ] b\n") as [TaskItem, TaskItem];
  const turns = await open(daemon, [item, next]);
  await (await turns.start(item)).end("done", null);
  expect(daemon.tasks[0]).toMatchObject({ outcome: "done", why: null });
  expect(daemon.session("tasks-1").endedAt).toBe("now");
  const doing = await turns.start(next);
  daemon.fails.set("stopSession", new HoldfastError("session_ended", "it has ended"));
  await doing.end("failed", "no key");
  daemon.fails.set("stopSession", new HoldfastError("stop_incomplete", "still there"));
  await expect(doing.end("failed", "no key")).rejects.toMatchObject({ code: "stop_incomplete" });
});

test("an unfinished item is continued, resumed if its session has ended, and started again if that is impossible", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  await (await open(daemon, [item])).start(item);
  daemon.session("tasks-1").endedAt = "now";
  expect(await (await open(daemon, [item])).start(item)).toMatchObject({ goesOn: true, session: "tasks-1" });
  expect(daemon.log).toContain("resumeSession id-1");
  daemon.session("tasks-1").endedAt = "now";
  daemon.fails.set("resumeSession", new HoldfastError("conversation_unknown", "which is not known"));
  expect(await (await open(daemon, [item])).start(item)).toMatchObject({ goesOn: false, session: "tasks-1-2" });
  expect(daemon.tasks[0]).toMatchObject({ outcome: "cancelled", why: "which is not known" });
});

test("an item whose session could not be reached is not started again, and the next run continues it", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  await (await open(daemon, [item])).start(item);
  daemon.session("tasks-1").endedAt = "now";
  daemon.fails.set("resumeSession", new HoldfastError("daemon_unreachable", "the daemon ended before it answered"));
  await expect((await open(daemon, [item])).start(item)).rejects.toMatchObject({ code: "daemon_unreachable" });
  expect(await (await open(daemon, [item])).start(item)).toMatchObject({ goesOn: true, session: "tasks-1" });
});

test("a session whose task was not recorded is adopted by the next run; a similar session is not", async () => {
  const daemon = new ScriptedDaemon();
  const [item, other] = items("- [ ] 1. a\n- [ ] 2. b\n") as [TaskItem, TaskItem];
  daemon.fails.set("startTask", new HoldfastError("daemon_unreachable", "the daemon ended before it answered"));
  await expect((await open(daemon, [item])).start(item)).rejects.toMatchObject({ code: "daemon_unreachable" });
  expect((await (await open(daemon, [item])).start(item)).session).toBe("tasks-1");
  expect(daemon.tasks).toMatchObject([{ session: "id-1", outcome: null }]);
  for (const unlike of [
    { objective: "c" },
    { turns: 1 },
    { cwd: "/elsewhere" },
    { agent: "claude" },
    { kind: "agent" },
    { endedAt: "now" },
  ]) {
    daemon.sessions.splice(1);
    daemon.fails.set("startTask", new HoldfastError("daemon_unreachable", "the daemon ended before it answered"));
    await expect((await open(daemon, [other])).start(other)).rejects.toMatchObject({ code: "daemon_unreachable" });
    Object.assign(daemon.session("tasks-2"), unlike);
    expect((await (await open(daemon, [other])).start(other)).session).toBe("tasks-2-2");
    daemon.tasks.splice(1);
  }
});

test("an item is recognized by its number among items with the same text, and a ticked item's task is ended", async () => {
  const daemon = new ScriptedDaemon();
  const [one, two] = items("- [ ] 1. a\n- [ ] 2. a\n") as [TaskItem, TaskItem];
  const turns = await open(daemon, [one, two]);
  await turns.start(one);
  await turns.start(two);
  expect((await (await open(daemon, [one, two])).start(two)).session).toBe("tasks-2");
  const [done] = items("- [x] 1. a\n- [ ] 2. a\n");
  await open(daemon, [done]);
  expect(daemon.tasks.map(({ outcome }) => outcome)).toEqual(["done", null]);
  const [other] = items("- [ ] 7. a\n");
  expect((await (await open(daemon, [])).start(other)).session).toBe("tasks-2");
});

test("two concurrent runs of one file do each item once", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const [one, two] = [await open(daemon, [item]), await open(daemon, [item])];
  const first = await one.start(item);
  const second = await two.start(item);
  expect([first.session, second.session, second.goesOn]).toEqual(["tasks-1", "tasks-1", true]);
  expect(await Promise.all([first.prompt(0, how), second.prompt(0, how)])).toEqual(["yes", "yes"]);
  expect(daemon.messages).toHaveLength(1);
  await Promise.all([first.end("done", null), second.end("done", null)]);
});

test("message ids are valid, and differ for each turn and attempt", () => {
  const ids = [messageId("t", 0, 0), messageId("t", 1, 0), messageId("t", 0, 1), messageId("u", 0, 0)];
  for (const id of ids) expect(MessageId.safeParse(id).success).toBe(true);
  expect(new Set(ids).size).toBe(4);
  expect(messageId("t", 0, 0)).toBe(ids[0]);
});
