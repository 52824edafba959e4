/** Groups as agents use them: only by tools, between sessions that formed the group themselves. */
import type { Group, Message, SharedValue } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { TestHome } from "./home.ts";
import { McpClient, sessionWithToken } from "./mcp-client.ts";

test("every group verb is a tool, and sessions coordinate with these tools (GRP-10 together)", async () => {
  await using home = new TestHome();
  const [ada, bob] = [await sessionWithToken(home, "ada"), await sessionWithToken(home, "bob")];
  await using first = await McpClient.stdio(home, ada);
  await using second = await McpClient.stdio(home, bob);

  expect(await first.ok("create_group", { group: "team", limit: 3 })).toMatchObject({
    path: "team",
    limit: 3,
    coordinator: { name: "ada" },
  });
  await first.ok("run_shell", { name: "kid", command: "sleep 1000" });
  expect(await first.ok("join_group", { group: "team", sessions: ["kid"] })).toMatchObject({ members: [{ name: "ada" }, { name: "kid" }] });
  expect(await second.refused("join_group", { group: "team" })).toMatch(/^forbidden: /);
  await home.ok(["group", "join", "team", "bob"]);
  expect(await first.ok("leave_group", { group: "team", session: "kid" })).toMatchObject({ members: [{ name: "ada" }, { name: "bob" }] });
  expect(await second.ok("list_groups")).toMatchObject({ groups: [{ path: "team" }] });
  expect(await second.ok("list_peers")).toMatchObject({ peers: [{ name: "ada", coordinator: true, groups: ["team"] }] });

  const shared = await first.ok("share_context", { group: "team", key: "port", value: { port: 3000 }, if_revision: 0 });
  expect(await second.ok("get_shared_context", { group: "team", key: "port" })).toMatchObject({
    value: { port: 3000 },
    author: `session:${ada.id}`,
    revision: shared.revision,
  });
  const stale = await second.call("share_context", { group: "team", key: "port", value: 1, if_revision: 0 });
  expect([stale.isError, stale.text]).toEqual([true, expect.stringMatching(/^stale_value: [\s\S]*"port":3000/)]);
  const heard: string[] = [];
  const watching = second.ok(
    "watch_context",
    { group: "team", after: shared.revision },
    { onprogress: ({ message = "" }) => void heard.push(message) },
  );
  await first.ok("share_context", { group: "team", key: "host", value: "box" });
  const { changes, revision } = (await watching) as unknown as { changes: SharedValue[]; revision: number };
  expect(changes).toMatchObject([{ key: "host", value: "box" }]);
  expect(await second.ok("watch_context", { group: "team", after: revision, timeout_ms: 50 })).toMatchObject({ changes: [], revision });
  const { values } = (await second.ok("list_shared_context", { group: "team" })) as unknown as { values: SharedValue[] };
  expect(values.map(({ key }) => key).sort()).toEqual(["host", "port"]);
  await second.ok("delete_shared_context", { group: "team", key: "host" });
  expect(await first.refused("get_shared_context", { group: "team", key: "host" })).toMatch(/^value_not_found: /);

  // A peer's message is never typed into a shell: it waits until it is read.
  const sent = await second.ok("send_message", { to: "ada", text: "the port is taken" });
  expect(sent).toMatchObject({ to: "ada", state: "queued" });
  const { messages } = (await first.ok("read_messages")) as unknown as { messages: (Message & { from: string })[] };
  expect(messages).toMatchObject([
    { id: sent.id, from: "bob", text: expect.stringMatching(/from the agent session "bob"[\s\S]*the port is taken/) },
  ]);
  const waiting = second.ok("read_messages", { wait_ms: 60_000 });
  await first.ok("send_message", { to: "bob", text: "then take 3001", reply_to: sent.id });
  expect(await waiting).toMatchObject({ messages: [{ from: "ada", replyTo: sent.id, thread: sent.id }] });
  expect(await first.ok("send_message", { to: "owner", text: "we are done" })).toMatchObject({
    state: "queued",
    to: expect.stringMatching(/^user:/),
  });

  // To all members, and to the coordinator.
  await first.ok("send_message", { to: "group:team", text: "stand-up" });
  await second.ok("send_message", { to: "coordinator:team", text: "here" });
  expect(await second.ok("read_messages")).toMatchObject({ messages: [{ from: "ada", group: "team" }] });
  expect(await first.ok("read_messages")).toMatchObject({ messages: [{ from: "bob", group: "team" }] });
  expect(await second.ok("group_log", { group: "team" })).toMatchObject({
    messages: [
      { role: "direct", text: "the port is taken" },
      { role: "direct", text: "then take 3001" },
      { role: "member", text: "stand-up" },
      { role: "coordinator", text: "here" },
    ],
  });

  const handed = await first.ok("set_coordinator", { group: "team", session: "bob" });
  expect((handed as unknown as Group).coordinator).toMatchObject({ name: "bob" });
  expect(await second.ok("show_group", { group: "team" })).toMatchObject({ coordinator: { name: "bob" }, keys: 1 });
  expect(await second.ok("group_stats", { group: "team" })).toMatchObject({ sessions: { total: 2, alive: 2 } });
  expect(await second.ok("leave_group", { group: "team" })).toMatchObject({ members: [{ name: "ada" }], coordinator: { name: "ada" } });

  // A former member has no access.
  expect(await second.refused("get_shared_context", { group: "team", key: "port" })).toMatch(/^forbidden: /);
  expect(await second.refused("share_context", { group: "team", key: "port", value: 1 })).toMatch(/^forbidden: /);
  for (const tool of ["list_shared_context", "watch_context", "group_stats", "show_group", "group_log"]) {
    expect(await second.refused(tool, { group: "team" }), tool).toMatch(/^forbidden: /);
  }
});

test("a session gets the events of its own groups only", async () => {
  await using home = new TestHome();
  const ada = await sessionWithToken(home, "ada");
  await home.run("exec sleep 1000", "--name", "bob");
  await home.run("exec sleep 1000", "--name", "else");
  await home.ok(["group", "join", "team", "ada", "bob"]);
  await home.ok(["group", "join", "others", "else"]);
  await using mcp = await McpClient.stdio(home, ada);
  await home.ok(["group", "share", "team", "goal", "1"]);
  await home.ok(["group", "share", "others", "secret", "2"]);
  await home.ok(["group", "create", "team/below"]);
  await home.ok(["group", "send", "team", "all hands"]);

  using asAda = await clientAs(home, "ada");
  const heard = async (query: { group?: string } = {}) => {
    const { events } = await asAda.call("listEvents", { query });
    return events.filter(({ type }) => type.startsWith("group.")).map(({ type, data }) => `${type} ${data.group}`);
  };
  const ofTeam = ["created", "joined", "joined", "coordinator_changed", "value_shared", "message_sent"].map((what) => `group.${what} team`);
  expect(await heard()).toEqual(ofTeam);
  expect(await heard({ group: "team" })).toEqual(ofTeam);
  await expect(heard({ group: "others" })).rejects.toMatchObject({ code: "forbidden" });

  // Also by the tool; from the cursor on, so that order does not matter.
  const from = await mcp.ok("event_monitor", { group: "team", duration_ms: 1 });
  await home.ok(["group", "share", "team", "goal", "2"]);
  expect(await mcp.ok("event_monitor", { group: "team", after: from.cursor, max_items: 1 })).toMatchObject({
    items: [{ type: "group.value_shared", data: { group: "team", key: "goal", value: 2 } }],
    endedBy: "max_items",
  });
  expect(await mcp.refused("event_monitor", { group: "others" })).toMatch(/^forbidden: /);
  expect(await mcp.refused("event_monitor", {})).toContain("pass either name or group");

  // A former member gets no more events; members get the removal.
  await home.ok(["group", "leave", "team", "ada"]);
  await home.ok(["group", "rm", "--force", "team"]);
  expect(await heard()).toEqual(["group.joined team", "group.coordinator_changed team", "group.left team"]);
  using asBob = await clientAs(home, "bob");
  const { events } = await asBob.call("listEvents", { query: { type: ["group.removed"] } });
  expect(events.map(({ data }) => data.group)).toEqual(["team"]);
});

test("the creator of a group gets no events of a removed group with the same name", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "else");
  await home.ok(["group", "join", "team", "else"]);
  await home.ok(["group", "share", "team", "secret", "1"]);
  await home.ok(["group", "rm", "--force", "team"]);
  await sessionWithToken(home, "ada");
  using asAda = await clientAs(home, "ada");
  await asAda.call("createGroup", { body: { path: "team" } });
  await asAda.call("shareValue", { params: { group: "team", key: "mine" }, body: { value: 2 } });
  for (const query of [{}, { group: "team" }]) {
    const { events } = await asAda.call("listEvents", { query: { ...query, type: ["group.value_shared", "group.created"] } });
    expect(events.map(({ data }) => data.key ?? null)).toEqual([null, "mine"]);
  }
});
