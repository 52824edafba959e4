/** Results of calls that are cut short by the daemon's death, a timeout, the caller or a mistake; and the preconditions of a server. */
import { readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type AnyEvent, type DaemonStatus, newSessionId, type Session, SessionId, type Workspace } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { HoldfastClient, unixTransport } from "@holdfast/sdk";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { McpClient, sessionWithToken } from "./mcp-client.ts";
import { TestRepository } from "./repository.ts";

test("a wait for messages survives the daemon's death", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await using other = await McpClient.stdio(home, parent);
  const child = await other.ok("run_shell", { name: "child", command: 'echo "$HOLDFAST_TOKEN"; exec sleep 1000' });
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", "child", "--raw"]))?.[0]);
  await using childs = await McpClient.stdio(home, { token });
  const heard: string[] = [];
  const reading = mcp.ok("read_messages", { wait_ms: 60_000 });
  reading.catch((error: unknown) => heard.push(String(error)));
  // The call must be waiting when the daemon dies.
  await other.ok("list_agents");
  await home.killDaemon();
  expect(await childs.ok("send_message", { to: "parent", text: "after all" })).toMatchObject({ to: "parent" });
  expect((await reading).messages).toMatchObject([{ from: "child", text: expect.stringContaining("after all") }]);
  expect([child.name, heard]).toEqual(["child", []]);
});

test("a start during the daemon's death happens once, and the call returns it", async () => {
  await using home = new TestHome();
  await home.run('echo "$HOLDFAST_TOKEN"; exec sleep 1000', "--name", "parent", "--host", "native");
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", "parent", "--raw"]))?.[0]);
  await home.run("exec sleep 1000", "--name", "other", "--host", "tmux");
  await using mcp = await McpClient.stdio(home, { token });
  const keeper = (await home.json<DaemonStatus>(["status"])).tmux?.pid ?? 0;
  // The keeper does not respond, so the session is recorded but not started.
  process.kill(keeper, "SIGSTOP");
  const asked = mcp.ok("run_shell", { name: "serve", command: "echo here; exec sleep 1000" });
  asked.catch(() => {});
  const { id } = await eventually(async () => (await home.json<Session[]>(["ls"])).find(({ name }) => name === "serve"));
  await home.killDaemon();
  process.kill(keeper, "SIGKILL");
  expect(await asked).toMatchObject({ id, name: "serve", status: "working", ended: false });
  await eventually(async () => (await home.ok(["logs", "serve"])).includes("here"));
  const events = (await home.ok(["events", "--type", "session.created"])).trim().split("\n");
  expect(events.map((line) => (JSON.parse(line) as AnyEvent).data.name)).toEqual(["parent", "other", "serve"]);
});

test("two requests for a session with one id get one session, even concurrently and in a worktree; a foreign id is refused", async () => {
  await using home = new TestHome();
  const { path: cwd } = new TestRepository(home);
  await home.ok(["up"]);
  using client = home.client();
  const body = { agent: "shell", command: ["sleep", "1000"], cwd, env: home.env, worktree: { setup: true } };
  const id = newSessionId();
  const both = await Promise.all([1, 2].map(() => client.call("spawn", { body: { ...body, id } })));
  expect(both.map((session) => session.id)).toEqual([id, id]);
  await home.killDaemon();
  await home.ok(["up"]);
  using again = home.client();
  expect(await again.call("spawn", { body: { ...body, id } })).toMatchObject({ id, name: both[0]?.name, status: "working" });
  expect(await home.json<Session[]>(["ls"])).toHaveLength(1);
  expect(await home.json<object[]>(["workspace", "ls"])).toHaveLength(1);
  const { token } = await sessionWithToken(home, "stranger");
  using stranger = new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token }));
  const asked = { agent: "shell", command: ["sleep", "1000"] };
  const refusal = { code: "usage", message: `${id} is the id or the name of another session` };
  await expect(stranger.call("spawn", { body: { ...asked, id } })).rejects.toMatchObject(refusal);
  await home.ok(["rename", id, "abcdefghij"]);
  await expect(stranger.call("spawn", { body: { ...asked, id: SessionId.parse("abcdefghij") } })).rejects.toMatchObject({ code: "usage" });
});

test("a request with the id of a foreign workspace gets its own worktree, and harms nothing", async () => {
  await using home = new TestHome();
  const { path: cwd } = new TestRepository(home);
  const theirs = await home.json<Workspace>(["workspace", "create", "theirs"], { cwd });
  const { token } = await sessionWithToken(home, "stranger", "--cwd", cwd);
  using stranger = new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token }));
  const asked = { agent: "shell", worktree: { setup: true }, id: SessionId.parse(theirs.id) };
  await expect(stranger.call("spawn", { body: { ...asked, command: ["no such program"] } })).rejects.toMatchObject({
    code: "program_not_found",
  });
  const { workspace } = await stranger.call("spawn", { body: { ...asked, command: ["sleep", "1000"] } });
  expect(workspace?.id).not.toBe(theirs.id);
  expect(await home.json<Workspace[]>(["workspace", "ls"])).toContainEqual(expect.objectContaining({ id: theirs.id, name: "theirs" }));
});

test("the id of a removed session cannot be reused: its journal entries would belong to the new one", async () => {
  await using home = new TestHome();
  const { id } = await home.run("true", "--name", "gone");
  await home.ok(["wait", "gone"]);
  await home.ok(["rm", "gone"]);
  const { token } = await sessionWithToken(home, "stranger");
  using stranger = new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token }));
  const body = { agent: "shell", command: ["true"], id: SessionId.parse(id) };
  await expect(stranger.call("spawn", { body })).rejects.toMatchObject({ code: "usage" });
  await expect(stranger.call("listEvents", { query: { session: id } })).rejects.toMatchObject({ code: "session_not_found" });
});

test("a long wait prints nothing about the daemon on standard error", async () => {
  await using home = new TestHome();
  const { token } = await sessionWithToken(home, "asker");
  const env = { ...home.env, HOLDFAST_TOKEN: token };
  const transport = new StdioClientTransport({ command: HOLDFAST, args: ["mcp"], env, cwd: home.root, stderr: "pipe" });
  let said = "";
  transport.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  await using mcp = await McpClient.over(transport);
  expect(await mcp.ok("ask_human", { question: "which?", wait_ms: 6500 })).toMatchObject({ status: "open" });
  expect(said).toBe("");
});

test("event_monitor continues from its cursor without a gap, also after an empty or truncated result", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await mcp.ok("run_shell", { name: "counter", command: "read go; seq 1 40; exec sleep 1000" });
  const watch = { name: "counter", source: "output", burst: 100, per_second: 100 };
  const first = await mcp.ok("event_monitor", { ...watch, duration_ms: 100 });
  expect(first).toMatchObject({ items: [], cursor: "0" });
  const events = await mcp.ok("event_monitor", { name: "counter", duration_ms: 100 });
  expect(events.cursor).toMatch(/:\d+$/);

  await home.ok(["send", "counter", "go"]);
  await eventually(async () => /^40\r?$/m.test(await home.ok(["logs", "counter", "--raw"])) || undefined);
  const got: unknown[] = [];
  for (let cursor: unknown = first.cursor; got.at(-1) !== "40"; ) {
    const next = await mcp.ok("event_monitor", { ...watch, after: cursor, duration_ms: 10_000, max_items: 7 });
    expect((next.items as unknown as unknown[]).length).toBeLessThanOrEqual(7);
    got.push(...(next.items as unknown as unknown[]));
    cursor = next.cursor;
  }
  expect(got.filter((line) => /^\d+$/.test(String(line)))).toEqual(Array.from({ length: 40 }, (_, index) => String(index + 1)));
});

test("a request to people that is cancelled at once does not stay in the inbox", async () => {
  await using home = new TestHome();
  const { token } = await sessionWithToken(home, "asker");
  await using mcp = await McpClient.stdio(home, { token });
  await Promise.allSettled(
    Array.from({ length: 20 }, async (_, index) => {
      const cancel = new AbortController();
      const asked = mcp.call("ask_human", { question: `number ${index}` }, { signal: cancel.signal });
      setTimeout(() => cancel.abort(), index);
      await asked;
    }),
  );
  await mcp.ok("list_agents");
  await eventually(async () => (await home.json<unknown[]>(["approvals"])).length === 0 || undefined);
});

test("an argument of another tool is refused, and a client's own extra argument is ignored", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await mcp.ok("create_group", { group: "team" });
  await mcp.ok("run_shell", { name: "child", command: "exec sleep 1000" });
  await mcp.ok("join_group", { group: "team", sessions: ["child"] });
  expect(await mcp.refused("leave_group", { group: "team", name: "child" })).toBe(
    "usage: leave_group has no argument name; its arguments: group, session",
  );
  expect((await mcp.ok("show_group", { group: "team", _reason: "curious" })).members).toHaveLength(2);
});

test("a session reads its own and its children's transcripts, in bounded pages (mend own-transcript) (BG-18 mend)", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  // A terminal's transcript is its output.
  const shown = await mcp.ok("read_transcript");
  expect(shown).toMatchObject({ name: "parent", source: "terminal", more: false, text: expect.stringContaining(parent.token) });
  expect(await mcp.ok("read_transcript", { after: shown.next })).toMatchObject({ text: "", next: shown.next });
  expect(await mcp.refused("read_transcript", { after: "1.7" })).toContain("not a position in this transcript");
  // A conversation's transcript has the messages with their authors.
  await mcp.ok("spawn_agent", { agent: "demo", name: "talk", kind: "conversation", prompt: "say hello" });
  await home.until("talk", ({ status, turns }) => status === "idle" && turns === 1);
  const entries: { type: string; text?: string }[] = [];
  for (let after: string | undefined, pages = 0; ; pages++) {
    const page = await mcp.ok("read_transcript", { name: "talk", max_bytes: 400, ...(after === undefined ? {} : { after }) });
    expect(JSON.stringify(page).length).toBeLessThan(2000);
    entries.push(...(page.entries as unknown as typeof entries));
    after = String(page.next);
    if (page.more !== true) {
      expect(pages).toBeGreaterThan(0);
      break;
    }
  }
  expect(entries.find(({ type }) => type === "user")).toMatchObject({ from: `session:${parent.id}`, text: "say hello" });
  expect(entries.map(({ type, text }) => (type === "text" ? text : "")).join("")).toBe("hello");
  const last = await mcp.ok("read_transcript", { name: "talk", turns: 1 });
  expect(last.entries).toEqual(expect.arrayContaining([expect.objectContaining({ type: "turn_ended" })]));
  // No foreign transcript.
  await home.run("exec sleep 1000", "--name", "stranger");
  expect(await mcp.refused("read_transcript", { name: "stranger" })).toContain("forbidden");
});

test("inside a run, a server without the run's token does not act as the user", async () => {
  await using home = new TestHome();
  const { id } = await home.run("exec sleep 1000");
  const inside = { HOLDFAST_SESSION: id, HOLDFAST_RUN: `${id}-1` };
  expect(await home.cli(["mcp"], { env: inside })).toMatchObject({
    code: 22,
    stdout: "",
    stderr: expect.stringContaining(`the run ${id}-1`),
  });
  expect(await home.cli(["mcp"], { env: { ...inside, HOLDFAST_TOKEN: "" } })).toMatchObject({ code: 22, stdout: "" });
  expect(await home.cli(["mcp"], { env: { ...inside, HOLDFAST_AS: "owner" } })).toMatchObject({ code: 0, stderr: "" });
  // The default in the configurations that `mcp install` writes.
  expect(await home.cli(["mcp"], { env: { ...inside, HOLDFAST_TOKEN: "none" } })).toMatchObject({ code: 22, stdout: "" });
  await using outside = await McpClient.stdio(home, { token: "none" });
  expect(await outside.ok("list_agents")).toMatchObject({ sessions: expect.any(Array) });
});

test("mcp install keeps a symbolic link to a configuration, and says in one line why it leaves one unchanged", async () => {
  await using home = new TestHome();
  const [real, link] = [path.join(home.root, "dotfiles.json"), path.join(home.env.HOME ?? "", ".claude.json")];
  writeFileSync(real, '{ "a": 1 }\n');
  symlinkSync(real, link);
  await home.ok(["mcp", "install", "claude", "--write"]);
  expect(readlinkSync(link)).toBe(real);
  expect(Object.keys(JSON.parse(readFileSync(real, "utf8")) as object)).toEqual(["a", "mcpServers"]);

  writeFileSync(real, "{ // mine\n}\n");
  const { stderr } = await home.cli(["mcp", "install", "claude", "--write"]);
  expect(stderr).toBe(
    `holdfast: ${real} was not changed: it is not plain JSON\n  run the command without --write and add the entry by hand\n`,
  );
});
