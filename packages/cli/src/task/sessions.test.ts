import { HoldfastError } from "@holdfast/contract/errors";
import { MessageId } from "@holdfast/contract/message";
import { expect, test } from "vitest";
import type { Hands } from "./hands.ts";
import { parseTaskFile, type TaskItem } from "./parse.ts";
import { ScriptedDaemon } from "./scripted-daemon.ts";
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

test("an item is a session of its own: named after the file, and told what the item says", async () => {
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

test("a name that is taken gives way to the next, and at last to any", async () => {
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

test("a turn is said once, whoever says it again, and its answer is waited for", async () => {
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

test("what it waits for a person for is told when it changes", async () => {
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

test("a turn that fails says why, and is said again as another message by the next run", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  const doing = await (await open(daemon, [item])).start(item);
  daemon.answer = (message) => Object.assign(message, { state: "failed", why: "no key", endedAt: "now" });
  await expect(doing.prompt(0, how)).rejects.toMatchObject({ code: "message_failed", message: "no key" });
  daemon.answer = (message) => Object.assign(message, { state: "replied", reply: "yes", endedAt: "now" });
  expect(await doing.prompt(0, how)).toBe("yes");
  expect(new Set(daemon.messages.map(({ id }) => id)).size).toBe(2);
});

test("one that its budget has ended says so", async () => {
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

test("a session that takes no messages, or fails for ever, is an error; an interruption ends the waiting", async () => {
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

test("an end is told, and the agent stopped; one that has ended already is no error", async () => {
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

test("what a run left open is gone on with: resumed where it had ended, begun anew where it cannot be", async () => {
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

test("what cannot be asked for is not begun anew: the next run goes on with it", async () => {
  const daemon = new ScriptedDaemon();
  const [item] = items("- [ ] a\n");
  await (await open(daemon, [item])).start(item);
  daemon.session("tasks-1").endedAt = "now";
  daemon.fails.set("resumeSession", new HoldfastError("daemon_unreachable", "the daemon ended before it answered"));
  await expect((await open(daemon, [item])).start(item)).rejects.toMatchObject({ code: "daemon_unreachable" });
  expect(await (await open(daemon, [item])).start(item)).toMatchObject({ goesOn: true, session: "tasks-1" });
});

test("a session whose run died before its task was written down is taken by the next run, and no other of its name is", async () => {
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

test("of two with the same words the one with the number is gone on with, and one that was ticked has ended", async () => {
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

test("two runs of one file do each item once, together", async () => {
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

test("ids of messages are as ours, and differ with each turn and attempt", () => {
  const ids = [messageId("t", 0, 0), messageId("t", 1, 0), messageId("t", 0, 1), messageId("u", 0, 0)];
  for (const id of ids) expect(MessageId.safeParse(id).success).toBe(true);
  expect(new Set(ids).size).toBe(4);
  expect(messageId("t", 0, 0)).toBe(ids[0]);
});
