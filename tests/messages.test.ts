/** Mailboxes: messages to persons, to peers and to programs that read them; threads and expiry. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Message, ReadMessage, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs, tokenOf } from "./as-session.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

/** A shell that started another shell. */
async function family(home: TestHome): Promise<void> {
  await home.run(`${HOLDFAST} run --name child -- sleep 1000; exec sleep 1000`, "--name", "parent");
  await eventually(async () => (await home.cli(["show", "child"])).code === 0);
}

async function messageOf(home: TestHome, id: string): Promise<Message> {
  using client = home.client();
  return client.call("getMessage", { params: { id } });
}

test("a person reads an agent's message once, and the answer goes back in the same thread (GRP-05 together)", async () => {
  await using home = new TestHome();
  await family(home);
  using child = await clientAs(home, "child");
  const asked = await child.call("sendToPerson", { params: { person: "owner" }, body: { text: "which database?" } });
  expect(asked).toMatchObject({
    state: "queued",
    session: null,
    principal: asked.name,
    fromName: "child",
    why: expect.stringContaining("read"),
  });
  expect(asked.thread).toBe(asked.id);

  const [read, ...more] = await home.json<ReadMessage[]>(["messages", "--mine"]);
  expect([read?.id, read?.text, more]).toEqual([asked.id, "which database?", []]);
  expect(read?.words).toContain(`[Message ${asked.id} from the agent session "child", not from the user; quoted up to "end `);
  expect(read?.words).toMatch(/"end (\w{8})"\]\n\| which database\?\n\[end \1\]$/);
  expect(await home.json(["messages", "--mine"])).toEqual([]);
  expect(await messageOf(home, asked.id)).toMatchObject({ state: "injected", via: "read", settled: false });

  const answer = await home.json<Message>(["send", "--reply-to", asked.id, "the old one"]);
  expect(answer).toMatchObject({ name: "child", replyTo: asked.id, thread: asked.id, state: "queued" });
  expect(await child.call("getMessage", { params: { id: asked.id } })).toMatchObject({ state: "replied", reply: "the old one" });
  expect((await child.call("readMessages", { body: {} })).messages).toMatchObject([
    { id: answer.id, text: "the old one", words: "the old one" },
  ]);
  expect((await home.json<Message[]>(["messages", "--thread", asked.id])).map(({ id }) => id)).toEqual([asked.id, answer.id]);
});

test("send --wait of a person waits for another person's answer", async () => {
  await using home = new TestHome();
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", "driver", "--name", "kim"]);
  const env = { HOLDFAST_TOKEN: token };
  const waiting = home.ok(["send", "--to", "token:kim", "lunch?", "--wait"]);
  const [read] = await eventually(async () => {
    const messages = await home.json<ReadMessage[]>(["messages", "--mine", "--wait", "1s"], { env });
    return messages.length > 0 && messages;
  });
  await home.ok(["send", "--reply-to", read?.id ?? "", "at noon"], { env });
  expect(await waiting).toBe("at noon\n");
  expect((await home.cli(["send", "--to", "user:nobody", "hello"])).stderr).toContain("cannot read messages here");
  const late = await home.cli(["send", "--to", "owner", "and now?", "--wait", "--timeout", "50ms"]);
  expect(late.code).toBe(16);
  const [, thread = ""] = /check it: holdfast messages --thread (\w+)/.exec(late.stderr) ?? [];
  expect(await home.ok(["messages", "--thread", thread])).toContain("and now?");
});

test("a session may write to its parent, its children and persons, and to nobody else (NEW-05 together)", async () => {
  await using home = new TestHome();
  await family(home);
  await home.run("exec sleep 1000", "--name", "stranger");
  using child = await clientAs(home, "child");
  const { message } = await child.call("sendMessage", { params: { ref: "parent" }, body: { text: "done" } });
  expect(message).toMatchObject({ state: "queued", name: "parent", fromName: "child" });
  expect(await child.call("getMessage", { params: { id: message?.id ?? "" } })).toMatchObject({ text: "done" });
  await expect(child.call("sendMessage", { params: { ref: "stranger" }, body: { text: "psst" } })).rejects.toMatchObject({
    code: "forbidden",
    message: expect.stringContaining("neither this session, a child, its parent nor a peer"),
  });
  // Unrelated messages are forbidden.
  const other = await home.json<Message>(["send", "--to", "owner", "a note to myself"]);
  await expect(child.call("getMessage", { params: { id: other.id } })).rejects.toMatchObject({ code: "forbidden" });
  await expect(child.call("sendToPerson", { params: { person: "owner" }, body: { text: "x", replyTo: other.id } })).rejects.toMatchObject({
    code: "forbidden",
  });
  expect((await child.call("listMessages", {})).messages.map(({ text }) => text)).toEqual(["done"]);
});

test("a child's message to its parent's shell is never typed there: it waits until it is read (BG-06 together)", async () => {
  await using home = new TestHome();
  const script = `${HOLDFAST} run --name child -- sleep 1000; while read -r line; do echo "typed: $line"; done`;
  await home.run(script, "--name", "parent");
  await eventually(async () => (await home.cli(["show", "child"])).code === 0);
  using child = await clientAs(home, "child");
  await child.call("sendMessage", { params: { ref: "parent" }, body: { text: "rm -rf /", steer: true } });
  await home.ok(["send", "parent", "a person types"]);
  await eventually(async () => (await home.ok(["logs", "parent"])).includes("typed: a person types"));
  expect(await home.ok(["logs", "parent"])).not.toContain("rm -rf");
  const env = { HOLDFAST_TOKEN: await tokenOf(home, "parent") };
  expect(await home.ok(["messages", "--mine"], { env })).toMatch(
    /from child.*\n {2}\[Message \w+ from the agent session "child", not from the user; quoted up to "end \w+"\]\n {2}\| rm -rf \//,
  );
  // An unread message fails when the session ends.
  const { message } = await child.call("sendMessage", { params: { ref: "parent" }, body: { text: "too late" } });
  await home.ok(["stop", "parent"]);
  const late = await eventually(async () => {
    const now = await messageOf(home, message?.id ?? "");
    return now.state === "failed" && now;
  });
  expect(late).toMatchObject({ known: true, why: "the session has ended without reading it" });
});

test("a read repeated with its id, even after a daemon kill, returns the same messages, each once (NEW-01 together)", async () => {
  await using home = new TestHome();
  await family(home);
  const texts = ["one", "two", "three"];
  {
    using child = await clientAs(home, "child");
    for (const text of texts) await child.call("sendMessage", { params: { ref: "parent" }, body: { text } });
  }
  const read = "areadingaa";
  {
    using parent = await clientAs(home, "parent");
    const { messages, more } = await parent.call("readMessages", { body: { read, limit: 2 } });
    expect([messages.map(({ text }) => text), more]).toEqual([["one", "two"], true]);
  }
  await home.killDaemon();
  await home.ok(["up"]);
  using parent = await clientAs(home, "parent");
  const again = await parent.call("readMessages", { body: { read, limit: 2 } });
  expect(again.messages.map(({ text, state, via }) => [text, state, via])).toEqual([
    ["one", "injected", "read"],
    ["two", "injected", "read"],
  ]);
  expect((await parent.call("readMessages", { body: {} })).messages.map(({ text }) => text)).toEqual(["three"]);
  expect((await parent.call("readMessages", { body: {} })).messages).toEqual([]);
  // Another session's read id reveals nothing.
  using child = await clientAs(home, "child");
  expect((await child.call("readMessages", { body: { read } })).messages).toEqual([]);
});

test("a message sent again with its id is one message, even across a daemon kill (NEW-01 together)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const body = { text: "once", id: "asentoncea" };
  {
    using client = home.client();
    await client.call("sendToPerson", { params: { person: "owner" }, body });
  }
  await home.killDaemon();
  await home.ok(["up"]);
  using client = home.client();
  await client.call("sendToPerson", { params: { person: "owner" }, body });
  expect((await home.json<Message[]>(["messages", "--mine", "--peek"])).map(({ text }) => text)).toEqual(["once"]);
  await expect(client.call("sendToPerson", { params: { person: "owner" }, body: { ...body, text: "another" } })).rejects.toMatchObject({
    code: "usage",
  });
});

test("a message that an agent reads during its turn is not delivered again after it (GRP-05 together)", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.ok(["spawn", "--chat", "demo", "--name", "busy", "--prompt", `until ${go}`]);
  await home.until("busy", ({ status }) => status === "working");
  const first = await home.json<Message>(["send", "busy", "say first", "--no-wait"]);
  const second = await home.json<Message>(["send", "busy", "say second", "--no-wait"]);
  using busy = await clientAs(home, "busy");
  const { messages } = await busy.call("readMessages", { body: { limit: 1 } });
  expect(messages.map(({ id }) => id)).toEqual([first.id]);
  writeFileSync(go, "");
  await eventually(async () => (await messageOf(home, second.id)).state === "replied");
  expect(await messageOf(home, first.id)).toMatchObject({ state: "injected", via: "read" });
  expect(await home.ok(["transcript", "busy"])).not.toContain("first");
});

test("an expired message is delivered to nobody, even after kills", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.ok(["spawn", "--chat", "demo", "--name", "busy", "--prompt", `until ${go}`]);
  await home.until("busy", ({ status }) => status === "working");
  const late = await home.json<Message>(["send", "busy", "say late", "--expires", "1s", "--no-wait"]);
  const kept = await home.json<Message>(["send", "busy", "say kept", "--expires", "1h", "--no-wait"]);
  expect(Date.parse(late.expiresAt ?? "") - Date.parse(late.queuedAt)).toBeLessThan(1500);
  await home.killDaemon();
  await eventually(() => Date.now() > Date.parse(late.expiresAt ?? ""));
  writeFileSync(go, "");
  await home.ok(["up"]);
  await eventually(async () => (await messageOf(home, kept.id)).state === "replied");
  expect(await messageOf(home, late.id)).toMatchObject({
    state: "failed",
    known: true,
    why: "it expired before it could be delivered",
  });
  expect(await home.ok(["transcript", "busy"])).not.toContain("late");
});

test("the session list reports the number of unread messages to its caller", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "worker");
  using worker = await clientAs(home, "worker");
  for (const text of ["one", "two"]) await worker.call("sendToPerson", { params: { person: "owner" }, body: { text } });
  using client = home.client();
  expect(await client.call("listSessions", {})).toMatchObject({ unread: 2 });
  expect(await worker.call("listSessions", {})).toMatchObject({ unread: 0 });
  const sessions = await home.json<Session[]>(["ls"]);
  expect(sessions.map(({ name }) => name)).toEqual(["worker"]);
});
