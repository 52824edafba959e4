/** The built-in agent against the scripted model, with a bare client of the Agent Client Protocol. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Model, startModel } from "../agents/src/model/server.ts";
import { ModelOrder } from "../packages/contract/src/agent/order.ts";
import { modelKind } from "../packages/holder/src/agents/model/open-model.ts";
import { directory, talkTo, turn, user, writeTranscript } from "../packages/holder/test/test-client.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanups.splice(0).reverse()) await each();
});

interface Options {
  api?: "openai" | "anthropic";
  order?: Partial<ModelOrder> | { context: Partial<ModelOrder["context"]> };
  env?: Record<string, string>;
  runs?: string;
  resume?: string;
  model?: Model;
}

async function begin({ api = "openai", order = {}, env = {}, runs, resume, model: given }: Options = {}) {
  const model = given ?? (await startModel());
  if (!given) cleanups.push(() => model[Symbol.asyncDispose]());
  const place = directory();
  cleanups.push(() => place[Symbol.dispose]());
  const cwd = realpathSync(place.path);
  const whole = ModelOrder.parse({
    api,
    endpoint: api === "openai" ? `${model.url}/v1` : model.url,
    model: "scripted",
    keyEnv: null,
    tools: null,
    system: null,
    context: {},
    ...order,
  });
  const talk = talkTo(modelKind(whole, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", ...env }), runs === undefined ? {} : { runs });
  cleanups.push(() => talk[Symbol.asyncDispose]());
  await talk.initialize();
  if (resume === undefined) await talk.begin(cwd);
  else await talk.resume(cwd, resume);
  return { talk, model, cwd };
}

const allow = (optionId: string) => (): { outcome: { outcome: "selected"; optionId: string } } => ({
  outcome: { outcome: "selected", optionId },
});

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("it succeeded"),
    (error: { message: string; code: number; data: { code: string; hint: string; retry: boolean } }) => ({
      rpc: error.code,
      message: error.message,
      ...error.data,
    }),
  );

const tool = (name: string, input: object) => `tool ${name} ${JSON.stringify(input)}`;

for (const api of ["openai", "anthropic"] as const) {
  test(`${api}: an answer streams, the conversation is remembered, and usage is reported`, async () => {
    const { talk, model } = await begin({ api, order: { context: { tokens: 50_000 } } });
    const { stopReason, _meta, usage } = await talk.prompt("say I am here");
    expect(stopReason).toBe("end_turn");
    expect(talk.said).toBe("I am here");
    expect(talk.of("agent_message_chunk").length).toBeGreaterThan(2);
    expect(_meta).toMatchObject({
      usage: { model: "scripted", input: expect.any(Number), output: expect.any(Number), cost: null, context: { size: 50_000 } },
    });
    expect(usage?.totalTokens).toBeGreaterThan(0);
    expect(talk.of("usage_update")).toMatchObject([{ size: 50_000 }]);
    talk.forget();
    await talk.prompt("recall");
    expect(talk.said).toBe("I remember: I am here.");
    expect(model.asked[0]?.tools).toEqual(["read_file", "list_files", "search_files", "edit_file", "write_file", "run_command"]);
  });

  test(`${api}: tools are announced, approved and used, and the model continues with their results`, async () => {
    const { talk, cwd } = await begin({ api });
    writeFileSync(join(cwd, "a.txt"), "first\n");
    talk.answer = allow("allow");
    const script = [
      "say I look",
      tool("read_file", { path: "a.txt" }),
      tool("edit_file", { path: "a.txt", old: "first", new: "second" }),
      tool("run_command", { command: "cat a.txt" }),
      "say done",
    ].join("\n");
    expect((await talk.prompt(script)).stopReason).toBe("end_turn");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("second\n");
    expect(talk.said).toContain("The tool answered: second [exit code 0]");
    expect(talk.said.trimEnd()).toMatch(/done$/);
    const [read, edit, run] = talk.of("tool_call");
    expect([read, edit, run]).toMatchObject([
      { name: "read_file", title: "Read a.txt", kind: "read", status: "pending", rawInput: { path: "a.txt" } },
      { name: "edit_file", title: "Edit a.txt", kind: "edit" },
      { name: "run_command", title: "cat a.txt", kind: "execute" },
    ]);
    // Reads need no approval; a change is shown first.
    expect(talk.asked.map(({ toolCall }) => toolCall.title)).toEqual(["Edit a.txt", "cat a.txt"]);
    expect(talk.asked[0]).toMatchObject({
      toolCall: {
        locations: [{ path: join(cwd, "a.txt") }],
        content: [{ type: "diff", path: join(cwd, "a.txt"), oldText: "first\n", newText: "second\n" }],
      },
      options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "reject_once" }],
    });
    const ended = talk.of("tool_call_update").filter(({ status }) => status === "completed");
    expect(ended).toHaveLength(3);
    expect(ended[1]).toMatchObject({ content: [{ type: "diff", newText: "second\n" }] });
  });

  test(`${api}: a wrong key, a wrong model, a failing endpoint and a missing endpoint each give a clear error (TURN-10 conversations)`, async () => {
    const { talk, model } = await begin({ api });
    expect(await failure(talk.prompt("error 401"))).toMatchObject({
      rpc: -32000,
      code: "unauthenticated",
      message: expect.stringContaining("401"),
      hint: expect.stringContaining("_API_KEY"),
    });
    expect(await failure(talk.prompt("error 404"))).toMatchObject({ code: "model_failed", retry: false });
    expect(await failure(talk.prompt("overflow"))).toMatchObject({ code: "context_full", hint: expect.stringContaining("/clear") });
    const before = model.asked.length;
    expect(await failure(talk.prompt("error 400"))).toMatchObject({ code: "model_failed" });
    expect(model.asked.length).toBe(before + 1);
    // A failure does not affect later turns.
    talk.forget();
    await talk.prompt("say fine");
    expect(talk.said).toBe("fine");
    expect(JSON.stringify(model.bodies.at(-1))).not.toContain("error 401");
  });

  test(`${api}: a rate limit is awaited briefly and reported; then it is an error with its end time (TURN-10 conversations)`, async () => {
    const { talk, model } = await begin({ api });
    await talk.prompt("error 429 x1 retry-after 0\nsay after all");
    expect(talk.said).toBe("after all");
    expect(talk.notices).toEqual([expect.stringMatching(/429.*retrying in 0 s$/)]);
    const before = model.asked.length;
    expect(await failure(talk.prompt("error 429 retry-after 3600"))).toMatchObject({
      code: "rate_limited",
      hint: "wait 3600 s, then send it again",
      retry: true,
    });
    expect(model.asked.length).toBe(before + 1);
    expect(await failure(talk.prompt("error 503 retry-after 0"))).toMatchObject({ code: "model_failed", retry: true });
    expect(model.asked.length).toBe(before + 4);
    await talk.prompt("error 529 x2 retry-after 0\nsay back");
    expect(talk.said).toContain("back");
  });

  test(`${api}: garbage and a cut connection are errors; partial text is kept, and the prompt can be sent again (TURN-10 conversations)`, async () => {
    const { talk } = await begin({ api });
    expect(await failure(talk.prompt("say half\ngarbage"))).toMatchObject({ code: "malformed_answer", retry: true });
    expect(await failure(talk.prompt("say the other half\ncut"))).toMatchObject({ code: "network_failed", retry: true });
    expect(talk.said).toBe("halfthe other half");
    talk.forget();
    await talk.prompt("recall");
    expect(talk.said).toBe("I remember: half, the other half.");
    talk.forget();
    await talk.prompt("reset x1\nsay once more");
    expect(talk.said).toBe("once more");
    expect(talk.notices).toEqual([expect.stringContaining("failed")]);
    expect(await failure(talk.prompt("say so far\nbreak 529"))).toMatchObject({ code: "model_failed", retry: true });
    talk.forget();
    await talk.prompt("break 500 x1\nsay at last");
    expect(talk.said).toBe("at last");
  });

  test(`${api}: cancel during an answer keeps its partial text`, async () => {
    const { talk, model } = await begin({ api });
    const running = talk.prompt("say part one\ntalk 60s");
    await talk.until(() => talk.said.includes("part one"));
    await talk.cancel();
    expect(await running).toMatchObject({ stopReason: "cancelled" });
    await expect.poll(() => model.asked[0]?.state).toBe("aborted");
    await talk.prompt("say next");
    expect(JSON.stringify(model.bodies.at(-1))).toMatch(/part one.*The user cancelled this turn here/);
  });
}

test("an answer that reaches its length limit reports that as its end", async () => {
  const { talk } = await begin();
  expect(await talk.prompt("say too long\nlength")).toMatchObject({ stopReason: "max_tokens" });
});

test("token counts are the endpoint's, without cached tokens", async () => {
  const { talk } = await begin({ api: "anthropic" });
  const { _meta } = await talk.prompt("usage 100 20 300 40\nsay hello");
  expect(_meta).toMatchObject({ usage: { input: 100, output: 20, cacheRead: 300, cacheWrite: 40 } });
});

test("a refused, unknown or wrongly called tool gets an answer, and the turn continues", async () => {
  const { talk, cwd, model } = await begin();
  talk.answer = allow("refuse");
  await talk.prompt(
    [
      tool("write_file", { path: "x", content: "x" }),
      tool("read_file", { path: "../x" }),
      tool("read_file", { file: "x" }),
      "say over",
    ].join("\n"),
  );
  expect(talk.said).toContain("over");
  expect(existsSync(join(cwd, "x"))).toBe(false);
  const results = model.asked.at(-1)?.results.join("\n") ?? "";
  expect(results).toContain("Permission was denied");
  expect(results).toContain("outside the workspace");
  expect(results).toMatch(/invalid/i);
  expect(talk.of("tool_call_update").map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
});

test("arguments that are not JSON get an answer too", async () => {
  const { talk } = await begin({ order: { tools: ["run_command"] } });
  await talk.prompt("garble ls\nsay after");
  expect(talk.said).toContain("after");
});

test("a permanent approval is not asked again: for all edits, and for each command", async () => {
  const { talk, cwd } = await begin();
  talk.answer = allow("always");
  await talk.prompt(
    [
      tool("write_file", { path: "a", content: "1" }),
      tool("write_file", { path: "b", content: "2" }),
      tool("run_command", { command: "echo one" }),
      tool("run_command", { command: "echo one" }),
      tool("run_command", { command: "echo two" }),
    ].join("\n"),
  );
  expect(talk.asked.map(({ toolCall }) => toolCall.title)).toEqual(["Write a", "echo one", "echo two"]);
  expect(readFileSync(join(cwd, "b"), "utf8")).toBe("2");
});

test("depending on its mode the agent asks about everything, about commands, or about nothing", async () => {
  const { talk } = await begin();
  const set = (modeId: string) => talk.connection.agent.request("session/set_mode", { sessionId: talk.id, modeId });
  talk.answer = allow("refuse");
  const script = [tool("write_file", { path: "a", content: String(Math.random()) }), tool("run_command", { command: "true" })].join("\n");
  await talk.prompt(script);
  expect(talk.asked).toHaveLength(2);
  await set("auto-edit");
  await talk.prompt(script);
  expect(talk.asked.map(({ toolCall }) => toolCall.kind)).toEqual(["edit", "execute", "execute"]);
  await set("auto");
  await talk.prompt(script);
  expect(talk.asked).toHaveLength(3);
  await expect(set("yolo")).rejects.toThrow("Invalid params");
});

test("cancel during an approval or a command ends both", async () => {
  const { talk, cwd } = await begin({ order: { mode: "ask" } });
  const running = talk.prompt(tool("write_file", { path: "a", content: "a" }));
  await talk.until(() => talk.asked.length === 1);
  await talk.cancel();
  expect(await running).toMatchObject({ stopReason: "cancelled" });
  expect(existsSync(join(cwd, "a"))).toBe(false);
  talk.answer = allow("allow");
  const command = talk.prompt(tool("run_command", { command: "touch begun && sleep 1000" }));
  await expect.poll(() => existsSync(join(cwd, "begun"))).toBe(true);
  await talk.cancel();
  expect(await command).toMatchObject({ stopReason: "cancelled" });
  expect(talk.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
  await talk.prompt("say and on");
  expect(talk.said).toContain("and on");
});

test("messages during a turn are passed to the model between its steps, and late ones are answered too", async () => {
  const { talk, model } = await begin({ order: { mode: "auto" } });
  const running = talk.prompt([tool("run_command", { command: "sleep 0.3" }), "say finished"].join("\n"));
  await talk.until(() => talk.of("tool_call").length > 0);
  const steered = talk.prompt("say steered");
  await talk.connection.agent.request("_holdfast/steer", { sessionId: talk.id, text: "say twice" });
  await talk.connection.agent.notify("_holdfast/steer", { sessionId: talk.id, text: "say thrice" });
  expect(await steered).toMatchObject({ stopReason: "end_turn" });
  expect(await running).toMatchObject({ stopReason: "end_turn" });
  expect(JSON.stringify(model.bodies.at(-1))).toMatch(/say steered.*say twice.*say thrice/);
  expect(model.asked.at(-1)?.prompt).toBe("say thrice");
  await expect(talk.connection.agent.request("_holdfast/steer", { sessionId: talk.id, text: "x" })).rejects.toThrow("Invalid request");
});

test("an endless turn is ended and reported", async () => {
  const { talk } = await begin({ order: { maxSteps: 2 } });
  const script = [1, 2, 3].map(() => tool("list_files", {})).join("\n");
  expect(await talk.prompt(script)).toMatchObject({ stopReason: "max_turn_requests" });
  expect(talk.notices).toEqual(['the turn stopped after 2 steps; send "continue" to continue it']);
});

test("for a long conversation the model gets the first and last turns, and the omission is reported (TURN-05 conversations)", async () => {
  const { talk, model } = await begin({ order: { context: { first: 1, last: 2, tokens: null } } });
  for (let number = 1; number <= 5; number++) await talk.prompt(`say answer${number}`);
  talk.forget();
  await talk.prompt("recall");
  expect(talk.said).toBe("I remember: answer1, answer4, answer5.");
  expect(talk.notices).toEqual(["turns 2 to 3 of 5 are omitted from the agent's context"]);
  expect(JSON.stringify(model.bodies.at(-1))).toContain("[Turns omitted here: 2.]");
  await talk.prompt("/clear");
  talk.forget();
  await talk.prompt("recall");
  expect(talk.said).toBe("I remember nothing.");
});

test("people are warned at 80 % of the context, and a turn that outgrows it drops its first tool results (TURN-05 conversations)", async () => {
  const { talk, cwd, model } = await begin({ order: { context: { first: 2, last: 10, tokens: 6000 } } });
  for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, name), `${name}${"x".repeat(9000)}`);
  await talk.prompt("say before");
  await talk.prompt(["a", "b", "c"].map((path) => tool("read_file", { path })).join("\n"));
  expect(talk.notices).toContainEqual(expect.stringMatching(/^the context is \d\d % full/));
  expect(talk.notices).toContainEqual(expect.stringContaining("in this turn is omitted"));
  expect(JSON.stringify(model.bodies.at(-1))).toContain("Omitted to save space");
  expect(JSON.stringify(model.bodies.at(-1))).toContain("cxxxx");
  expect(await failure(talk.prompt("y".repeat(60_000)))).toMatchObject({ code: "context_full", retry: false });
});

test("the model gets a resumed conversation unchanged, including tools (TURN-05 conversations)", async () => {
  const runs = directory();
  cleanups.push(() => runs[Symbol.dispose]());
  writeTranscript(runs.path, 1, [
    ...turn("say one", "one"),
    user("say two"),
    { type: "text", text: "I look. " },
    { type: "tool_started", call: "call:1", title: "ls", kind: "execute", input: { command: "ls" }, files: [] },
    { type: "tool_output", call: "call:1", title: null, text: "a.txt", changes: [] },
    { type: "tool_completed", call: "call:1", ok: true },
    { type: "tool_started", call: "call2", title: "Edit a.txt", kind: "edit", input: { path: "a.txt", old: "a", new: "b" }, files: [] },
    { type: "tool_completed", call: "call2", ok: true },
    { type: "tool_started", call: "call3", title: "Bash: make", kind: "execute", input: { cmd: "make" }, files: [] },
    { type: "tool_completed", call: "call3", ok: false },
    user("say meanwhile", { steer: true }),
    { type: "text", text: "two" },
    { type: "tool_started", call: "call4", title: "Read b", kind: "read", input: { path: "b" }, files: [] },
  ]);
  for (const api of ["openai", "anthropic"] as const) {
    const { talk, model } = await begin({ api, runs: runs.path, resume: "its-id" });
    await talk.prompt("recall");
    expect(talk.said).toBe("I remember: one, two, meanwhile.");
    const body = JSON.stringify(model.bodies.at(-1));
    for (const words of [
      "I look.",
      "call_1",
      "a.txt",
      "edit_file",
      "[A tool was used: Bash: make (failed)]",
      "[interrupted]",
      "[This turn was interrupted here.]",
    ])
      expect(body).toContain(words);
  }
});

test("load replays the conversation; without transcripts there is nothing to load", async () => {
  const runs = directory();
  cleanups.push(() => runs[Symbol.dispose]());
  writeTranscript(runs.path, 1, [
    ...turn("say one", "one"),
    user("two"),
    { type: "tool_started", call: "c", title: "ls", kind: "execute", input: {}, files: [] },
    { type: "tool_output", call: "c", title: null, text: "out", changes: [] },
    user("steered", { steer: true }),
  ]);
  const { talk, cwd } = await begin({ runs: runs.path });
  const load = { sessionId: "its-id", cwd, mcpServers: [] };
  talk.forget();
  await talk.connection.agent.request("session/load", load);
  expect(
    talk.updates.filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update").map((update) => update.sessionUpdate),
  ).toEqual(["user_message_chunk", "agent_message_chunk", "user_message_chunk", "tool_call", "user_message_chunk"]);
  const { talk: other } = await begin();
  await expect(other.connection.agent.request("session/load", load)).rejects.toThrow("not found");
  await expect(other.connection.agent.request("session/prompt", { sessionId: "none", prompt: [] })).rejects.toThrow("not found");
});

test("models come from the endpoint's list, and another one can be chosen for the next turn", async () => {
  const { talk, model, cwd } = await begin();
  const { configOptions, modes } = await talk.begin(cwd);
  expect(configOptions).toMatchObject([
    { id: "model", category: "model", currentValue: "scripted", options: [{ value: "scripted" }] },
    { id: "mode", category: "mode" },
  ]);
  expect(modes).toMatchObject({ currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "auto-edit" }, { id: "auto" }] });
  const set = (configId: string, value: string) =>
    talk.connection.agent.request("session/set_config_option", { sessionId: talk.id, configId, value });
  expect((await set("model", "other")).configOptions).toMatchObject([
    { currentValue: "other", options: [{ value: "other" }, { value: "scripted" }] },
    {},
  ]);
  expect((await set("mode", "auto")).configOptions).toMatchObject([{}, { currentValue: "auto" }]);
  await talk.prompt("say hello");
  expect(model.asked.at(-1)?.model).toBe("other");
  await expect(set("colour", "red")).rejects.toThrow("Invalid params");
});

test("a late list of models is reported when it arrives", async () => {
  const answering = Promise.withResolvers<void>();
  const server = createServer(async (_, response) => {
    await answering.promise;
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[{"id":"late"}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { talk } = await begin({ order: { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, model: "m" } });
  answering.resolve();
  await talk.until(() => talk.of("config_option_update").length > 0);
  expect(talk.of("config_option_update")).toMatchObject([
    { configOptions: [{ currentValue: "m", options: [{ value: "m" }, { value: "late" }] }, {}] },
  ]);
});

test("an Anthropic token is sent as a token, and a gateway's key only in its own header", async () => {
  const heard: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    if (request.method === "POST") heard.push(request.headers);
    response.writeHead(401, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bearer = await begin({ api: "anthropic", order: { endpoint }, env: { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "tok" } });
  await failure(bearer.talk.prompt("x"));
  const gateway = await begin({ api: "anthropic", order: { endpoint, keyEnv: "TEAM", keyHeader: "X-Team" }, env: { TEAM: "key" } });
  await failure(gateway.talk.prompt("x"));
  expect(heard).toMatchObject([{ authorization: "Bearer tok" }, { "x-team": "key" }]);
  expect(heard[0]).not.toHaveProperty("x-api-key");
  expect(heard[1]).not.toHaveProperty("authorization");
  expect(heard[1]?.["x-api-key"] ?? "").toBe("");
});

test("content other than text is described as such", async () => {
  const { talk, model } = await begin();
  const prompt = [
    { type: "text" as const, text: "look at" },
    { type: "resource_link" as const, uri: "file:///a/b.ts", name: "b.ts" },
    { type: "resource" as const, resource: { uri: "file:///c", text: "its text" } },
    { type: "image" as const, data: "", mimeType: "image/png" },
  ];
  await talk.connection.agent.request("session/prompt", { sessionId: talk.id, prompt });
  expect(model.asked[0]?.prompt).toBe("look at\n@/a/b.ts\n@file:///c:\nits text\n[image: the agent accepts only text]");
});

test("an answer that was not offered grants no permission", async () => {
  const { talk, cwd } = await begin();
  talk.answer = allow("whatever");
  await talk.prompt(tool("write_file", { path: "a", content: "a" }));
  expect(existsSync(join(cwd, "a"))).toBe(false);
});

test("a persona's instructions and tools reach the model, and an unknown tool is reported once", async () => {
  const { talk, model } = await begin({ order: { system: "You review code.", tools: ["Read", "WebSearch"] } });
  await talk.prompt("say hello");
  await talk.prompt("say again");
  expect(JSON.stringify(model.bodies[0])).toContain("You review code.");
  expect(model.asked[0]?.tools).toEqual(["read_file"]);
  expect(talk.notices).toEqual(["there are no tools named WebSearch"]);
  const { talk: bare, model: asked } = await begin({ order: { tools: [] } });
  await bare.prompt("say hello");
  expect(asked.asked[0]?.tools).toEqual([]);
});

test("endpoint, model and key come from the usual environment variables", async () => {
  await using model = await startModel();
  const order = { api: null, endpoint: null, model: null };
  const openai = await begin({ model, order, env: { OPENAI_BASE_URL: `${model.url}/v1/`, OPENAI_MODEL: "of-env" } });
  await openai.talk.prompt("say hello");
  expect(model.asked.at(-1)).toMatchObject({ dialect: "openai-chat", model: "of-env" });
  const anthropic = await begin({ model, order, env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_MODEL: "claude-of-env" } });
  await anthropic.talk.prompt("say hello");
  expect(model.asked.at(-1)).toMatchObject({ dialect: "anthropic", model: "claude-of-env", path: "/v1/messages" });
  // An endpoint with only one model needs no choice.
  const only = await begin({ model, order, env: { OPENAI_BASE_URL: `${model.url}/v1` } });
  await only.talk.prompt("say hello");
  expect(model.asked.at(-1)?.model).toBe("scripted");
});

test("missing settings are reported at the start", async () => {
  const order = { api: "openai", endpoint: "gateway", model: "m" } as const;
  expect(await failure(begin({ order }))).toMatchObject({ code: "usage", message: '"gateway" is not a model endpoint' });
  expect(await failure(begin({ order: { ...order, endpoint: "http://127.0.0.1:9/v1", model: null } }))).toMatchObject({
    code: "usage",
    message: "no model is set",
  });
});

test("an unreachable endpoint is a network error, after retries (TURN-10 conversations)", async () => {
  const model = await startModel();
  await model[Symbol.asyncDispose]();
  const { talk } = await begin({ model });
  const failed = await failure(talk.prompt("hello"));
  expect(failed).toMatchObject({ code: "network_failed", retry: true, hint: expect.stringContaining(model.url) });
  expect(failed.message).toMatch(/^the connection to 127\.0\.0\.1:\d+ failed: .*ECONNREFUSED/);
  expect(talk.notices).toHaveLength(2);
});

test("a web page in place of an answer is malformed, and thoughts are shown as thoughts", async () => {
  let answer = "<html>Log in to the network</html>";
  const server = createServer((_, response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(answer));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const { talk } = await begin({ order: { endpoint, model: "m" } });
  expect(await failure(talk.prompt("hello"))).toMatchObject({ code: "malformed_answer" });
  const chunk = (delta: object, reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  answer = `${chunk({ reasoning_content: "hm" })}${chunk({ content: "yes" })}${chunk({}, "content_filter")}data: [DONE]\n\n`;
  expect(await talk.prompt("hello")).toMatchObject({ stopReason: "refusal", _meta: { usage: { input: null, output: null } } });
  expect(talk.said).toBe("yes");
  expect(talk.of("agent_thought_chunk")).toMatchObject([{ content: { text: "hm" } }]);
});

test("a gateway with its own path and key header serves the built-in agent (BG-15 conversations)", async () => {
  await using model = await startModel();
  const keys: unknown[] = [];
  const gateway = createServer(async (request, response) => {
    keys.push(request.headers["x-gateway-key"]);
    if (request.headers["x-gateway-key"] !== "sk-team")
      return void response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"no such key"}}');
    const body = request.method === "POST" ? { body: await new Response(request as unknown as ReadableStream).arrayBuffer() } : {};
    const answer = await fetch(`${model.url}${request.url?.replace(/^\/team\/proxy/, "")}`, {
      method: request.method ?? "GET",
      headers: { "content-type": "application/json" },
      ...body,
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  });
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => gateway.close());
  const endpoint = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/team/proxy/v1`;
  const order = { endpoint, keyEnv: "TEAM_KEY", keyHeader: "x-gateway-key", model: "gateway/any", mode: "auto" as const };
  const { talk, cwd } = await begin({ model, order, env: { TEAM_KEY: "sk-team" } });
  mkdirSync(join(cwd, "sub"));
  await talk.prompt(`say through the gateway\n${tool("list_files", {})}\nsay and back`);
  expect(talk.said).toContain("through the gateway");
  expect(talk.said).toContain("The tool answered: sub/");
  expect(model.asked.at(-1)).toMatchObject({ path: "/v1/chat/completions", model: "gateway/any" });
  expect(new Set(keys)).toEqual(new Set(["sk-team"]));
  const { talk: wrong } = await begin({ model, order, env: { TEAM_KEY: "sk-other" } });
  expect(await failure(wrong.prompt("say hello"))).toMatchObject({
    code: "unauthenticated",
    message: expect.stringContaining("no such key"),
    hint: expect.stringContaining("TEAM_KEY"),
  });
  const { talk: none } = await begin({ model, order });
  expect(await failure(none.prompt("say hello"))).toMatchObject({
    code: "unauthenticated",
    hint: "no key was sent: TEAM_KEY was not set when the session was started",
  });
});
