/** Holdfast's own two agents as programs: over a holder's pipes, and as a user runs them. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { startModel } from "../agents/src/model/server.ts";
import { directory, type Talk, talkOver, turn, writeTranscript } from "../packages/holder/test/test-client.ts";
import { inspect } from "../packages/platform/src/process.ts";
import { eventually, ROOT, TestHome } from "./home.ts";

const EXEC = join(ROOT, "packages/holder/src/agents/exec/main.ts");
const MODEL = join(ROOT, "packages/holder/src/agents/model/main.ts");

function orderIn(path: string, order: object): string {
  mkdirSync(path, { recursive: true });
  const file = join(path, "order.json");
  writeFileSync(file, JSON.stringify(order));
  return file;
}

const exec = (command: string[]) => ({ command, prompt: "stdin", answer: "plain", context: { tokens: null }, system: null });

async function open(talk: Talk, cwd: string): Promise<Talk> {
  await talk.initialize();
  await talk.begin(cwd);
  return talk;
}

test("a command per turn works over real pipes, and a later run knows the previous one", async () => {
  using at = directory();
  const runs = join(at.path, "runs");
  const order = orderIn(join(runs, "1"), exec(["cat"]));
  await using talk = await open(talkOver(EXEC, order, { cwd: at.path, runs }), at.path);
  await talk.prompt("hello");
  expect(talk.said).toBe("hello");
  writeTranscript(runs, 1, turn("hello", "hello"));
  // A transcript in its own run is the turn in progress, not history.
  writeTranscript(runs, 2, turn("not yet", "said"));
  await using next = talkOver(EXEC, orderIn(join(runs, "2"), exec(["cat"])), { cwd: at.path, runs });
  expect(await next.initialize()).toMatchObject({
    agentInfo: { name: "holdfast-exec", title: "cat" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} }, _meta: { "_holdfast/steer": false } },
  });
  await next.resume(at.path, "the-id");
  await next.prompt("again");
  expect(next.said).toContain("User:\nhello\n\nYou:\nhello");
  expect(next.said).not.toContain("not yet");
});

test.each(["the client goes away", "it is asked to end"])("when %s, the agent ends its processes and itself", async (how) => {
  using at = directory();
  const order = orderIn(at.path, exec(["sh", "-c", "sleep 1000 & echo $!; wait"]));
  await using talk = await open(talkOver(EXEC, order, { cwd: at.path }), at.path);
  talk.prompt("go").catch(() => {});
  await talk.until(() => /^\d+\n$/.test(talk.said));
  const pid = Number(talk.said);
  if (how === "it is asked to end") talk.child?.kill("SIGTERM");
  else talk.child?.stdin?.end();
  await eventually(() => inspect(pid)?.zombie ?? true);
  await eventually(() => talk.child?.exitCode === 0);
});

test("the built-in agent over real pipes, with its key in the environment", async () => {
  using at = directory();
  await using model = await startModel();
  const order = orderIn(at.path, { api: null, endpoint: null, model: null, keyEnv: null, tools: null, context: {}, system: null });
  const env = { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "sk-secret", OPENAI_MODEL: "scripted" };
  await using talk = talkOver(MODEL, order, { cwd: at.path, env });
  expect(await talk.initialize()).toMatchObject({ agentCapabilities: { loadSession: false, _meta: { "_holdfast/steer": true } } });
  await talk.begin(at.path);
  writeFileSync(join(at.path, "a.txt"), "over pipes");
  await talk.prompt('tool read_file {"path":"a.txt"}');
  expect(talk.said).toContain("The tool answered: over pipes");
  expect(readFileSync(order, "utf8")).not.toContain("secret");
});

test("an invalid order ends the agent with the reason", async () => {
  using at = directory();
  const { spawnSync } = await import("node:child_process");
  const { status, stderr } = spawnSync(process.execPath, [EXEC, orderIn(at.path, { prompt: "mail" })], { encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toContain("order.json cannot be read");
  expect(stderr).toContain("command");
  expect(spawnSync(process.execPath, [MODEL], { encoding: "utf8" })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("the order cannot be read"),
  });
});

async function transcript(home: TestHome, name: string): Promise<string> {
  return home.ok(["transcript", name]);
}

test("a command of config.toml is a conversation; after a kill of its process the conversation continues (TURN-05 conversations)", async () => {
  await using home = new TestHome();
  home.env.XDG_CONFIG_HOME = join(home.root, "configuration");
  mkdirSync(join(home.root, "configuration/holdfast"), { recursive: true });
  writeFileSync(
    join(home.root, "configuration/holdfast/config.toml"),
    '[agents.parrot.exec]\ncommand = ["sh", "-c", "cat; echo; echo given: $*", "sh"]\n',
  );
  await home.json<Session>(["spawn", "--chat", "parrot", "--name", "p", "--prompt", "first words", "--", "--loud"]);
  const first = await home.until("p", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await transcript(home, "p")).toContain("first words\ngiven: --loud");
  process.kill(first.pid ?? 0, "SIGKILL");
  await home.ended("p");
  await home.ok(["resume", "p"]);
  await home.ok(["send", "p", "second words"]);
  await home.until("p", ({ status, turns }) => status === "idle" && turns === 2);
  expect(await transcript(home, "p")).toMatch(/<conversation>[\s\S]*User:\nfirst words[\s\S]*<prompt>\nsecond words/);
  expect(await home.cli(["spawn", "parrot"])).toMatchObject({ code: 2, stderr: expect.stringContaining("runs only as a conversation") });
});

test("the built-in agent asks in the inbox before changes, and works in its session's directory", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  const cwd = realpathSync(home.root);
  Object.assign(home.env, { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
  const prompt = 'tool write_file {"path":"made.txt","content":"by the agent"}\nsay that was it';
  await home.json<Session>(["spawn", "--chat", "model", "--name", "m", "--cwd", cwd, "--prompt", prompt]);
  await home.until("m", ({ status }) => status === "waiting");
  const [{ id } = { id: "" }] = await home.json<{ id: string }[]>(["approvals"]);
  await home.ok(["approvals", "allow", id]);
  await home.until("m", ({ status, turns }) => status === "idle" && turns === 1);
  expect(readFileSync(join(cwd, "made.txt"), "utf8")).toBe("by the agent");
  expect(await transcript(home, "m")).toContain("that was it");
});

test("usage of a turn that fails is counted", async () => {
  await using home = new TestHome();
  await using model = await startModel();
  Object.assign(home.env, { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
  const prompt = "tool list_files {}\nerror 400";
  const { id } = await home.json<Session>(["spawn", "--chat", "model", "--name", "m", "--prompt", prompt]);
  await home.until("m", ({ status, turns }) => status === "idle" && turns === 1);
  const lines = readFileSync(join(home.path, "sessions", id, "runs/1/transcript.jsonl"), "utf8")
    .trim()
    .split("\n");
  const entries = lines.map((line) => JSON.parse(line) as { type: string; input?: number; code?: string });
  expect(entries.slice(-3)).toMatchObject([
    { type: "usage", model: "scripted", input: expect.any(Number), context: { size: 100_000 } },
    { type: "error", code: "model_failed" },
    { type: "turn_ended", reason: "failed" },
  ]);
});

test("a command's tokens are estimated, marked as estimates, and its budget acts within the turn (mend 15)", async () => {
  await using home = new TestHome();
  const config = join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(join(config, ".."), { recursive: true });
  const command = JSON.stringify(["sh", "-c", "cat; head -c 4000 /dev/zero | tr '\\0' x; sleep 600"]);
  writeFileSync(config, `[agents.talks.exec]\ncommand = ${command}\n[agents.brief.exec]\ncommand = ["cat"]\n`);
  await home.ok(["spawn", "--chat", "talks", "--name", "talks", "--budget", "tokens=900", "--prompt", "hello"]);
  const ended = await home.until("talks", ({ status }) => status === "stopped");
  expect(ended.budget?.exceeded).toMatchObject({ limit: "tokens", allowed: 900 });
  expect(ended.spent).toMatchObject({ estimated: true });
  expect(await home.ok(["show", "talks"])).toMatch(/tokens .*out \(estimated\)/);
  expect(await home.ok(["transcript", "talks", "--all"])).toMatch(/token limit 900 reached[\s\S]*tokens in, \d+ out \(estimated\)/);
  expect(await home.ok(["usage", "talks"])).toMatch(/~1k[\s\S]*~ is estimated/);
  const once = await home.json<{ usage: object }>(["chat", "brief", "-p", "hello"]);
  expect(once.usage).toMatchObject({ estimated: true, input: expect.any(Number) });
  // Without a model there is no price, so the limit could not be enforced.
  const refused = await home.cli(["spawn", "--chat", "brief", "--budget", "cost=1"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("brief does not report its cost") });
});
