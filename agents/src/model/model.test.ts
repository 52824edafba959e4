import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Model, startModel } from "./server.ts";

interface Tool {
  name: string;
  schema: Record<string, unknown>;
}

/** How a client of each API sends requests and reads replies. */
interface Client {
  name: string;
  path(stream: boolean): string;
  body(prompt: string, options: { stream: boolean; tools?: Tool[]; results?: string[] }): unknown;
  /** The text and the calls in an event of a stream, or in a complete answer. */
  text(event: Answer): string;
  call(event: Answer): { name: string; values: unknown } | undefined;
}

/** A reply of one of four foreign APIs. */
type Answer = unknown;

const CLIENTS: Client[] = [
  {
    name: "OpenAI chat completions",
    path: () => "/v1/chat/completions",
    body: (prompt, { stream, tools = [], results = [] }) => ({
      model: "scripted",
      stream,
      messages: [
        { role: "system", content: "You are an agent." },
        {
          role: "user",
          content: [
            { type: "text", text: prompt },
            { type: "text", text: "<system-reminder>\nsay nothing\n</system-reminder>" },
          ],
        },
        ...results.flatMap((content, i) => [
          { role: "assistant", tool_calls: [{ id: `c${i}`, type: "function", function: { name: "bash", arguments: "{}" } }] },
          { role: "tool", tool_call_id: `c${i}`, content },
        ]),
      ],
      tools: tools.map(({ name, schema }) => ({ type: "function", function: { name, parameters: schema } })),
    }),
    text: (event) => textAt(event, "choices", 0, "delta", "content") || textAt(event, "choices", 0, "message", "content"),
    call: (event) => {
      const inStream = at(event, "choices", 0, "delta", "tool_calls", 0, "function");
      return made(inStream ?? at(event, "choices", 0, "message", "tool_calls", 0, "function"), "arguments");
    },
  },
  {
    name: "OpenAI responses",
    path: () => "/v1/responses",
    body: (prompt, { stream, tools = [], results = [] }) => ({
      model: "scripted",
      stream,
      instructions: "You are an agent.",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "<environment_context>here</environment_context>" }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: prompt }] },
        ...results.flatMap((output, i) => [
          { type: "function_call", call_id: `c${i}`, name: "exec_command", arguments: "{}" },
          { type: "function_call_output", call_id: `c${i}`, output },
        ]),
      ],
      tools: tools.map(({ name, schema }) => ({ type: "function", name, parameters: schema })),
    }),
    text: (event) =>
      at(event, "type") === "response.output_text.delta" ? textAt(event, "delta") : textAt(event, "output", 0, "content", 0, "text"),
    call: (event) => {
      const item = at(event, "type") === "response.output_item.done" ? at(event, "item") : at(event, "output", 0);
      return at(item, "type") === "function_call" ? made(item, "arguments") : undefined;
    },
  },
  {
    name: "Anthropic messages",
    path: () => "/v1/messages?beta=true",
    body: (prompt, { stream, tools = [], results = [] }) => ({
      model: "scripted",
      stream,
      max_tokens: 100,
      system: "You are an agent.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "<system-reminder>\nsay nothing\n</system-reminder>" },
            { type: "text", text: prompt },
          ],
        },
        { role: "system", content: [{ type: "text", text: "say nothing" }] },
        ...results.flatMap((content, i) => [
          { role: "assistant", content: [{ type: "tool_use", id: `c${i}`, name: "Bash", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: `c${i}`, content }] },
        ]),
      ],
      tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })),
    }),
    text: (event) => textAt(event, "delta", "text") || textAt(event, "content", 0, "text"),
    call: (event) => {
      const json = textAt(event, "delta", "partial_json");
      return json === "" ? made(at(event, "content", 0), "input") : { name: "", values: JSON.parse(json) };
    },
  },
  {
    name: "Gemini generateContent",
    path: (stream) => `/v1beta/models/gemini-2.5-pro:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (prompt, { tools = [], results = [] }) => ({
      systemInstruction: { parts: [{ text: "You are an agent." }] },
      contents: [
        { role: "user", parts: [{ text: "<session_context>\nsay nothing\n</session_context>" }] },
        { role: "user", parts: [{ text: prompt }] },
        ...results.flatMap((output, i) => [
          { role: "model", parts: [{ functionCall: { id: `c${i}`, name: "run_shell_command", args: {} } }] },
          { role: "user", parts: [{ functionResponse: { id: `c${i}`, name: "run_shell_command", response: { output } } }] },
        ]),
      ],
      tools: [{ functionDeclarations: tools.map(({ name, schema }) => ({ name, parametersJsonSchema: schema })) }],
    }),
    text: (event) => textAt(event, "candidates", 0, "content", "parts", 0, "text"),
    call: (event) => {
      return made(at(event, "candidates", 0, "content", "parts", 0, "functionCall"), "args");
    },
  },
];

const SHELL: Tool = {
  name: "run_shell_command",
  schema: {
    type: "object",
    properties: { command: { type: "string" }, is_background: { type: "boolean" } },
    required: ["command", "is_background"],
  },
};

describe.each(CLIENTS)("the scripted model over $name", (client) => {
  test.each([true, false])("says what the prompt says (stream: %s)", async (stream) => {
    await using model = await startModel();
    const { status, events } = await ask(model, client, "say alpha beta gamma", { stream });
    expect(status).toBe(200);
    expect(events.map(client.text).join("")).toBe("alpha beta gamma");
    expect(events.filter((event) => client.text(event) !== "").length).toBe(stream ? 3 : 1);
    expect(model.asked).toMatchObject([{ prompt: "say alpha beta gamma", state: "ended", status: 200 }]);
  });

  test.each([true, false])("calls the offered shell and reports its result (stream: %s)", async (stream) => {
    await using model = await startModel();
    const options = { stream, tools: [SHELL] };
    const prompt = "tool shell ls -l; say done";
    const first = await ask(model, client, prompt, options);
    const call = first.events.map(client.call).find((made) => made !== undefined);
    expect(call?.values).toEqual({ command: "ls -l", is_background: false });
    if (call?.name !== "") expect(call?.name).toBe("run_shell_command");
    const second = await ask(model, client, prompt, { ...options, results: ["two files"] });
    expect(second.events.map(client.text).join("")).toBe("The tool answered: two files\ndone");
  });

  test("fails as scripted, and as often as scripted", async () => {
    await using model = await startModel();
    const failed = await ask(model, client, "error 429 x2 retry-after 7; say better", { stream: true });
    expect([failed.status, failed.headers["retry-after"]]).toEqual([429, "7"]);
    expect(JSON.stringify(failed.events)).toContain("Rate limit");
    expect((await ask(model, client, "error 429 x2 retry-after 7; say better", { stream: true })).status).toBe(429);
    const third = await ask(model, client, "error 429 x2 retry-after 7; say better", { stream: true });
    expect(third.events.map(client.text).join("")).toBe("better");
    expect((await ask(model, client, "error 401", { stream: true })).status).toBe(401);
    const overflow = await ask(model, client, "overflow", { stream: true });
    expect([overflow.status, JSON.stringify(overflow.events)]).toEqual([400, expect.stringMatching(/exceed|too long|maximum/)]);
  });

  test.each([401, 429, 500, 529])("fails with %s in the format of the API", async (status) => {
    await using model = await startModel();
    const failed = await ask(model, client, `error ${status}`, { stream: false });
    expect([failed.status, at(failed.events[0], "error", "message")]).toEqual([status, expect.stringContaining("(scripted)")]);
    expect(model.asked).toMatchObject([{ status, state: "ended" }]);
  });

  test("cuts a stream, or ends it with garbage", async () => {
    await using model = await startModel();
    await expect(ask(model, client, "say half; cut; say never", { stream: true })).rejects.toThrow(/aborted|hang up/);
    await expect(ask(model, client, "say half; garbage", { stream: true })).rejects.toThrow(/JSON/);
    expect(model.asked.map(({ answer }) => answer)).toEqual([[{ text: "half" }], [{ text: "half" }]]);
  });

  test("spoils an answer as often as scripted, one way after the other, and then succeeds", async () => {
    await using model = await startModel();
    const prompt = "reset x1; say one; cut x1; garbage x1; say two";
    for (const error of [/hang up/, /aborted|hang up/, /JSON/])
      await expect(ask(model, client, prompt, { stream: true })).rejects.toThrow(error);
    const { events } = await ask(model, client, prompt, { stream: true });
    expect(events.map(client.text).join("")).toBe("one two");
  });

  test("reports a used-up quota and its duration in the format of the API", async () => {
    await using model = await startModel();
    const limited = await ask(model, client, "limit 2h", { stream: true });
    expect([limited.status, limited.headers["retry-after"]]).toEqual([429, "7200"]);
    expect(`${limited.text} ${JSON.stringify(limited.headers)}`).toMatch(/quota|usage limit|ratelimit-unified/i);
  });

  test("disconnects before the first byte of an answer", async () => {
    await using model = await startModel();
    await expect(ask(model, client, "reset", { stream: false })).rejects.toThrow(/hang up/);
  });

  test("fails in the middle of a stream; an answer without a stream fails as a whole", async () => {
    await using model = await startModel();
    const inStream = await ask(model, client, "say half; break 529", { stream: true });
    expect([inStream.status, inStream.events.map(client.text).join("")]).toEqual([200, "half"]);
    expect(JSON.stringify(inStream.events.at(-1))).toContain("Overloaded (scripted)");
    expect((await ask(model, client, "say half; break 529", { stream: false })).status).toBe(529);
    const again = await ask(model, client, "break 500 x0; say fine", { stream: true });
    expect(again.events.map(client.text).join("")).toBe("fine");
  });

  test("sends nothing until a delay is over, even if it then fails", async () => {
    await using model = await startModel();
    const began = performance.now();
    expect((await ask(model, client, "delay 60ms; error 500", { stream: true })).status).toBe(500);
    expect(performance.now() - began).toBeGreaterThanOrEqual(59);
  });

  test("continues once the awaited file exists", async () => {
    await using model = await startModel();
    const folder = mkdtempSync(path.join(tmpdir(), "model-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const go = path.join(folder, "go");
    const answer = ask(model, client, `say one; until ${go}; say two`, { stream: true });
    await vi.waitFor(() => expect(model.asked[0]?.answer).toEqual([{ text: "one" }]));
    expect(model.asked[0]).toMatchObject({ state: "open" });
    writeFileSync(go, "");
    expect((await answer).events.map(client.text).join("")).toBe("one two");
  });

  test("adds noise to a stream without changing the answer", async () => {
    await using model = await startModel();
    const { events, text } = await ask(model, client, "say one; noise; say two", { stream: true });
    expect(text).toContain(": noise");
    expect(events.map(client.text).join("")).toBe("one two");
    expect(JSON.stringify(model.asked)).not.toContain('noise":');
  });

  test("calls a tool with arguments that are not JSON", async () => {
    await using model = await startModel();
    const { text } = await ask(model, client, "garble ls -l", { stream: false, tools: [SHELL] });
    expect(text).toContain("ls -l");
    expect(JSON.stringify(model.asked[0]?.answer)).toContain("garbled");
    expect(() => client.call(JSON.parse(text))).toThrow(SyntaxError);
  });

  test.each([true, false])("reports the scripted tokens, and an answer cut off for its length (stream: %s)", async (stream) => {
    await using model = await startModel();
    const { text } = await ask(model, client, "say hello; length; usage 1201 343 805 0", { stream });
    for (const number of [1201, 343, 805]) expect(text).toContain(`:${number}`);
    expect(text).toMatch(/"length"|"max_tokens"|"max_output_tokens"|"MAX_TOKENS"/);
  });
});

test("a request is open while it is answered, and aborted when its client disconnects", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const going = new AbortController();
  const answer = ask(model, client, "say begun; wait 60s", { stream: true }, going.signal);
  answer.catch(() => {});
  await expect.poll(() => model.asked[0]?.answer).toEqual([{ text: "begun" }]);
  expect((await get(model, "/requests")) as unknown).toMatchObject({
    open: 1,
    requests: [{ prompt: "say begun; wait 60s", state: "open" }],
  });
  going.abort();
  await expect.poll(() => model.asked[0]?.state).toBe("aborted");
  expect(await get(model, "/requests")).toMatchObject({ open: 0 });
});

test("a tool that is not offered is searched for first, and then called in the agent's way", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const tools = ["tool_search", "tool_call"].map((name) => ({
    name,
    schema: { type: "object", properties: { query: { type: "string" } } },
  }));
  const prompt = 'tool weather {"city":"Oslo"}';
  const { events } = await ask(model, client, prompt, { stream: false, tools });
  expect(events.map(client.call)).toEqual([{ name: "tool_search", values: { query: "select:weather" } }]);
  const body = client.body(prompt, { stream: false, tools }) as { messages: unknown[] };
  body.messages.push(
    { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "tool_search", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c", content: "found weather" },
  );
  const second = await post(model, client.path(false), body);
  expect(second.events.map(client.call)).toEqual([{ name: "tool_call", values: { name: "weather", arguments: { city: "Oslo" } } }]);
});

test("a tool in a namespace is called with its namespace, which codex requires", async () => {
  await using model = await startModel();
  const tools = [{ type: "namespace", name: "agents", tools: [{ type: "function", name: "spawn_agent", parameters: {} }] }];
  const { events } = await post(model, "/v1/responses", { input: 'tool spawn_agent {"message":"look"}', tools });
  expect(JSON.stringify(events)).toContain('"name":"spawn_agent"');
  expect(JSON.stringify(events)).toContain('"namespace":"agents"');
});

test("codex is made to ask a person, and each agent's question matches the schema of its tool", async () => {
  await using model = await startModel();
  const [, codex, , gemini] = CLIENTS as [Client, Client, Client, Client];
  const exec = { name: "exec_command", schema: { properties: { cmd: { type: "string" }, sandbox_permissions: { type: "string" } } } };
  const shell = await ask(model, codex, "tool shell touch x", { stream: true, tools: [exec] });
  expect(shell.events.map(codex.call)).toContainEqual({
    name: "exec_command",
    values: { cmd: "touch x", sandbox_permissions: "require_escalated" },
  });
  const option = { type: "OBJECT", properties: { label: { type: "STRING" } } };
  const item = { type: "OBJECT", properties: { question: { type: "STRING" }, options: { type: "ARRAY", items: option } } };
  const tool = { name: "ask_user", schema: { type: "OBJECT", properties: { questions: { type: "ARRAY", items: item } } } };
  const asked = await ask(model, gemini, "ask Which colour? | red | blue", { stream: true, tools: [tool] });
  expect(asked.events.map(gemini.call)).toContainEqual({
    name: "ask_user",
    values: { questions: [{ question: "Which colour?", options: [{ label: "red" }, { label: "blue" }] }] },
  });
});

test("titles, suggestions and answers in a given form play no script", async () => {
  await using model = await startModel();
  const [client, codex] = CLIENTS as [Client, Client];
  const said = async (body: unknown) => (await post(model, "/v1/chat/completions", body)).events.map(client.text).join("");
  const script = { role: "user", content: "error 500" };
  expect(await said({ messages: [{ role: "system", content: "You are a title generator." }, script] })).toBe("Scripted session");
  expect(await said({ messages: [script, { role: "user", content: "[SUGGESTION MODE: …]" }] })).toBe("");
  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
  const format = { format: { type: "json_schema", schema } };
  const { events } = await post(model, "/v1/responses", { input: "error 500", text: format });
  expect(events.map(codex.text)).toEqual(['{"title":"scripted"}']);
});

test("a prompt that is not a script is quoted, and a missing tool is reported", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const said = async (prompt: string) => (await ask(model, client, prompt, { stream: true })).events.map(client.text).join("");
  expect(await said("what is this?")).toBe("You said “what is this?”, and this is the scripted answer.");
  expect(await said("tool shell ls")).toBe("None of the tools on offer does this: shell.");
});

test("a prompt in plain language plays its script, and quotes no tool result", async () => {
  await using model = await startModel({ plays: { "fix the login bug": "say First the tests.; tool shell npm test; say All pass." } });
  const [client] = CLIENTS as [Client];
  const prompt = "Please fix the login bug";
  const first = await ask(model, client, prompt, { stream: true, tools: [SHELL] });
  expect(first.events.map(client.text).join("")).toBe("First the tests.");
  expect(first.events.map(client.call)).toContainEqual({ name: SHELL.name, values: { command: "npm test", is_background: false } });
  const second = await ask(model, client, prompt, { stream: true, tools: [SHELL], results: ["ok 3"] });
  expect(second.events.map(client.text).join("")).toBe("All pass.");
});

test("recall repeats earlier texts that the client still sends", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const messages = ["say blue", "say red; cut x0", "recall"].map((content) => ({
    role: "user",
    content: [{ type: "text", text: content }],
  }));
  const said = async (asked: unknown[]) =>
    (await post(model, "/v1/chat/completions", { messages: asked })).events.map(client.text).join("");
  expect(await said(messages)).toBe("I remember: blue, red.");
  expect(await said(messages.slice(2))).toBe("I remember nothing.");
  const guess = { role: "user", content: "[SUGGESTION MODE: …]" };
  expect(await said([{ role: "user", content: "suggest run the tests" }, guess])).toBe("run the tests");
});

test("a background command is marked in its tool call, and arguments that are not JSON are no tool call", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const tool = { name: "Bash", schema: { properties: { command: { type: "string" }, run_in_background: { type: "boolean" } } } };
  const { events } = await ask(model, client, "tool background sleep 9", { stream: false, tools: [tool] });
  expect(events.map(client.call)).toEqual([{ name: "Bash", values: { command: "sleep 9", run_in_background: true } }]);
  const bad = await ask(model, client, "tool Bash {not json}", { stream: false, tools: [tool] });
  expect(bad.events.map(client.text).join("")).toContain("You said “tool Bash {not json}”");
});

test("the model answers other requests of clients, also on its second socket, and refuses invalid JSON", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "holdfast-model-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const socket = path.join(directory, "s");
  await using model = await startModel({ socket });
  const messages = [{ role: "user", content: "12345678" }];
  expect(await get(model, "/")).toEqual({ name: "scripted model" });
  expect(await get(model, "/v1/models")).toMatchObject({ data: [{ id: "scripted" }] });
  expect(await get(model, "/bodies")).toEqual([]);
  expect((await post(model, "/v1/messages/count_tokens", { messages })).events).toEqual([{ input_tokens: 2 }]);
  const contents = [{ role: "user", parts: [{ text: "12345678" }] }];
  expect((await post(model, "/v1beta/models/x:countTokens", { contents })).events).toEqual([{ totalTokens: 2 }]);
  expect((await post(model, "/v1/nowhere", {})).status).toBe(404);
  expect((await http(model, { method: "POST", path: "/v1/messages", body: "{" })).status).toBe(400);
  const there = await new Promise<number>((resolve) =>
    request({ socketPath: socket, path: "/" }, (response) => resolve(response.resume().statusCode ?? 0)).end(),
  );
  expect(there).toBe(200);
});

test("message ids for claude are unique, because it merges messages with the same id", async () => {
  await using model = await startModel();
  const ask = async () => (await post(model, "/v1/messages", { messages: [{ role: "user", content: "say hello" }] })).events[0];
  const [first, second] = [await ask(), await ask()];
  expect(at(first, "id")).toMatch(/^msg_/);
  expect(at(second, "id")).not.toBe(at(first, "id"));
});

test("all words of a talk differ", async () => {
  await using model = await startModel();
  const [client] = CLIENTS as [Client];
  const { events } = await ask(model, client, "talk 400ms", { stream: true });
  const words = events.map(client.text).join("").trim().split(" ");
  expect(words.length).toBe(4);
  expect(new Set(words).size).toBe(4);
});

function at(value: unknown, ...keys: (string | number)[]): unknown {
  return keys.reduce<unknown>((inside, key) => (inside as Record<string | number, unknown> | undefined)?.[key], value);
}

function textAt(value: unknown, ...keys: (string | number)[]): string {
  const found = at(value, ...keys);
  return typeof found === "string" ? found : "";
}

function made(call: unknown, key: string): { name: string; values: unknown } | undefined {
  const values = at(call, key);
  return values === undefined
    ? undefined
    : { name: textAt(call, "name"), values: typeof values === "string" ? JSON.parse(values) : values };
}

type Asking = { stream: boolean; tools?: Tool[]; results?: string[] };

function ask(model: Model, client: Client, prompt: string, options: Asking, signal?: AbortSignal) {
  return post(model, client.path(options.stream), client.body(prompt, options), signal);
}

/** The data of each event of a stream, or the single complete answer. */
async function post(model: Model, path: string, body: unknown, signal?: AbortSignal) {
  const { status, headers, text } = await http(model, { method: "POST", path, body: JSON.stringify(body), signal });
  if (!headers["content-type"]?.includes("event-stream")) return { status, headers, text, events: [JSON.parse(text) as Answer] };
  const data = text.split("\n").flatMap((line) => (line.startsWith("data: ") && line !== "data: [DONE]" ? [line.slice(6)] : []));
  return { status, headers, text, events: data.map((line) => JSON.parse(line) as Answer) };
}

async function get(model: Model, path: string): Promise<unknown> {
  return JSON.parse((await http(model, { method: "GET", path })).text);
}

type Sending = { method: string; path: string; body?: string; signal?: AbortSignal };

function http(model: Model, { method, path, body, signal }: Sending) {
  return new Promise<{ status: number; headers: Record<string, string | undefined>; text: string }>((resolve, reject) => {
    const sent = request(new URL(path, model.url), { method, signal }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, text }));
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
