/** Holdfast's tools as agents use them: with the MCP SDK's own client, over stdio and HTTP. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Approval, AuditEntry, NewToken, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { McpClient, sessionWithToken } from "./mcp-client.ts";

const PROMISED =
  "spawn_agent list_agents show_agent send_message read_messages wait_for event_monitor task_stop run_shell shell_output join_group leave_group list_groups list_peers share_context get_shared_context list_shared_context delete_shared_context watch_context create_group set_group_goal show_group group_log group_stats set_coordinator request_approval ask_human answer_approval read_working_context update_working_context report_progress read_transcript";

test("every tool has a schema and a description", async () => {
  await using home = new TestHome();
  await using mcp = await McpClient.stdio(home);
  const { tools } = await mcp.client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(PROMISED.split(" ").sort());
  for (const { name, description = "", inputSchema } of tools) {
    expect(description.length, name).toBeGreaterThan(30);
    expect(inputSchema.type, name).toBe("object");
    for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
      expect(schema, `${name}.${field}`).toHaveProperty("description");
  }
  expect(await mcp.refused("spawn_agent", { agent: 7 })).toContain("usage: spawn_agent: agent:");
  await expect(mcp.call("no_such_tool")).rejects.toThrow("there is no tool named no_such_tool");
});

test("a session starts children by its tools, talks to them, waits for them and stops them with all their descendants (SYM-14 together, BG-02 together, BG-06 together)", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  const go = path.join(home.root, "go");
  const child = await mcp.ok("spawn_agent", { agent: "demo", name: "child", prompt: `until ${go}; say done with that` });
  expect(child).toMatchObject({ name: "child", agent: "demo", kind: "conversation", parent: parent.id });

  const heard: string[] = [];
  const onprogress = ({ message = "" }: { message?: string }) => void heard.push(message);
  const settled = mcp.ok("wait_for", { names: ["child"] }, { onprogress });
  // Not the last status: a client may read it together with the result, and then passes on only the result.
  await eventually(() => heard.includes("child is working"));
  writeFileSync(go, "");
  expect(await settled).toMatchObject({ reached: true, sessions: [{ status: "idle" }] });
  expect(await mcp.ok("show_agent", { name: "child" })).toMatchObject({ lastReply: "done with that", turns: 1 });
  expect(await mcp.ok("send_message", { to: "child", text: "say more of it", wait_ms: 20_000 })).toMatchObject({
    state: "replied",
    reply: "more of it",
  });

  const shell = await mcp.ok("run_shell", { command: "echo one; sleep 1000", name: "serve" });
  const first = shell.output === "" ? await mcp.ok("shell_output", { name: "serve", wait_ms: 30_000 }) : shell;
  expect(first).toMatchObject({ output: "one\n", ended: false });
  expect(await mcp.ok("shell_output", { name: "serve", from: first.next, wait_ms: 50 })).toMatchObject({ output: "", next: first.next });
  expect(await mcp.ok("run_shell", { command: "echo two; exit 3", wait_ms: 20_000 })).toMatchObject({
    output: "two\n",
    ended: true,
    exit: { code: 3 },
  });

  // A child with its own children.
  const { id, token } = await grandparent(home, mcp);
  await using below = await McpClient.stdio(home, { token });
  await below.ok("run_shell", { command: "sleep 1000", name: "grandchild" });
  const { pid } = await home.session("grandchild");
  const stopped = await mcp.ok("task_stop", { name: "middle", grace_ms: 1000 });
  expect(stopped.killed, "also those of what it started").toContainEqual(expect.objectContaining({ pid }));
  expect(stopped).toMatchObject({ id, status: "stopped", stopped: expect.arrayContaining(["middle", "grandchild"]) });
  // The command that ended with 3 is listed too, until a person has viewed it.
  const listed = (await home.json<Session[]>(["ls"])).filter(({ status }) => status !== "failed");
  expect(listed.map(({ name }) => name).sort()).toEqual(["child", "parent", "serve"]);
  expect(await mcp.ok("task_stop", { name: "serve" })).toMatchObject({ status: "stopped" });
  expect(await mcp.ok("task_stop", { name: "child" })).toMatchObject({ status: "stopped" });
});

test("a dead child's answer is not awaited; its next run gets the waiting messages", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await mcp.ok("spawn_agent", { agent: "demo", name: "child", prompt: "sleep 60000" });
  const { pid } = await home.until("child", ({ status }) => status === "working");
  const waiting = mcp.ok("send_message", { to: "child", text: "say later", wait_ms: 50_000 });
  await eventually(async () => (await home.ok(["messages", "child"])).includes("say later"));
  process.kill(pid ?? 0, "SIGKILL");
  expect(await waiting).toMatchObject({
    state: "queued",
    why: expect.stringContaining("its next run"),
    hint: expect.stringContaining("holdfast resume child"),
  });
});

/** A running child and its token. */
async function grandparent(home: TestHome, mcp: McpClient): Promise<{ id: unknown; token: string }> {
  const { id } = await mcp.ok("run_shell", { command: 'echo "$HOLDFAST_TOKEN"; exec sleep 1000', name: "middle" });
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", "middle", "--raw"]))?.[0]);
  return { id, token };
}

test("a session's server reaches only itself and its children; the audit shows actions and refusals (NEW-05 together)", async () => {
  await using home = new TestHome();
  const one = await sessionWithToken(home, "one");
  await home.run("exec sleep 1000", "--name", "other");
  await using mcp = await McpClient.stdio(home, one);
  await mcp.ok("run_shell", { command: "sleep 1000", name: "own" });
  const { sessions } = await mcp.ok("list_agents");
  expect((sessions as unknown as Session[]).map(({ name }) => name).sort()).toEqual(["one", "own"]);
  for (const tool of "show_agent task_stop shell_output event_monitor".split(" ")) {
    expect(await mcp.refused(tool, { name: "other" }), tool).toMatch(/^forbidden: /);
  }
  expect(await mcp.refused("wait_for", { names: ["other"] })).toMatch(/^forbidden: /);
  expect(await mcp.refused("read_working_context", { of: "other" })).toMatch(/^forbidden: /);
  expect(await mcp.refused("update_working_context", { of: "other", file: "plan.md", text: "x" })).toMatch(/^forbidden: /);
  const { resources } = await mcp.client.listResources();
  expect(resources.map(({ uri }) => uri).sort()).toEqual([
    "holdfast://sessions/one/context",
    "holdfast://sessions/one/output",
    "holdfast://sessions/own/context",
    "holdfast://sessions/own/output",
  ]);
  await expect(mcp.client.readResource({ uri: "holdfast://sessions/other/output" })).rejects.toThrow("neither this session nor a child");
  const audit = (await home.json<AuditEntry[]>(["audit"])).filter(({ actor }) => actor === `session:${one.id}`);
  expect(audit.map(({ what }) => what)).toEqual(
    expect.arrayContaining(["started own (shell)", expect.stringMatching(/^was refused stopSession|^was refused getSession/)]),
  );
  expect((await home.session("other")).status).toBe("working");

  // Its rights end with its run.
  await home.ok(["stop", "one"]);
  expect(await mcp.refused("list_agents")).toMatch(/^unauthenticated: /);
});

test("event_monitor passes a burst, then limits items per second, and counts the omitted ones (BG-07 together)", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await mcp.ok("run_shell", { name: "flood", command: "while :; do seq 1 50; sleep 0.2; done" });
  const heard: string[] = [];
  const { items, passed, dropped, cursor } = await mcp.ok(
    "event_monitor",
    { name: "flood", source: "output", duration_ms: 60_000, max_items: 7 },
    { onprogress: ({ message = "" }) => void heard.push(message) },
  );
  expect(items).toHaveLength(7);
  expect(passed).toBe(7);
  expect(dropped).toBeGreaterThan(50);
  // The last item may arrive together with the result.
  expect((items as unknown as string[]).slice(0, heard.length)).toEqual(heard);
  expect(heard.length).toBeGreaterThanOrEqual(6);
  expect(Number(cursor)).toBeGreaterThan(200);

  const all = await mcp.ok("event_monitor", { name: "flood", after: "1", duration_ms: 1500, burst: 2, per_second: 0.01 });
  expect(all).toMatchObject({ passed: 2, endedBy: "time", cursor: expect.stringMatching(/:\d+$/) });
  expect((all.items as unknown as { type: string }[])[0]?.type).toBe("session.created");
});

test("a session's question waits in the inbox across the daemon's death, and is answered there (BG-17 together)", async () => {
  await using home = new TestHome();
  const { token } = await sessionWithToken(home, "asker");
  await using mcp = await McpClient.stdio(home, { token });
  const asked = mcp.ok("ask_human", { question: "which colour?", choices: ["red", "blue"], wait_ms: 60_000 });
  const open = await eventually(async () => (await home.json<Approval[]>(["approvals"]))[0]);
  expect(open).toMatchObject({ name: "asker", for: "question", text: "which colour?", channel: "tool", answers: ["answer", "deny"] });
  await home.killDaemon();
  await home.ok(["approvals", "answer", open.id, "blue"]);
  expect(await asked).toMatchObject({ status: "answered", answer: "blue", answeredBy: expect.stringMatching(/^user:/) });

  // A request that timed out stays open and can be queried again.
  const late = await mcp.ok("request_approval", { action: "deploy to production", tool: "deploy", wait_ms: 0 });
  expect(late).toMatchObject({ status: "open", session: "asker" });
  await home.ok(["approvals", "deny", String(late.id), "--reason", "not today"]);
  expect(await mcp.ok("request_approval", { id: late.id })).toMatchObject({ status: "denied", reason: "not today" });

  // A cancelled request is withdrawn.
  const cancel = new AbortController();
  const cancelled = mcp.call("ask_human", { question: "never mind?" }, { signal: cancel.signal });
  cancelled.catch(() => {});
  const third = await eventually(async () => (await home.json<Approval[]>(["approvals"]))[0]);
  cancel.abort();
  await expect(cancelled).rejects.toThrow();
  await eventually(async () => (await home.json<Approval>(["approvals", "show", third.id])).status === "withdrawn");
});

test("a parent answers its children's requests, once each, but not its own or others'; config.toml can forbid it (BG-17 together)", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  const other = await sessionWithToken(home, "other");
  await using mcp = await McpClient.stdio(home, parent);
  await using others = await McpClient.stdio(home, other);
  const file = path.join(home.root, "made");
  await mcp.ok("spawn_agent", { agent: "demo", name: "child", prompt: `ask touch ${file}` });
  await mcp.ok("wait_for", { names: ["child"], until: "waiting" });
  const { approvals } = (await mcp.ok("show_agent", { name: "child" })) as unknown as { approvals: Approval[] };
  const [{ id } = { id: "" }] = approvals;
  expect(await others.refused("answer_approval", { id, decision: "allow" })).toMatch(/^forbidden: /);
  expect(await mcp.ok("answer_approval", { id, decision: "allow" })).toMatchObject({
    status: "allowed",
    answeredBy: `session:${parent.id}`,
  });
  expect(await mcp.ok("wait_for", { names: ["child"] })).toMatchObject({ reached: true, sessions: [{ status: "idle" }] });

  const own = await mcp.ok("request_approval", { action: "rule the world", wait_ms: 0 });
  expect(await mcp.refused("answer_approval", { id: own.id, decision: "allow" })).toContain("a session cannot answer its own requests");
  const audit = await home.json<AuditEntry[]>(["audit"]);
  expect(audit.filter(({ actor }) => actor === `session:${parent.id}`).map(({ what }) => what)).toEqual(
    expect.arrayContaining([expect.stringMatching(/^allowed child: /), expect.stringMatching(/^was refused answerApproval/)]),
  );

  const directory = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), "[approvals]\nparents = false\n");
  await home.ok(["down"]);
  await home.ok(["up"]);
  await mcp.ok("send_message", { to: "child", text: `ask touch ${file}` });
  await mcp.ok("wait_for", { names: ["child"], until: "waiting" });
  expect(await mcp.refused("answer_approval", { id: "child", decision: "allow" })).toContain(
    "does not let sessions answer for their children",
  );
});

test("an agent started elsewhere cannot answer as its user; an approver token answers for all, a driver token does not", async () => {
  await using home = new TestHome();
  const { listen } = await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"]);
  const tokenOf = async (scope: string) =>
    (await home.json<{ token: string }>(["token", "create", "--scope", scope, "--name", scope])).token;
  await using approver = await McpClient.http(listen.url, await tokenOf("approver"));
  await using driver = await McpClient.http(listen.url, await tokenOf("driver"));
  await using elsewhere = await McpClient.stdio(home);
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--prompt", "ask echo done"]);
  const { id } = await eventually(async () => (await home.json<Approval[]>(["approvals"]))[0]);
  const answer = { id, decision: "allow" };
  const refused = await elsewhere.refused("answer_approval", answer);
  expect(refused).toMatch(/^forbidden: an agent cannot answer approvals for its user[\s\S]*token create --scope approver/);
  expect(await driver.refused("answer_approval", answer)).toMatch(/^forbidden: /);
  expect(await approver.ok("answer_approval", answer)).toMatchObject({ status: "allowed", answeredBy: "token:approver" });
});

test("tools keep the Working Context and progress, and two concurrent additions are both kept", async () => {
  await using home = new TestHome();
  const { token } = await sessionWithToken(home, "one");
  await using mcp = await McpClient.stdio(home, { token });
  const written = await mcp.ok("update_working_context", { file: "plan.md", text: "# Plan\n\nfirst" });
  expect(await mcp.refused("update_working_context", { file: "plan.md", text: "x", digest: "old" })).toMatch(/^context_changed: /);
  await Promise.all(["a", "b", "c"].map((text) => mcp.ok("update_working_context", { file: "plan.md", text, append: true })));
  const { files } = (await mcp.ok("read_working_context", { file: "plan.md" })) as unknown as { files: { text: string; digest: string }[] };
  expect(files[0]?.text.trim().split("\n").slice(0, 3)).toEqual(["# Plan", "", "first"]);
  expect(files[0]?.text.trim().split("\n").slice(3).sort()).toEqual(["a", "b", "c"]);
  expect(files[0]?.digest).not.toBe(written.digest);
  const { contents } = await mcp.client.readResource({ uri: "holdfast://sessions/one/context" });
  expect((contents[0] as { text: string }).text).toContain("# plan.md\n\n# Plan");

  await mcp.ok("report_progress", { text: "running the tests", done: 3, total: 7 });
  expect((await home.session("one")).progress).toMatchObject({ text: "running the tests", done: 3, total: 7 });
  expect(await home.ok(["show", "one"])).toMatch(/progress +3\/7: running the tests/);
});

test("over HTTP the same tools work with any token, and a call can be cancelled", async () => {
  await using home = new TestHome();
  const { listen } = await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"]);
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.http(listen.url, parent.token);
  await using stdio = await McpClient.stdio(home, parent);
  expect(await mcp.client.listTools()).toEqual(await stdio.client.listTools());
  expect(await mcp.ok("run_shell", { command: "echo over http", wait_ms: 20_000 })).toMatchObject({ output: "over http\n", ended: true });
  const heard: string[] = [];
  const go = path.join(home.root, "go");
  await mcp.ok("spawn_agent", { agent: "demo", name: "child", prompt: `until ${go}; say hello` });
  const settled = mcp.ok("wait_for", { names: ["child"] }, { onprogress: ({ message = "" }) => void heard.push(message) });
  await eventually(() => heard.includes("child is working"));
  writeFileSync(go, "");
  expect(await settled).toMatchObject({ sessions: [{ status: "idle" }] });
  const { contents } = await mcp.client.readResource({ uri: "holdfast://sessions/child/transcript" });
  expect((contents[0] as { text: string }).text).toContain("hello");

  const cancel = new AbortController();
  const asked = mcp.call("ask_human", { question: "still there?" }, { signal: cancel.signal });
  asked.catch(() => {});
  const open = await eventually(async () => (await home.json<Approval[]>(["approvals"]))[0]);
  cancel.abort();
  await eventually(async () => (await home.json<Approval>(["approvals", "show", open.id])).status === "withdrawn");

  // Requests without a token, for another host, or from a web page are refused.
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const post = async (more: Record<string, string>) =>
    (await fetch(`${listen.url}/mcp`, { method: "POST", body, headers: { ...headers, ...more } })).status;
  const authorization = `Bearer ${parent.token}`;
  expect(await post({})).toBe(401);
  expect(await post({ authorization, origin: "http://evil.example" })).toBe(403);
  expect(await post({ authorization })).toBe(200);
  const observer = await home.json<NewToken>(["token", "create", "--scope", "observer"]);
  await using looker = await McpClient.http(listen.url, observer.token);
  expect(await looker.refused("run_shell", { command: "true" })).toMatch(/^forbidden: /);
  expect((await looker.ok("list_agents")).sessions).toHaveLength(2);

  // A restarted daemon accepts its client's next call.
  await home.killDaemon();
  await home.ok(["ls"]);
  expect(await mcp.ok("show_agent", { name: "child" })).toMatchObject({ lastReply: "hello" });
});

test("mcp install prints the needed configuration of an agent, and merges it into an existing one", async () => {
  await using home = new TestHome();
  const settings = path.join(home.env.HOME ?? "", ".gemini/settings.json");
  mkdirSync(path.dirname(settings), { recursive: true });
  writeFileSync(settings, '{\n    "theme": "dark",\n    "mcpServers": { "own": { "command": "x" } }\n}\n');
  const printed = JSON.parse(await home.ok(["mcp", "install", "gemini"])) as object;
  // Gemini hides a session's token from its servers unless the configuration names it.
  const env = { HOLDFAST_HOME: home.path, HOLDFAST_TOKEN: `\${HOLDFAST_TOKEN:-none}` };
  expect(printed).toEqual({ mcpServers: { holdfast: { command: expect.stringMatching(/holdfast$/), args: ["mcp"], env } } });
  expect(await home.ok(["mcp", "install", "gemini", "--write"])).toBe(`written: ${settings}\n`);
  const { theme, mcpServers } = JSON.parse(readFileSync(settings, "utf8")) as { theme: string; mcpServers: Record<string, unknown> };
  expect([theme, Object.keys(mcpServers)]).toEqual(["dark", ["own", "holdfast"]]);
  expect(readFileSync(settings, "utf8")).toMatch(/^\{\n {4}"theme"/);
  expect(await home.ok(["mcp", "install", "gemini", "--write"])).toBe(`there already: ${settings}\n`);

  const codex = path.join(home.env.HOME ?? "", ".codex/config.toml");
  mkdirSync(path.dirname(codex), { recursive: true });
  writeFileSync(codex, '# mine\nmodel = "x"\n');
  await home.ok(["mcp", "install", "codex", "--write"]);
  expect(readFileSync(codex, "utf8")).toMatch(/^# mine\nmodel = "x"\n\n\[mcp_servers\.holdfast\]\ncommand = /);
  expect((await home.cli(["mcp", "install", "nobody"])).stderr).toContain("the MCP configuration of nobody is unknown");
  writeFileSync(settings, "{ // mine\n}");
  const refused = await home.cli(["mcp", "install", "gemini", "--write"]);
  expect([refused.code, readFileSync(settings, "utf8")]).toEqual([14, "{ // mine\n}"]);
  expect(refused.stderr).toContain("add the entry by hand");
  expect(existsSync(path.join(home.env.HOME ?? "", ".claude.json"))).toBe(false);
});
