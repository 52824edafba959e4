/** The built-in agent and a command per turn, both with Holdfast's tools, as a person starts them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Approval, AuditEntry, Session, SharedValue } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type Model, startModel } from "../agents/src/model/server.ts";
import { eventually, TestHome } from "./home.ts";
import { environmentOf, lives } from "./proc.ts";

const tool = (name: string, input: object = {}) => `tool mcp__holdfast__${name} ${JSON.stringify(input)}`;

function withModel(home: TestHome, model: Model): void {
  Object.assign(home.env, { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
}

function configure(home: TestHome, toml: string): void {
  const file = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, toml);
}

function rested(home: TestHome, name: string, turns: number): Promise<Session> {
  return eventually(async () => {
    const session = await home.session(name);
    return session.status === "idle" && session.turns === turns && session;
  }, 90_000);
}

async function replyOf(home: TestHome, name: string): Promise<string> {
  await rested(home, name, 1);
  using client = home.client();
  return (await client.call("getLastReply", { params: { ref: name } })).reply ?? "";
}

/** The process of Holdfast's MCP server for a session's run. */
function serverOf(home: TestHome, { id }: Pick<Session, "id">): number | undefined {
  return home.processes().find(({ pid }) => {
    try {
      return environmentOf(pid).HOLDFAST_SESSION === id && readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith("\0mcp\0");
    } catch {
      return false;
    }
  })?.pid;
}

test("a model starts a child by its tools, shares a value with it, talks to it and stops it, as its session (SYM-14 together)", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  const script = [
    tool("create_group", { group: "team" }),
    tool("share_context", { group: "team", key: "colour", value: "blue" }),
    tool("spawn_agent", { agent: "demo", name: "kid", groups: ["team"], report: false }),
    tool("send_message", { to: "kid", text: "say heard you", wait_ms: 50_000 }),
    tool("report_progress", { text: "half of it", done: 1, total: 2 }),
    tool("task_stop", { name: "kid" }),
    "say that was all",
  ].join("\n");
  const boss = await home.json<Session>(["spawn", "--chat", "model", "--mode", "auto", "--name", "boss", "--prompt", script]);
  const { progress } = await rested(home, "boss", 1);
  expect(progress).toMatchObject({ text: "half of it", done: 1, total: 2 });
  expect(await home.session("kid")).toMatchObject({ parent: boss.id, owner: `session:${boss.id}`, status: "stopped" });
  expect(await home.json<SharedValue>(["group", "get", "team", "colour"])).toMatchObject({ value: "blue", author: `session:${boss.id}` });
  expect(model.asked.at(-1)?.results.join("\n")).toContain('"reply":"heard you"');
  const audit = await home.json<AuditEntry[]>(["audit"]);
  const byBoss = audit.filter(({ actor }) => actor === `session:${boss.id}`).map(({ what }) => what);
  expect(byBoss).toEqual(expect.arrayContaining([expect.stringMatching(/^started kid/), "stopped kid"]));
  // The agent was told about its tools, like every agent that has them.
  await home.ok(["spawn", "--chat", "model", "--name", "other", "--group", "team", "--prompt", "say hello"]);
  await rested(home, "other", 1);
  expect(model.asked.at(-1)?.prompt).toContain("share_context");
});

test("a model's tools appear in the inbox by name; a rule or a permanent approval covers one tool", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  configure(home, '[[approvals.rules]]\ntool = "mcp__holdfast__report_*"\ndecision = "allow"\n');
  const script = [
    tool("report_progress", { text: "begun" }),
    tool("create_group", { group: "one" }),
    tool("create_group", { group: "two" }),
    tool("run_shell", { command: "true", name: "sh" }),
    "say done",
  ].join("\n");
  await home.json<Session>(["spawn", "--chat", "model", "--name", "m", "--prompt", script]);
  const asked = () => eventually(async () => (await home.json<Approval[]>(["approvals"])).at(0), 60_000);
  const first = await asked();
  expect(first).toMatchObject({ tool: "mcp__holdfast__create_group", input: { group: "one" } });
  await home.ok(["approvals", "allow", first.id, "--always"]);
  const second = await eventually(async () => (await asked()).id !== first.id && asked(), 60_000);
  expect(second).toMatchObject({ tool: "mcp__holdfast__run_shell", text: expect.stringContaining("holdfast: run_shell") });
  await home.ok(["approvals", "deny", second.id]);
  await rested(home, "m", 1);
  expect((await home.json<{ path: string }[]>(["group", "ls"])).map((group) => group.path)).toEqual(["one", "two"]);
  expect((await home.json<Session[]>(["ls"])).map(({ name }) => name)).toEqual(["m"]);
});

test("a deny rule's reason reaches the model, in the same turn", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  configure(
    home,
    '[[approvals.rules]]\nname = "no-groups"\ntool = "mcp__holdfast__create_group"\ndecision = "deny"\nreason = "ask Ada first"\n',
  );
  const script = [tool("create_group", { group: "one" }), "say done"].join("\n");
  await home.json<Session>(["spawn", "--chat", "model", "--name", "m", "--prompt", script]);
  await rested(home, "m", 1);
  expect(model.asked.at(-1)?.results.join("\n")).toContain("Permission was denied. Do not try it by other means. Reason: ask Ada first");
  expect(await home.json<{ path: string }[]>(["group", "ls"])).toEqual([]);
});

test("a persona limits a model to its tools, also after a resume", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  const personas = path.join(home.root, ".holdfast/personas");
  mkdirSync(personas, { recursive: true });
  const tools = "tools: Read, mcp__holdfast__get_shared_context, mcp__holdfast__list_*";
  writeFileSync(path.join(personas, "reader.md"), `---\nname: reader\ndescription: reads\n${tools}\n---\nYou read.\n`);
  const HELD = ["read_file", "get_shared_context", "list_agents", "list_groups", "list_peers", "list_shared_context"];
  const offered = () =>
    model.asked
      .at(-1)
      ?.tools.map((name) => name.replace("mcp__holdfast__", ""))
      .sort();
  await home.json<Session>(["spawn", "--chat", "model", "--persona", "reader", "--name", "m", "--prompt", "say hello"]);
  await rested(home, "m", 1);
  expect(offered()).toEqual([...HELD].sort());
  await home.ok(["stop", "m"]);
  await home.ok(["resume", "m"]);
  await home.ok(["send", "m", `${tool("create_group", { group: "g" })}\nsay done`]);
  await rested(home, "m", 2);
  expect(offered()).toEqual([...HELD].sort());
  expect(await home.json<unknown[]>(["group", "ls"])).toEqual([]);
});

test("a server of config.toml that cannot start is reported in the conversation, which continues", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  configure(home, '[mcp.broken]\ncommand = ["sh", "-c", "echo no tide today >&2; exit 1"]\n');
  await home.json<Session>(["spawn", "--chat", "model", "--name", "m", "--prompt", "say I go on"]);
  await rested(home, "m", 1);
  const said = await home.ok(["transcript", "m"]);
  expect(said).toContain("the MCP server broken could not be started: it ended while starting: no tide today");
  expect(said).toContain("I go on");
});

test("a model's server ends with its session: by stop, or by the death of keeper or agent", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  withModel(home, model);
  const begun = async (name: string) => {
    const session = await home.json<Session>(["spawn", "--chat", "model", "--name", name, "--prompt", "say hello"]);
    const { pid } = await rested(home, name, 1);
    const server = serverOf(home, session);
    if (server === undefined || pid === null) throw new Error(`${name} has no server`);
    return { server, agent: pid, keeper: keeperOf(pid) };
  };
  const stopped = await begun("stopped");
  await home.ok(["stop", "stopped"]);
  await eventually(() => !lives(stopped.server));
  const orphaned = await begun("orphaned");
  process.kill(orphaned.keeper, "SIGKILL");
  await eventually(() => !lives(orphaned.server) && !lives(orphaned.agent));
  const killed = await begun("killed");
  process.kill(killed.agent, "SIGKILL");
  await eventually(() => !lives(killed.server));
});

function keeperOf(agent: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${agent}/status`, "utf8"))?.[1]);
}

test("a command per turn gets Holdfast's server if it has a place for it, and always acts as its session", async () => {
  await using home = new TestHome();
  configure(
    home,
    [
      '[agents.taking.exec]\ncommand = ["sh", "-c", "cat \\"$1\\"", "sh", "{mcp}"]',
      `[agents.plain.exec]\ncommand = ["sh", "-c", "echo $HOLDFAST_SESSION; printenv HOLDFAST_TOKEN | cut -c1-4"]`,
      "",
    ].join("\n"),
  );
  const { id } = await home.json<Session>(["spawn", "--chat", "taking", "--name", "t", "--prompt", "hello"]);
  const { holdfast } = JSON.parse(await replyOf(home, "t")).mcpServers;
  expect(holdfast).toMatchObject({
    args: expect.arrayContaining(["mcp"]),
    env: { HOLDFAST_SESSION: id, HOLDFAST_TOKEN: expect.any(String) },
  });
  const file = path.join(home.path, "sessions", id, "runs/1/mcp");
  expect(readFileSync(file, "utf8")).toContain(holdfast.env.HOLDFAST_TOKEN);
  await home.ok(["stop", "t"]);
  await eventually(() => !existsSync(file));
  const plain = await home.json<Session>(["spawn", "--chat", "plain", "--name", "p", "--prompt", "hello"]);
  expect(await replyOf(home, "p")).toBe(`${plain.id}\nhfs_\n`);
  expect(await home.ok(["transcript", "p"])).not.toContain("MCP");
});
