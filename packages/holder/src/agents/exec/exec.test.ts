import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { McpServer } from "@agentclientprotocol/sdk";
import { ExecOrder } from "@holdfast/contract/agent/order";
import { inspect } from "@holdfast/platform/process";
import { expect, onTestFinished, test } from "vitest";
import { directory, type Talk, talkTo, turn, user, writeTranscript } from "../../../test/test-client.ts";
import { ExecConversation } from "./exec-conversation.ts";

type Given = Partial<Omit<ExecOrder, "context">> & { command: string[]; context?: Partial<ExecOrder["context"]> };

const sh = (script: string) => ["/bin/sh", "-c", script, "sh"];

async function begin(
  given: Given,
  { runs, resume, session, servers }: { runs?: string; resume?: string; session?: object; servers?: McpServer[] } = {},
): Promise<Talk> {
  const order = ExecOrder.parse({ prompt: "stdin", answer: "plain", system: null, ...given, context: { tokens: null, ...given.context } });
  const place = directory();
  onTestFinished(() => place[Symbol.dispose]());
  const talk = talkTo(
    { name: "exec", title: "exec", steers: false, open: (at) => new ExecConversation(order, at, place.path) },
    { ...(runs ? { runs } : {}) },
  );
  await talk.initialize(session);
  if (resume === undefined) await talk.begin(place.path, servers);
  else await talk.resume(place.path, resume);
  return talk;
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable("it succeeded"),
    (error: { message: string; data: { code: string; hint: string; retry: boolean } }) => ({ message: error.message, ...error.data }),
  );

test("a command reads the prompt from standard input, and its output is the answer", async () => {
  await using talk = await begin({ command: ["cat"] });
  const { stopReason, _meta } = await talk.prompt("hello ünïcode");
  expect(stopReason).toBe("end_turn");
  expect(talk.said).toBe("hello ünïcode");
  expect(_meta).toMatchObject({ usage: { context: { size: null } } });
});

test("tokens are estimated from the texts if a command reports none, also while it runs (mend 15)", async () => {
  await using talk = await begin({ command: sh("cat; printf '%0400d' 0"), model: "small" });
  const { _meta } = await talk.prompt("x".repeat(80));
  // Four bytes are a token.
  expect(_meta).toMatchObject({
    usage: { model: "small", input: 20, output: 120, cacheRead: 0, cacheWrite: 0, cost: null, estimated: true },
  });
  const told = talk.of("agent_message_chunk").flatMap(({ _meta: meta }) => (meta?.usage ? [meta.usage] : []));
  expect(told.at(-1)).toMatchObject({ input: 20, output: 120, estimated: true });
});

test("tokens that a command reports replace the estimate (mend 15)", async () => {
  const lines = [
    { type: "assistant", message: { id: "m1", model: "big", usage: { input_tokens: 5, cache_creation_input_tokens: 900 }, content: [] } },
    {
      type: "assistant",
      message: { id: "m1", usage: { input_tokens: 5, cache_creation_input_tokens: 900 }, content: [{ type: "text", text: "four" }] },
    },
    { type: "result", usage: { input_tokens: 6, output_tokens: 7, cache_creation_input_tokens: 901 }, total_cost_usd: 0.5 },
  ];
  await using talk = await begin({
    command: ["printf", "%s\\n", ...lines.map((line) => JSON.stringify(line))],
    prompt: "argument",
    answer: "stream-json",
  });
  const { _meta } = await talk.prompt("hello");
  const usage = { model: "big", input: 6, output: 7, cacheWrite: 901, cost: 0.5 };
  expect(_meta).toMatchObject({ usage });
  expect(_meta).not.toHaveProperty("usage.estimated");
});

test("a prompt can be an argument, at its placeholder or after the last argument, and is never read as a flag", async () => {
  await using inside = await begin({ command: ["printf", "%s|%s", "{prompt}", "end"], prompt: "argument" });
  await inside.prompt("-n x");
  expect(inside.said).toBe(" -n x|end");
  await using part = await begin({ command: ["printf", "%s", "--say={prompt}"], prompt: "argument" });
  await part.prompt("$& and $1");
  expect(part.said).toBe("--say=$& and $1");
  await using behind = await begin({ command: ["printf", "%s"], prompt: "argument" });
  await behind.prompt("words; $(exit 1)");
  expect(behind.said).toBe("words; $(exit 1)");
});

test("a command without a memory gets the earlier conversation, marked as such (TURN-05 conversations)", async () => {
  await using talk = await begin({ command: ["cat"], system: "Be brief." });
  await talk.prompt("one");
  expect(talk.said).toBe("<instructions>\nBe brief.\n</instructions>\n\n<prompt>\none\n</prompt>");
  talk.forget();
  await talk.prompt("two </prompt> </conversation>");
  expect(talk.said).toContain("<conversation>\nThe conversation so far");
  expect(talk.said).toContain("User:\none\n\nYou:\n<instructions>");
  expect(talk.said.match(/<\/conversation>/g)).toHaveLength(2);
  expect(talk.said.match(/<\/prompt>$/)).not.toBeNull();
  expect(talk.notices).toEqual([]);
});

test("a long conversation is cut to its first two and last ten turns, and the command and the client both learn which turns are omitted (TURN-05 conversations)", async () => {
  await using talk = await begin({ command: sh("grep -A1 '^User:\\|omitted' | grep -v User: | grep -v -- -- | paste -sd,") });
  for (let number = 1; number <= 13; number++) await talk.prompt(`prompt${number}`);
  expect(talk.notices).toEqual([]);
  talk.forget();
  await talk.prompt("prompt14");
  const numbers = talk.said.match(/(?<=^|,)prompt\d+(?=,|$)/gm) ?? [];
  expect(new Set(numbers)).toEqual(new Set([1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((number) => `prompt${number}`)));
  expect(talk.said).toContain("[Turns omitted here: 1.]");
  expect(talk.notices).toEqual(["turn 3 of 13 is omitted from the agent's context"]);
  expect(talk.of("notice")[0]).toMatchObject({ severity: "info", _meta: { "holdfast/about": "left_out" } });
});

test("a client that shows no notices gets the omitted turns reported in the answer", async () => {
  await using talk = await begin({ command: ["true"], context: { first: 0, last: 0 } }, { session: {} });
  await talk.prompt("one");
  talk.forget();
  await talk.prompt("two");
  expect(talk.of("notice")).toEqual([]);
  expect(talk.said).toContain("[turn 1 of 1 is omitted from the agent's context]");
});

test("a token limit drops the oldest turns first, and a warning is shown once at 80 % (TURN-05 conversations)", async () => {
  await using talk = await begin({ command: sh("cat >/dev/null; printf %0400d 0"), context: { first: 1, last: 10, tokens: 350 } });
  for (const word of ["a", "b", "c"]) await talk.prompt(word);
  expect(talk.notices).toEqual([]);
  expect(talk.of("usage_update").map(({ used, size }) => [used, size])).toEqual([
    [1, 350],
    [102, 350],
    [203, 350],
  ]);
  await talk.prompt("d");
  expect(talk.notices).toEqual(["the context is 87 % full: about 304 of 350 tokens"]);
  talk.forget();
  await talk.prompt("e");
  expect(talk.notices).toEqual(["turn 2 of 4 is omitted from the agent's context to save space"]);
  expect(talk.of("usage_update")[0]?.used).toBe(304);
});

test("a prompt longer than the limit is refused before the command runs", async () => {
  await using talk = await begin({ command: ["cat"], context: { tokens: 10 } });
  expect(await failure(talk.prompt("x".repeat(100)))).toMatchObject({
    code: "context_full",
    retry: false,
    message: expect.stringContaining("25 tokens"),
  });
  expect(talk.said).toBe("");
  await talk.prompt("short");
  expect(talk.said).toBe("short");
});

test("a conversation given as an argument is shortened to fit into it, whatever the limit", async () => {
  await using talk = await begin({ command: ["printf", "%.20s"], prompt: "argument", context: { tokens: 1_000_000 } });
  for (let round = 0; round < 4; round++) await talk.prompt(`${round}${"x".repeat(60_000)}`);
  expect(talk.notices.at(-1)).toContain("to save space");
});

test("/clear begins a new context", async () => {
  await using talk = await begin({ command: ["cat"] });
  await talk.prompt("one");
  expect(await talk.prompt(" /clear ")).toMatchObject({ stopReason: "end_turn" });
  expect(talk.notices).toEqual(["the agent's memory is cleared"]);
  talk.forget();
  await talk.prompt("two");
  expect(talk.said).toBe("two");
});

test("a resumed conversation includes the readable transcripts of earlier runs (TURN-05 conversations)", async () => {
  using place = directory();
  writeTranscript(place.path, 1, [...turn("forgotten", "x"), user("/clear"), ...turn("first", "answer one")], '{"v":1,"n":9,"type":"us');
  writeTranscript(place.path, 2, [
    user("second", { addition: "added" }),
    { type: "text", text: "answer " },
    { type: "thought", text: "unsaid" },
    { type: "tool_started", call: "t1", title: "ls", kind: "execute", input: {}, files: [] },
    { type: "tool_output", call: "t1", title: "ls -l", text: "out", changes: [] },
    { type: "tool_completed", call: "t1", ok: false },
    user("by the way", { steer: true }),
    { type: "text", text: "two" },
  ]);
  writeTranscript(place.path, 10, [...turn("third", "", "failed"), ...turn("fourth", "part", "cancelled")]);
  writeFileSync(join(place.path, "11"), "no directory");
  await using talk = await begin({ command: ["cat"] }, { runs: place.path, resume: "conversation-1" });
  await talk.prompt("now");
  expect(talk.said).toContain(
    [
      "User:\nfirst\n\nYou:\nanswer one",
      "User:\nsecond\n\nadded\n\nYou:\nanswer\n\nYou used a tool: ls -l (failed)\n\nUser:\nby the way\n\nYou:\ntwo\n\n[This turn was interrupted here.]",
      "User:\nfourth\n\nYou:\npart\n\n[The user cancelled this turn here.]\n</conversation>",
    ].join("\n\n"),
  );
});

test("cancel ends the command and its child processes, and keeps the output so far", async () => {
  await using talk = await begin({ command: sh("echo before; sleep 1000 & echo $!; wait") });
  const running = talk.prompt("go");
  await talk.until(() => /before\n\d+/.test(talk.said));
  await talk.cancel();
  expect(await running).toMatchObject({ stopReason: "cancelled" });
  const pid = Number(/\d+/.exec(talk.said)?.[0]);
  expect(inspect(pid)?.zombie ?? true).toBe(true);
});

test("a command that ignores SIGTERM is killed", async () => {
  await using talk = await begin({ command: sh("trap '' TERM; echo ready; while :; do sleep 0.05; done") });
  const running = talk.prompt("go");
  await talk.until(() => talk.said.includes("ready"));
  await talk.cancel();
  expect(await running).toMatchObject({ stopReason: "cancelled" });
});

test("prompts of several clients are answered one after the other, and cancel also ends waiting prompts", async () => {
  await using talk = await begin({ command: sh("cat; test ! -e slow || sleep 1000") });
  const [one, two] = await Promise.all([talk.prompt("one"), talk.prompt("two")]);
  expect([one.stopReason, two.stopReason]).toEqual(["end_turn", "end_turn"]);
  expect(talk.said.indexOf("one")).toBeLessThan(talk.said.lastIndexOf("two"));
  await using slow = await begin({ command: sh("echo x; sleep 1000") });
  const waiting = [slow.prompt("1"), slow.prompt("2")];
  await slow.until(() => slow.said.includes("x"));
  await slow.cancel();
  expect((await Promise.all(waiting)).map(({ stopReason }) => stopReason)).toEqual(["cancelled", "cancelled"]);
  expect(slow.said).toBe("x\n");
});

test("a failed command is reported with its exit code and last output, and can be retried (TURN-10 conversations)", async () => {
  using place = directory();
  const flag = join(place.path, "works");
  await using talk = await begin({
    command: sh(`test -e ${flag} && exec cat; echo half; echo no key >&2; echo see the manual >&2; exit 3`),
  });
  expect(await failure(talk.prompt("go"))).toMatchObject({
    code: "command_failed",
    message: "sh ended with exit code 3: see the manual",
    hint: "its last output: no key / see the manual",
    retry: true,
  });
  expect(talk.said).toBe("half\n");
  writeFileSync(flag, "");
  talk.forget();
  await talk.prompt("go");
  expect(talk.said).toContain("You:\nhalf\n\n[This turn was interrupted here.]");
});

test("a command that is killed by a signal, missing, silent or too long is reported", async () => {
  await using killed = await begin({ command: sh("kill -9 $$") });
  expect(await failure(killed.prompt("go"))).toMatchObject({
    message: "sh was ended by SIGKILL",
    hint: expect.stringContaining("by hand"),
  });
  await using missing = await begin({ command: ["/nowhere/agent"] });
  expect(await failure(missing.prompt("go"))).toMatchObject({
    message: "agent could not be started: the program was not found",
    retry: false,
  });
  await using silent = await begin({ command: ["true"] });
  await silent.prompt("go");
  expect(silent.notices).toEqual(["true succeeded without output"]);
  await using long = await begin({ command: ["printf", "%s", "x".repeat(140_000)], prompt: "argument" });
  expect(await failure(long.prompt("go"))).toMatchObject({
    message: expect.stringContaining("too long for an argument"),
    hint: expect.stringContaining("stdin"),
  });
});

test("a background process that a command leaves behind does not keep the turn open", async () => {
  await using talk = await begin({ command: sh("sleep 1000 & echo $!") });
  await talk.prompt("go");
  process.kill(Number(talk.said), "SIGKILL");
  expect(Number(talk.said)).toBeGreaterThan(1);
});

test("a command with its own memory gets only the prompt and the conversation id", async () => {
  using place = directory();
  const remembers = { begin: ["--session-id", "{id}"], resume: ["--resume", "{id}"] };
  const given = { command: sh('printf "%s %s: " "$1" "$2"; cat'), system: "Be brief.", context: { remembers } };
  await using talk = await begin(given);
  await talk.prompt("one");
  expect(talk.said).toBe(`--session-id ${talk.id}: <instructions>\nBe brief.\n</instructions>\n\n<prompt>\none\n</prompt>`);
  talk.forget();
  const { _meta } = await talk.prompt("two");
  expect(talk.said).toBe(`--resume ${talk.id}: two`);
  expect(_meta).toMatchObject({ usage: { context: null } });
  await talk.prompt("/clear");
  talk.forget();
  await talk.prompt("three");
  expect(talk.said).toMatch(/^--session-id (?!undefined)[\w-]{36}: /);
  expect(talk.said).not.toContain(talk.id);

  writeTranscript(place.path, 1, turn("one", "answer"));
  await using again = await begin(given, { runs: place.path, resume: "its-id" });
  await again.prompt("two");
  expect(again.said).toBe("--resume its-id: two");

  writeTranscript(place.path, 2, [{ type: "note", about: "cleared", text: "" }, ...turn("four", "answer")]);
  await using cleared = await begin(given, { runs: place.path, resume: "its-id" });
  await cleared.prompt("five");
  expect(cleared.said).toMatch(/^--session-id [\w-]{36}: [\s\S]*User:\nfour/);
  expect(cleared.said).not.toContain("its-id");

  // A conversation that began when another was cleared keeps its own id.
  writeTranscript(place.path, 3, [{ type: "note", about: "cleared", text: "", conversation: "next-id" }, ...turn("six", "answer")]);
  await using next = await begin(given, { runs: place.path, resume: "next-id" });
  await next.prompt("seven");
  expect(next.said).toBe("--resume next-id: seven");
});

test("claude's stream-json becomes text, thoughts, tools and usage, and unknown lines are ignored", async () => {
  const lines = [
    { type: "system", subtype: "init", session_id: "s", model: "opus" },
    "no JSON at all",
    { type: "rate_limit_event", status: "allowed" },
    {
      type: "assistant",
      message: {
        model: "opus",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "I look." },
        ],
      },
    },
    { type: "assistant", message: { content: [{ type: "tool_use", id: "t1", name: "Read", input: { file_path: "/a/b.ts" } }] } },
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "content" }] }] } },
    { type: "assistant", parent_tool_use_id: "t2", message: { content: [{ type: "text", text: "of another agent" }] } },
    { type: "assistant", message: { content: [{ type: "text", text: " Done." }, { type: "image" }] } },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result: "Done.",
      total_cost_usd: 0.25,
      usage: { input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 30, cache_creation_input_tokens: 40 },
    },
  ];
  await using talk = await answering(lines);
  const response = await talk.prompt("go");
  expect(talk.said).toBe("I look. Done.");
  expect(talk.of("agent_thought_chunk")).toHaveLength(1);
  expect(talk.of("tool_call")).toMatchObject([
    { toolCallId: "t1", title: "Read /a/b.ts", kind: "read", name: "Read", status: "in_progress", locations: [{ path: "/a/b.ts" }] },
  ]);
  expect(talk.of("tool_call_update")).toMatchObject([
    { toolCallId: "t1", status: "completed", content: [{ content: { text: "content" } }] },
  ]);
  expect(response._meta).toMatchObject({ usage: { model: "opus", input: 10, output: 20, cacheRead: 30, cacheWrite: 40, cost: 0.25 } });
  expect(response.usage).toEqual({ inputTokens: 10, outputTokens: 20, cachedReadTokens: 30, cachedWriteTokens: 40, totalTokens: 100 });
});

test("text that was streamed in pieces is not repeated", async () => {
  const delta = (text: string) => ({ type: "stream_event", event: { type: "content_block_delta", delta: { type: "text_delta", text } } });
  const thinking = { type: "stream_event", event: { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "hm" } } };
  await using talk = await answering([
    { type: "stream_event", event: { type: "message_start" } },
    thinking,
    delta("Hel"),
    delta("lo"),
    { type: "stream_event", event: { type: "content_block_delta", delta: { type: "input_json_delta" } } },
    {
      type: "assistant",
      message: {
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Hello" },
        ],
      },
    },
    { type: "result", is_error: false, result: "Hello", usage: {} },
  ]);
  await talk.prompt("go");
  expect(talk.said).toBe("Hello");
  expect(talk.of("agent_thought_chunk")).toHaveLength(1);
});

test("gemini's stream-json is understood", async () => {
  await using talk = await answering([
    { type: "init", session_id: "s", model: "gemini-pro" },
    { type: "message", role: "user", content: "go" },
    { type: "message", role: "assistant", content: "I ", delta: true },
    { type: "tool_use", tool_name: "run_shell_command", tool_id: "t1", parameters: { command: "false\nmore" } },
    { type: "tool_result", tool_id: "t1", status: "error", error: { type: "X", message: "exit 1" } },
    { type: "error", severity: "warning", message: "loop detected" },
    { type: "message", role: "assistant", content: "tried.", delta: true },
    { type: "result", status: "success", stats: { total_tokens: 30, input_tokens: 20, output_tokens: 10, cached: 5 } },
  ]);
  const { _meta } = await talk.prompt("go");
  expect(talk.said).toBe("I tried.");
  expect(talk.of("tool_call")).toMatchObject([{ title: "run_shell_command false", kind: "execute" }]);
  expect(talk.of("tool_call_update")).toMatchObject([{ status: "failed", content: [{ content: { text: "exit 1" } }] }]);
  expect(_meta).toMatchObject({ usage: { model: "gemini-pro", input: 15, output: 10, cacheRead: 5, cacheWrite: 0, cost: null } });
});

test("an answer that is only in the result is used; a failed result, or output that is not stream-json, is an error", async () => {
  await using late = await answering([{ type: "result", is_error: false, result: "All of it." }]);
  await late.prompt("go");
  expect(late.said).toBe("All of it.");
  await using failed = await answering([{ type: "result", is_error: true, result: "Invalid API key" }]);
  expect(await failure(failed.prompt("go"))).toMatchObject({ code: "command_failed", message: "cat failed: Invalid API key" });
  await using gemini = await answering([
    { type: "error", severity: "error", message: "quota" },
    { type: "result", status: "error", error: { message: "quota exceeded" } },
  ]);
  expect(await failure(gemini.prompt("go"))).toMatchObject({ message: "cat failed: quota exceeded" });
  await using foreign = await answering(["Hello!", 7]);
  expect(await failure(foreign.prompt("go"))).toMatchObject({ code: "malformed_answer", hint: expect.stringContaining('"plain"') });
});

/** A conversation whose command prints these lines; the last line has no newline. */
async function answering(lines: unknown[]): Promise<Talk> {
  const place = directory();
  onTestFinished(() => place[Symbol.dispose]());
  const file = join(place.path, "answer");
  writeFileSync(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return begin({ command: ["cat", file], answer: "stream-json" });
}

const TICKETS: McpServer = { name: "tickets", command: "tickets-mcp", args: ["--stdio"], env: [{ name: "URL", value: "x" }] };

test("a command with a placeholder for MCP servers gets them in a private file, and a placeholder in the prompt is not replaced", async () => {
  await using talk = await begin({ command: sh('stat -c %a "$1"; cat "$1" -; exit 0').concat("{mcp}") }, { servers: [TICKETS] });
  await talk.prompt("my {mcp}");
  expect(talk.said).toMatch(/^600\n/);
  expect(talk.said).toMatch(/my \{mcp\}$/);
  const [file] = /\{\n[\s\S]*\n\}\n/.exec(talk.said) ?? [""];
  expect(JSON.parse(file)).toEqual({ mcpServers: { tickets: { command: "tickets-mcp", args: ["--stdio"], env: { URL: "x" } } } });
  expect(talk.notices).toEqual([]);
});

test("a command without a placeholder for MCP servers runs without them, which is reported once", async () => {
  await using talk = await begin({ command: ["cat"] }, { servers: [TICKETS] });
  await talk.prompt("one");
  await talk.prompt("two");
  expect(talk.notices).toEqual(["the command takes no MCP servers: tickets will be missing"]);
});
