/** The built-in agent with MCP servers, with a bare client of the Agent Client Protocol. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { afterEach, expect, test } from "vitest";
import { type Model, startModel } from "../agents/src/model/server.ts";
import { ModelOrder } from "../packages/contract/src/agent/order.ts";
import { modelKind } from "../packages/holder/src/agents/model/open-model.ts";
import { directory, talkTo, turn, writeTranscript } from "../packages/holder/test/test-client.ts";
import { inspect } from "../packages/platform/src/process.ts";
import { eventually, ROOT } from "./home.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanups.splice(0).reverse()) await each();
});

const SERVER = join(ROOT, "packages/holder/src/agents/model/servers/scripted-server.mjs");

async function begin({
  order = {},
  how = "well",
  servers,
  runs,
  resume,
}: {
  order?: object;
  how?: string;
  servers?: McpServer[];
  runs?: string;
  resume?: string;
} = {}) {
  const model = await startModel();
  const place = directory();
  const cwd = realpathSync(place.path);
  const log = join(cwd, "log");
  const whole = {
    api: "openai",
    endpoint: `${model.url}/v1`,
    model: "scripted",
    keyEnv: null,
    tools: null,
    system: null,
    context: {},
    ...order,
  };
  const talk = talkTo(modelKind(ModelOrder.parse(whole), { OPENAI_API_KEY: "k" }), runs === undefined ? {} : { runs });
  cleanups.push(
    () => place[Symbol.dispose](),
    () => model[Symbol.asyncDispose](),
    () => talk[Symbol.asyncDispose](),
  );
  await talk.initialize();
  const given = servers ?? [serverNamed("tides", log, how)];
  if (resume === undefined) await talk.begin(cwd, given);
  else {
    talk.id = resume;
    await talk.connection.agent.request("session/resume", { cwd, sessionId: resume, mcpServers: given });
  }
  const noted = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  return { talk, model, cwd, noted, pid: () => Number(/started (\d+)(?![\s\S]*started)/.exec(noted())?.[1]) };
}

function serverNamed(name: string, log: string, how = "well"): McpServer {
  return { name, command: process.execPath, args: [SERVER, log, how], env: [{ name: "TIDES", value: "high" }] };
}

const allow = (optionId: string) => () => ({ outcome: { outcome: "selected" as const, optionId } });
const tool = (name: string, input: object = {}) => `tool ${name} ${JSON.stringify(input)}`;
const isThere = (pid: number) => {
  const found = inspect(pid);
  return found !== undefined && !found.zombie;
};
const results = (model: Model) => model.asked.at(-1)?.results.join("\n") ?? "";

test("a model gets its servers' tools beside its own, with the servers' descriptions and results", async () => {
  const { talk, model, noted } = await begin();
  await talk.prompt([tool("mcp__tides__echo", { words: "tide" }), tool("mcp__tides__refuse"), tool("mcp__tides__fail")].join("\n"));
  expect(model.asked[0]?.tools).toEqual(expect.arrayContaining(["read_file", "run_command", "mcp__tides__echo", "mcp__tides__die"]));
  const body = JSON.stringify(model.bodies[0]);
  expect(body).toContain("Says it again.");
  expect(body).toContain('"words":{"type":"string"}');
  expect(body).toContain("tides: Ask for the tide.");
  expect(results(model)).toContain("high tide");
  expect(results(model)).toContain("no, not that");
  expect(results(model)).toContain("there is no fail to be had");
  const [echo] = talk.of("tool_call");
  expect(echo).toMatchObject({
    name: "mcp__tides__echo",
    title: 'tides: echo {"words":"tide"}',
    kind: "other",
    rawInput: { words: "tide" },
  });
  const ended = talk.of("tool_call_update").flatMap(({ status }) => (status === "completed" || status === "failed" ? [status] : []));
  expect(ended).toEqual(["completed", "failed", "failed"]);
  // Read-only tools need no approval.
  expect(talk.asked).toEqual([]);
  expect(talk.notices).toEqual([]);
  expect(noted().match(/started/g)).toHaveLength(1);
});

test("a server's call is remembered as its tool's, also by the next process", async () => {
  using place = directory();
  const call = {
    type: "tool_started" as const,
    call: "c",
    name: "mcp__tides__write",
    title: "t",
    kind: "other" as const,
    input: { words: "x" },
    files: [],
  };
  const output = { type: "tool_output" as const, call: "c", title: null, text: "written", changes: [] };
  const [begun, ended] = turn("write it", "");
  if (!begun || !ended) throw new Error("a turn has a beginning and an end");
  writeTranscript(place.path, 1, [begun, call, output, { type: "tool_completed", call: "c", ok: true }, ended]);
  const { talk, model } = await begin({ runs: place.path, resume: "one" });
  await talk.prompt("say and on");
  expect(JSON.stringify(model.bodies[0])).toMatch(/"name":"mcp__tides__write".*written/);
});

test("a server's tool needs approval, and a permanent approval covers that tool alone", async () => {
  const { talk, noted } = await begin();
  talk.answer = allow("always");
  await talk.prompt(
    [tool("mcp__tides__write", { words: "a" }), tool("mcp__tides__write", { words: "b" }), tool("mcp__tides__erase")].join("\n"),
  );
  expect(talk.asked.map(({ toolCall }) => toolCall.name)).toEqual(["mcp__tides__write", "mcp__tides__erase"]);
  expect(talk.asked[0]?.options[1]).toMatchObject({ name: "Allow mcp__tides__write in this conversation", kind: "allow_always" });
  expect(noted()).toMatch(/wrote a\n[\s\S]*wrote b\n/);
  talk.answer = allow("refuse");
  await talk.prompt(tool("run_command", { command: "echo one" }));
  expect(talk.asked).toHaveLength(3);
});

test("edit mode does not allow servers' tools; the mode that allows everything does", async () => {
  const { talk, noted } = await begin({ order: { mode: "auto-edit" } });
  talk.answer = allow("refuse");
  await talk.prompt(tool("mcp__tides__write", { words: "a" }));
  expect(talk.asked).toHaveLength(1);
  expect(noted()).not.toContain("called write");
  await talk.connection.agent.request("session/set_mode", { sessionId: talk.id, modeId: "auto" });
  await talk.prompt(tool("mcp__tides__write", { words: "a" }));
  expect(talk.asked).toHaveLength(1);
  expect(noted()).toContain("wrote a");
});

test("cancel also ends the call at its server, and progress is reported", async () => {
  const { talk, noted } = await begin();
  const running = talk.prompt(tool("mcp__tides__slow"));
  await talk.until(() => JSON.stringify(talk.of("tool_call_update")).includes("half way"));
  await talk.cancel();
  expect(await running).toMatchObject({ stopReason: "cancelled" });
  await expect.poll(noted).toContain("cancelled");
  await talk.prompt(tool("mcp__tides__echo", { words: "again" }));
  expect(talk.said).toContain("high again");
});

test("a server that cannot start is reported with its last output, and the turn continues without it", async () => {
  const { talk, model } = await begin({ how: "fails" });
  await talk.prompt(`say I go on\n${tool("mcp__tides__echo")}`);
  expect(talk.said).toContain("I go on");
  expect(model.asked[0]?.tools).toHaveLength(6);
  await talk.prompt("say two");
  expect(talk.notices).toEqual(["the MCP server tides could not be started: it ended while starting: the tides are not to be had"]);
  const none = { name: "none", command: "/no/such/program", args: [], env: [] };
  const { talk: other } = await begin({ servers: [none] });
  await other.prompt("say I go on");
  expect(other.said).toBe("I go on");
  expect(other.notices).toEqual(["the MCP server none could not be started: the program /no/such/program does not exist"]);
});

test("a server's death is reported, its tools return that error, and the next turn restarts it", async () => {
  const { talk, model } = await begin();
  await talk.prompt([tool("mcp__tides__die"), tool("mcp__tides__echo", { words: "tide" }), "say after all"].join("\n"));
  expect(talk.said).toContain("after all");
  expect(results(model)).toContain("the server tides ended before it answered");
  expect(results(model)).toContain("the server tides is not running");
  expect(talk.notices).toEqual(["the MCP server tides has ended: I fell over"]);
  await talk.prompt(tool("mcp__tides__echo", { words: "water" }));
  expect(talk.said).toContain("high water");
  expect(talk.notices).toHaveLength(1);
});

test("a tool that a server adds later is offered with the next step", async () => {
  const { talk, model } = await begin();
  await talk.prompt(`${tool("mcp__tides__grow")}\nsay done`);
  await eventually(async () => {
    await talk.prompt("say look");
    return model.asked.at(-1)?.tools.includes("mcp__tides__grown");
  });
});

test("names that models do not accept are made valid and unique", async () => {
  const { talk, model } = await begin({ how: "odd" });
  await talk.prompt("say hello");
  const names = model.asked[0]?.tools.filter((name) => name.startsWith("mcp__")) ?? [];
  expect(names).toHaveLength(13);
  expect(new Set(names).size).toBe(13);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(names).toContain("mcp__tides__a_b");
  const last = names.at(-1) ?? "";
  expect(last).toMatch(/^mcp__tides__a_b_[0-9a-f]{6}$/);
  await talk.prompt(tool(last));
  expect(results(model)).toContain("there is no a_b to be had");
});

test.each([
  { tools: ["read_file", "mcp__tides__echo"], has: ["read_file", "mcp__tides__echo"] },
  {
    tools: ["Read", "mcp__tides"],
    roleTools: ["mcp__tides__*e"],
    has: ["mcp__tides__write", "mcp__tides__erase", "mcp__tides__refuse", "mcp__tides__die"],
  },
  { tools: null, roleTools: ["Bash", "*_file"], has: ["read_file", "edit_file", "write_file", "run_command"], isStarted: false },
  { tools: ["*_file", "mcp__tides__echo"], roleDenied: ["Write", "Edit(src/*)", "mcp__tides"], has: ["read_file"] },
  { tools: [], has: [], isStarted: false },
])(
  "with the tools $tools and the role's tools $roleTools the model gets the tools that both name and the role does not deny: $has",
  async ({ has, isStarted = true, ...order }) => {
    const { talk, model, noted } = await begin({ order });
    await talk.prompt("say hello");
    expect(model.asked[0]?.tools).toEqual(has);
    expect(noted().includes("started")).toBe(isStarted);
    expect(talk.notices).toEqual([]);
  },
);

test("an unknown tool name is reported, even one that other agents know", async () => {
  const { talk } = await begin({ order: { roleTools: ["Read", "Bash(git log:*)", "mcp__tides__echo", "mcp__tickets__find"] } });
  await talk.prompt("say one");
  await talk.prompt("say two");
  expect(talk.notices).toEqual(["there are no tools named Bash(git log:*), mcp__tickets__find"]);
});

test("tools that would fill the context are omitted; smaller ones count toward it", async () => {
  const { talk, model } = await begin({ how: "large", order: { context: { tokens: 20_000 } } });
  await talk.prompt("say hello");
  expect(model.asked[0]?.tools).toHaveLength(6);
  expect(talk.notices).toEqual([expect.stringMatching(/^the 8 tools of MCP servers need more than half of the context \(5\d,\d+ bytes\)/)]);
  const { talk: wide, model: asked } = await begin({ how: "large", order: { context: { tokens: 35_000 } } });
  // The tools' tokens are not available for messages.
  const refused = await wide.prompt(`say hello\n${"x".repeat(100_000)}`).catch((error: { data: { code: string } }) => error.data);
  expect(refused).toMatchObject({ code: "context_full" });
  await wide.prompt("say hello");
  expect(asked.asked[0]?.tools).toHaveLength(14);
});

test("servers end with the conversation, even those that ignore the end of input and SIGTERM", async () => {
  const { talk, pid } = await begin({ how: "stubborn" });
  await talk.prompt("say hello");
  expect(isThere(pid())).toBe(true);
  const before = pid();
  await talk[Symbol.asyncDispose]();
  await expect.poll(() => isThere(before)).toBe(false);
});

test("an unresponsive server is not awaited forever, nor after the turn is cancelled", async () => {
  const { talk, pid } = await begin({ how: "mute" });
  const running = talk.prompt("say hello");
  await expect.poll(() => isThere(pid())).toBe(true);
  await talk.cancel();
  expect(await running).toMatchObject({ stopReason: "cancelled" });
  const before = pid();
  await talk[Symbol.asyncDispose]();
  await expect.poll(() => isThere(before)).toBe(false);
});
