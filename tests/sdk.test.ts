/** The SDK as programs use it: sessions, events, approvals, messages, terminals. */
import { execFile } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { connect, DaemonUnreachable, HoldfastError, type JournalEvent, PermissionRefused, Timeout, Unauthenticated } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually, ROOT, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** A user's own program, in the home's directory. */
function program(home: TestHome, code: string): string {
  const modules = path.join(home.root, "node_modules");
  if (!existsSync(modules)) symlinkSync(path.join(ROOT, "node_modules"), modules);
  const file = path.join(home.root, "program.mjs");
  writeFileSync(file, code);
  return file;
}

async function printed(home: TestHome, code: string): Promise<string> {
  return (await promisify(execFile)(process.execPath, [program(home, code)], { env: home.env, cwd: home.root })).stdout;
}

for (const host of ["tmux", "native"] as const) {
  test(`a program creates, gets, lists and removes sessions, and each starts, stops, takes input and gives its output: ${host} (CAVE-04 together)`, async () => {
    await using home = new TestHome();
    await home.ok(["up"]);
    using holdfast = home.sdk();
    const command = ["sh", "-c", "echo ready; while read -r line; do echo got $line; done"];
    const session = await holdfast.sessions.create({ agent: "shell", name: "reader", command, host });
    expect(session).toMatchObject({ name: "reader", status: "working", workspace: null });
    expect(session.id).toMatch(/^[a-z][a-z2-7]{9}$/);
    await session.sendInput("one");
    await eventually(async () => text(await session.getOutput()).includes("got one"));
    expect((await holdfast.sessions.get("reader")).id).toBe(session.id);
    expect((await holdfast.sessions.list()).map(({ name }) => name)).toEqual(["reader"]);
    await expect(session.remove()).rejects.toMatchObject({ code: "session_running" });

    await session.stop({ graceMs: 500 });
    expect(session.status).toBe("stopped");
    // A second stop has nothing to end.
    await session.stop();
    expect(await holdfast.sessions.list()).toEqual([]);
    await session.start();
    expect(session).toMatchObject({ status: "working", record: { runs: 2 } });
    await eventually(async () => text(await session.getOutput()).includes("ready"));
    expect(text(await session.getOutput({ run: 1 }))).toContain("got one");
    await holdfast.sessions.remove("reader", { force: true });
    expect(await holdfast.sessions.list({ all: true })).toEqual([]);
    await expect(holdfast.sessions.get("reader")).rejects.toMatchObject({ code: "session_not_found" });
  });
}

test("a session in a worktree has its workspace, and a conversation takes input and gives output like a terminal", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const repo = new TestRepository(home);
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "demo", chat: true, cwd: repo.path, worktree: { branch: "mine" } });
  expect(session.workspace).toMatchObject({ branch: "mine", name: session.name });
  await session.sendInput("say hello there");
  await session.waitFor(({ record }) => record.turns === 1 && record.status === "idle");
  expect(text(await session.getOutput())).toBe("hello there\n");
  const followed: string[] = [];
  const reading = (async () => {
    for await (const part of session.followOutput()) followed.push(text(part));
  })();
  await session.send("say and this", { until: "replied" });
  await session.stop({ graceMs: 500 });
  await reading;
  expect(followed.join("")).toBe("hello there\nand this\n");
});

test("a wait succeeds, times out, or fails because it cannot succeed any more", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "shell", command: ["sh", "-c", "read -r line"] });
  await expect(session.waitFor("ended", { timeoutMs: 50 })).rejects.toBeInstanceOf(Timeout);
  const ended = session.waitFor("ended");
  await session.sendInput("go");
  expect((await ended).status).toBe("done");
  await session.start();
  const idle = session.waitFor("idle");
  await session.sendInput("go");
  await expect(idle).rejects.toMatchObject({ code: "session_ended" });
  // The session has ended already: no event follows that could end the wait.
  await expect(session.waitFor("idle", { timeoutMs: 30_000 })).rejects.toMatchObject({ code: "session_ended" });
  await expect(session.waitFor("working", { signal: AbortSignal.abort("no") })).rejects.toMatchObject({ name: "AbortError", cause: "no" });
});

test("events have a cursor, from which they continue without gap or duplicate across a daemon kill", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  const first = await holdfast.cursor();
  const seen: JournalEvent[] = [];
  const over = new AbortController();
  const following = (async () => {
    for await (const event of holdfast.events({ after: first, types: ["session.created", "session.removed"], signal: over.signal }))
      seen.push(event);
  })();
  for (const name of ["a", "b", "c"]) {
    await home.ok(["run", "--name", name, "--", "true"]);
    if (name === "a") await eventually(() => seen.length === 1);
    if (name === "b") await home.killDaemon();
  }
  await eventually(() => seen.length === 3);
  over.abort();
  await expect(following).rejects.toMatchObject({ name: "AbortError" });
  expect(seen.map((event) => event.type === "session.created" && event.data.name)).toEqual(["a", "b", "c"]);

  // Another program, later, from the same cursor.
  const again: string[] = [];
  for await (const { type, cursor } of holdfast.events({ after: seen[0]?.cursor ?? "", types: ["session.created"] })) {
    again.push(type);
    if (cursor === seen[2]?.cursor) break;
  }
  expect(again).toEqual(["session.created", "session.created"]);
  await expect(holdfast.events({ after: "otherepoch:1" }).next()).rejects.toMatchObject({ code: "cursor_gone" });
});

test("approvals are watched and answered: those already open, and new ones", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "demo", chat: true, name: "asks" });
  await session.send("ask edit");
  await session.waitFor("waiting");
  expect(await session.approvals()).toMatchObject([{ name: "asks", status: "open" }]);
  const answered: string[] = [];
  for await (const approval of holdfast.approvals.watch()) {
    answered.push(approval.status);
    if (answered.length === 1) {
      expect(await approval.allow()).toMatchObject({ status: "allowed" });
      await expect(approval.deny()).rejects.toMatchObject({ code: "approval_over" });
      await session.send("ask execute");
    } else {
      expect(await approval.deny("not here")).toMatchObject({ status: "denied", reasons: true, reason: "not here" });
      break;
    }
  }
  expect(answered).toEqual(["open", "open"]);
  expect(await holdfast.approvals.list()).toEqual([]);
  expect(await holdfast.approvals.list({ all: true })).toHaveLength(2);
});

test("messages have receipts, and a message that cannot arrive has a reason", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "demo", chat: true, name: "api" });
  expect(await holdfast.messages.send("api", "say yes", { until: "replied" })).toMatchObject({ state: "replied", reply: "yes" });
  await session.send("sleep 30000");
  await session.waitFor("working");
  const queued = await session.send("say later");
  expect(queued.state).toBe("queued");
  await expect(holdfast.messages.wait(queued.id, "injected", { timeoutMs: 50 })).rejects.toBeInstanceOf(Timeout);
  expect(await holdfast.messages.cancel(queued.id)).toMatchObject({ state: "cancelled" });
  await expect(holdfast.messages.wait(queued.id, "replied")).rejects.toMatchObject({ code: "message_failed" });
  expect(await holdfast.messages.list({ session: "api", state: ["replied"] })).toHaveLength(1);
  // The agent dies: the wait ends, and the next run gets the message.
  const { id: held } = await session.send("say still meant");
  const waiting = expect(holdfast.messages.wait(held, "replied")).rejects.toMatchObject({ code: "session_ended" });
  process.kill((await home.session("api")).pid ?? 0, "SIGKILL");
  await waiting;
  await home.ok(["resume", "api"]);
  expect(await holdfast.messages.wait(held, "replied")).toMatchObject({ reply: "still meant" });

  // To a person, who reads it once and answers.
  const { actor } = await holdfast.status();
  const { id } = await holdfast.messages.sendToPerson(actor, "look at the plan");
  const received = holdfast.messages.receive();
  expect((await received.next()).value).toMatchObject({ id, text: "look at the plan", from: actor });
  await received.return(undefined);
  expect(await holdfast.messages.read()).toEqual([]);
  await holdfast.messages.sendToPerson(actor, "it is good", { replyTo: id });
  expect((await holdfast.messages.list({ thread: id })).map(({ text }) => text)).toEqual(["look at the plan", "it is good"]);
});

for (const host of ["tmux", "native"] as const) {
  test(`a terminal shows the screen and new output, takes keys and a size, and leaves the session running: ${host}`, async () => {
    await using home = new TestHome();
    await home.ok(["up"]);
    using holdfast = home.sdk();
    const command = ["sh", "-c", "echo was here; while read -r line; do stty size; echo got $line; done"];
    const session = await holdfast.sessions.create({ agent: "shell", command, host });
    await eventually(async () => text(await session.getOutput()).includes("was here"));
    using terminal = await session.attach({ columns: 100, rows: 30 });
    expect(terminal.role).toBe("driver");
    let shown = "";
    const reading = (async () => {
      for await (const part of terminal) shown += text(part);
    })();
    await eventually(() => shown.includes("was here"));
    terminal.write("hello\r");
    await eventually(() => shown.includes("got hello"));
    expect(shown).toMatch(/(29|30) 100/);
    terminal.resize(70, 20);
    await eventually(async () => (await session.screen()).columns === 70);
    terminal.close();
    await reading;
    expect((await session.refresh()).status).toBe("working");
  });
}

test("groups: members, a coordinator, and values that survive concurrent updates", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  for (const name of ["one", "two"]) await holdfast.sessions.create({ agent: "shell", name, command: ["sleep", "1000"] });
  expect(await holdfast.groups.join("team", "one", "two")).toMatchObject({ path: "team", coordinator: { name: "one" } });
  expect((await holdfast.groups.peers("one")).map(({ name }) => name)).toEqual(["two"]);
  expect(await holdfast.groups.setCoordinator("team", "two")).toMatchObject({ coordinator: { name: "two" } });
  expect(await holdfast.groups.value("team", "plan")).toBeUndefined();
  const { revision } = await holdfast.groups.share("team", "plan", { step: 1 });
  const stale = holdfast.groups.share("team", "plan", { step: 0 }, { ifRevision: 0 });
  await expect(stale).rejects.toMatchObject({ code: "stale_value", details: { current: { value: { step: 1 }, revision } } });
  await Promise.all(Array.from({ length: 20 }, () => holdfast.groups.update("team", "count", (count) => Number(count ?? 0) + 1)));
  expect(await holdfast.groups.value("team", "count")).toMatchObject({ value: 20 });
  // The child group starts with its parent's value, and changes its own.
  await holdfast.groups.create("team/below");
  await holdfast.groups.update("team/below", "count", (count) => Number(count) + 1);
  expect(await holdfast.groups.value("team/below", "count")).toMatchObject({ value: 21, group: "team/below" });
  expect(await holdfast.groups.value("team", "count")).toMatchObject({ value: 20 });

  const over = new AbortController();
  const changes: unknown[] = [];
  const watching = (async () => {
    for await (const { key, value } of holdfast.groups.watch("team", { after: revision, signal: over.signal })) changes.push([key, value]);
  })();
  await eventually(() => changes.length === 1);
  await holdfast.groups.share("team", "plan", { step: 2 });
  await eventually(() => changes.length === 2);
  over.abort();
  await expect(watching).rejects.toMatchObject({ name: "AbortError" });
  expect(changes).toEqual([
    ["count", 20],
    ["plan", { step: 2 }],
  ]);
  expect(await holdfast.groups.stats("team")).toMatchObject({ sessions: { total: 2, alive: 2 } });
  await holdfast.sessions.create({ agent: "demo", chat: true, name: "three", groups: ["team"] });
  const said = await holdfast.groups.send("team", "say aye");
  expect(said).toMatchObject({ group: "team", role: "member", text: "say aye" });
  await holdfast.groups.send("team", "are you there?", { to: "coordinator" });
  const log = await eventually(async () => {
    const found = await holdfast.groups.log("team");
    return JSON.stringify(found).includes('"aye"') && found;
  });
  expect(log.map(({ text, role }) => [text, role])).toEqual([
    ["say aye", "member"],
    ["are you there?", "coordinator"],
  ]);
  await holdfast.groups.unset("team", "plan");
  expect((await holdfast.groups.keys("team")).map(({ key }) => key)).toEqual(["count"]);
  await holdfast.groups.leave("team", "one");
  await holdfast.groups.remove("team", { force: true });
  expect(await holdfast.groups.list()).toEqual([]);
});

test("connect starts a daemon if none runs, unless told not to", async () => {
  await using home = new TestHome();
  const told = await printed(
    home,
    `import { connect, DaemonUnreachable } from "@holdfast/sdk";
    const refused = await connect({ start: false }).catch((error) => error);
    console.log(refused instanceof DaemonUnreachable, refused.hint);
    using holdfast = await connect();
    const { actor, pid } = await holdfast.status();
    process.kill(pid, "SIGKILL");
    console.log(actor.startsWith("user:"), (await holdfast.status()).pid !== pid);`,
  );
  expect(told.split("\n")).toEqual([expect.stringMatching(/^true start it: holdfast up/), "true true", ""]);
  const missing = await printed(
    home,
    `import { connect } from "@holdfast/sdk";
    const { code, message } = await connect({ home: ${JSON.stringify(path.join(home.root, "other"))}, program: "/nowhere/holdfast" }).catch((error) => error);
    console.log(code, message);`,
  );
  expect(missing).toMatch(/^daemon_unreachable the daemon is not running, and holdfast cannot be started/);
});

test("inside a session a program acts as the session; a wrong token and a too narrow scope have distinct errors", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const { listen } = await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"]);
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", "observer", "--name", "looker"]);
  using looker = await connect({ url: listen.url, token });
  expect((await looker.status()).actor).toBe("token:looker");
  const refused = await looker.sessions.create({ agent: "demo", cwd: home.root }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PermissionRefused);
  expect(refused).toBeInstanceOf(HoldfastError);
  expect(refused).toMatchObject({ code: "forbidden", name: "PermissionRefused" });
  await expect(connect({ url: listen.url, token: "hft_wrong" })).rejects.toBeInstanceOf(Unauthenticated);
  await expect(connect({ url: "http://127.0.0.1:9" })).rejects.toBeInstanceOf(DaemonUnreachable);

  const inside = program(
    home,
    `import { connect } from "@holdfast/sdk";
    using holdfast = await connect();
    const { actor } = await holdfast.status();
    const child = await holdfast.sessions.create({ agent: "shell", command: ["true"] });
    console.log(actor === "session:" + process.env.HOLDFAST_SESSION, child.record.parent === process.env.HOLDFAST_SESSION);`,
  );
  await home.ok(["run", "--name", "inside", "--", process.execPath, inside]);
  await home.ended("inside");
  expect(await home.ok(["logs", "inside"])).toBe("true true\n");
});
