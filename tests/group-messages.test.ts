/** Messages to groups and their coordinators, from persons and agents. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { GroupMessage, Message, ReadMessage } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { eventually, TestHome } from "./home.ts";
import { McpClient, sessionWithToken } from "./mcp-client.ts";

/** Passive shells and one conversation in a group. */
async function team(home: TestHome, group: string, ...names: string[]): Promise<void> {
  for (const name of names) await home.run("exec sleep 1000", "--name", name);
  await join(home, group, ...names);
}

async function join(home: TestHome, group: string, ...sessions: string[]): Promise<void> {
  using client = home.client();
  await client.call("joinGroup", { params: { group }, body: { sessions } });
}

async function readAs(home: TestHome, name: string): Promise<ReadMessage[]> {
  using client = await clientAs(home, name);
  return (await client.call("readMessages", { body: {} })).messages;
}

test("a message to a group reaches each other member once, with its own receipts, and the log shows the outcome (GRP-05 together, GRP-12 together)", async () => {
  await using home = new TestHome();
  await team(home, "team", "one", "two");
  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  await home.until("talk", ({ status }) => status === "idle");
  await home.ok(["spawn", "demo", "--name", "screen", "--", "--fast"]);
  await home.until("screen", ({ status }) => status === "idle");
  await join(home, "team", "talk", "screen");
  let sent: GroupMessage;
  {
    using one = await clientAs(home, "one");
    sent = await one.call("sendToGroup", { params: { group: "team" }, body: { text: "the API is frozen" } });
    expect(sent).toMatchObject({ group: "team", role: "member", fromName: "one", thread: sent.id });
    expect(sent.to.map(({ name }) => name)).toEqual(["two", "talk", "screen"]);
    // A repeated id is the same message.
    expect(await one.call("sendToGroup", { params: { group: "team" }, body: { id: sent.id, text: "the API is frozen" } })).toMatchObject({
      id: sent.id,
    });
  }
  const log = await eventually(async () => {
    using client = home.client();
    const { messages } = await client.call("groupLog", { params: { group: "team" } });
    return messages[0]?.to.slice(1).every(({ state }) => state === "replied") && messages;
  });
  expect(log.map(({ id }) => id)).toEqual([sent.id]);
  // Unread: nothing was typed into a shell, and no receipt claims so.
  expect(log[0]?.to.map(({ name, state, via }) => [name, state, via])).toEqual([
    ["two", "queued", null],
    ["talk", "replied", "protocol"],
    ["screen", "replied", "typed"],
  ]);
  // The scripted agents repeat their prompts.
  for (const { name, reply } of log[0]?.to.slice(1) ?? [])
    expect(reply, name).toContain('from the agent session "one" to the group "team", not from the user; quoted');
  const [copy, ...more] = await readAs(home, "two");
  expect(more).toEqual([]);
  expect(copy?.words).toMatch(
    new RegExp(
      `^\\[Message ${copy?.id} from the agent session "one" to the group "team", not from the user; quoted up to "end (\\w{8})"\\]\n\\| the API is frozen\n\\[end \\1\\]$`,
    ),
  );
  expect(copy).toMatchObject({ sent: sent.id, group: "team", role: "member" });
  expect(await readAs(home, "one")).toEqual([]);
  {
    using two = await clientAs(home, "two");
    const answer = await two.call("sendMessage", { params: { ref: "one" }, body: { text: "so did I", replyTo: sent.id } });
    expect(answer.message).toMatchObject({ thread: sent.id, replyTo: sent.id });
    const { messages } = await two.call("groupLog", { params: { group: "team" } });
    expect(messages[0]?.to[0]).toMatchObject({ name: "two", state: "replied", reply: "so did I" });
    expect(messages[0]?.answers).toMatchObject([{ fromName: "two", name: "one", text: "so did I" }]);
  }
  await home.killDaemon();
  using client = home.client();
  await home.ok(["up"]);
  expect((await client.call("groupLog", { params: { group: "team" } })).messages).toHaveLength(1);
});

test("a message to the coordinator is one message; after its end the next one goes to its successor (GRP-05 together)", async () => {
  await using home = new TestHome();
  await team(home, "team", "first", "second", "third");
  const said = await home.json<GroupMessage>(["group", "send", "team", "--coordinator", "how far are you?"]);
  expect(said.to.map(({ name, state }) => [name, state])).toEqual([["first", "queued"]]);
  expect(await home.ok(["group", "send", "team", "--coordinator", "well?"])).toMatch(
    /^sent to first, who coordinates team, as \w+: 1 queued$/m,
  );
  {
    using first = await clientAs(home, "first");
    await expect(
      first.call("sendToGroup", { params: { group: "team" }, body: { text: "me?", role: "coordinator" } }),
    ).rejects.toMatchObject({
      code: "group_empty",
      message: "the sender itself coordinates team",
    });
  }
  await home.ok(["stop", "first"]);
  const next = await eventually(async () => {
    const sent = await home.json<GroupMessage>(["group", "send", "team", "--coordinator", "and you?"]);
    return sent.to[0]?.name !== "first" && sent;
  });
  expect(next.to.map(({ name }) => name)).toEqual(["second"]);
  expect((await readAs(home, "second")).at(-1)).toMatchObject({ role: "coordinator", text: "and you?", words: "and you?" });
});

test("a message to a coordinator follows the role, once; the log shows messages between peers; send_message waits (mend 22)", async () => {
  await using home = new TestHome();
  await team(home, "team", "first", "second");
  const said = await home.json<GroupMessage>(["group", "send", "team", "--coordinator", "how far are you?"]);
  const copy = said.to[0]?.message ?? "";
  await home.ok(["stop", "first"]);
  const moved = await eventually(async () => {
    const now = (await home.json<Message[]>(["messages"])).find(({ id }) => id === copy);
    return now?.name === "second" && now;
  });
  expect(moved).toMatchObject({ state: "queued", sent: said.id, text: "how far are you?", group: "team" });
  // Nobody is left: the next message goes to the next member.
  await home.ok(["stop", "second"]);
  await eventually(async () => {
    const [now] = await home.json<Message[]>(["messages"]);
    return now?.state === "queued" && now.why === "team has no coordinator; the message waits for the next one";
  });
  await home.ok(["rm", "first", "second"]);
  await home.killDaemon();
  await home.ok(["up"]);
  const third = await sessionWithToken(home, "third");
  await join(home, "team", "third");
  expect((await readAs(home, "third")).map(({ id, text }) => [id, text])).toEqual([[copy, "how far are you?"]]);
  expect(await readAs(home, "third")).toEqual([]);

  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  await home.until("talk", ({ status }) => status === "idle");
  await join(home, "team", "talk");
  await home.ok(["group", "coordinator", "team", "talk"]);
  await using mcp = await McpClient.stdio(home, third);
  for (const to of ["coordinator:team", "group:team"]) {
    const sent = await mcp.ok("send_message", { to, text: "say done", wait_ms: 60_000 });
    expect(sent.to, to).toMatchObject([{ name: "talk", state: "replied", reply: "done" }]);
  }
  await mcp.ok("send_message", { to: "talk", text: "say psst", wait_ms: 60_000 });
  const { messages: log } = (await mcp.ok("group_log", { group: "team" })) as unknown as { messages: GroupMessage[] };
  expect(log.map(({ role, text }) => [role, text])).toEqual([
    ["coordinator", "how far are you?"],
    ["coordinator", "say done"],
    ["member", "say done"],
    ["direct", "say psst"],
  ]);
  expect(await home.ok(["group", "log", "team"])).toMatch(/from third, to talk alone, .*1 replied\n {2}say psst\n {2}talk: psst/);
});

test("group send --coordinator --wait prints the coordinator's answer; invalid combinations are refused (GRP-05 together)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "lead", "--group", "team"]);
  expect(await home.ok(["group", "send", "team", "--coordinator", "how far are you?", "--wait", "--timeout", "2m"])).toMatch(/is done/);
  const refusals: [string[], string][] = [
    [
      ["group", "send", "team", "all of you?", "--wait"],
      "each member answers separately\n  omit --wait; then run: holdfast group log team",
    ],
    [["group", "send", "team", "x", "--timeout", "1m"], "--timeout has no effect without --wait"],
    [["group", "send", "team", "--coordinator", "x", "--expires", "0s"], "--expires takes a duration of at least 1ms"],
    [["send", "lead", "x", "--expires", "0s"], "--expires takes a duration of at least 1ms"],
    [["group", "log", "team", "--limit", "0"], "--limit takes a whole number from 1"],
  ];
  for (const [args, says] of refusals)
    expect(await home.cli(args), args.join(" ")).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });
});

test("a message to a parent group reaches the members of its children once each, and never the reverse (GRP-09 together)", async () => {
  await using home = new TestHome();
  await team(home, "team", "boss", "both");
  await team(home, "team/research", "reader");
  await join(home, "team/research", "both");
  const down = await home.json<GroupMessage>(["group", "send", "team", "all hands"]);
  expect(down.to.map(({ name }) => name).sort()).toEqual(["boss", "both", "reader"]);
  const below = await home.json<GroupMessage>(["group", "send", "team/research", "only us"]);
  expect(below.to.map(({ name }) => name).sort()).toEqual(["both", "reader"]);
  expect((await readAs(home, "boss")).map(({ text }) => text)).toEqual(["all hands"]);
  expect((await readAs(home, "both")).map(({ text }) => text)).toEqual(["all hands", "only us"]);
});

test("peers may write to each other and to their groups, and to no others (NEW-05 together, BG-06 together)", async () => {
  await using home = new TestHome();
  await team(home, "team", "one", "two");
  await team(home, "other", "stranger");
  using one = await clientAs(home, "one");
  const { message } = await one.call("sendMessage", { params: { ref: "two" }, body: { text: "psst", steer: true } });
  expect(message).toMatchObject({ state: "queued", name: "two" });
  expect((await readAs(home, "two")).map(({ text }) => text)).toEqual(["psst"]);
  expect(await one.call("getMessage", { params: { id: message?.id ?? "" } })).toMatchObject({ state: "injected", via: "read" });
  await expect(one.call("sendMessage", { params: { ref: "stranger" }, body: { text: "hello" } })).rejects.toMatchObject({
    code: "forbidden",
  });
  for (const [call, body] of [
    ["sendToGroup", { text: "hello" }],
    ["sendToGroup", { text: "hello", role: "coordinator" as const }],
  ] as const) {
    await expect(one.call(call, { params: { group: "other" }, body })).rejects.toMatchObject({ code: "forbidden" });
  }
  await expect(one.call("groupLog", { params: { group: "other" } })).rejects.toMatchObject({ code: "forbidden" });
  expect((await home.json<Message[]>(["messages", "stranger"])).length).toBe(0);
});

test("a group without other live members says so, and ended members get nothing", async () => {
  await using home = new TestHome();
  await team(home, "team", "alive", "over");
  await home.ok(["stop", "over"]);
  using alive = await clientAs(home, "alive");
  await expect(alive.call("sendToGroup", { params: { group: "team" }, body: { text: "anybody?" } })).rejects.toMatchObject({
    code: "group_empty",
    message: expect.stringContaining("no other member of team is"),
  });
  expect((await home.json<GroupMessage>(["group", "send", "team", "hello"])).to.map(({ name }) => name)).toEqual(["alive"]);
  expect(await home.cli(["group", "send", "nowhere", "hello"])).toMatchObject({ code: 3 });
});

test("a peer's steering message interrupts nobody: the turn continues, and the message arrives in it or after it (GRP-05 together)", async () => {
  await using home = new TestHome();
  await team(home, "team", "one");
  const go = path.join(home.root, "go");
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--prompt", `say begun; until ${go}; say ended`]);
  await home.until("talk", ({ status }) => status === "working");
  await join(home, "team", "talk");
  using one = await clientAs(home, "one");
  const { message } = await one.call("sendMessage", { params: { ref: "talk" }, body: { text: "psst", steer: true } });
  writeFileSync(go, "");
  const [first] = await home.json<Message[]>(["messages", "talk"]);
  const done = await eventually(async () => {
    using client = home.client();
    const now = await client.call("getMessage", { params: { id: message?.id ?? "" } });
    return now.state === "replied" && now;
  });
  using client = home.client();
  expect(await client.call("getMessage", { params: { id: first?.id ?? "" } })).toMatchObject({ state: "replied" });
  expect(done.via).toBe("protocol");
  const { events } = await client.call("listEvents", { query: { session: "talk", type: ["turn.ended"] } });
  expect(events.map(({ data }) => data.reason)).toEqual(events.map(() => "completed"));
});
