/** Sessions that are conversations: an agent behind a protocol, its transcript, and both after a crash. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import type { AnyEvent, Approval, Message, PlacedEntry, PruneReply, RestoreItem, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { eventually, TestHome } from "./home.ts";
import { pullThePlug } from "./plug.ts";

const USER = `user:${userInfo().username}`;

/** The demo agent, idle. */
async function talk(home: TestHome, name: string, ...flags: string[]): Promise<Session> {
  await home.ok(["spawn", "--chat", "demo", "--name", name, ...flags]);
  return home.until(name, ({ status }) => status === "idle");
}

async function entries(home: TestHome, name: string): Promise<PlacedEntry[]> {
  const printed = await home.ok(["transcript", "--json", name]);
  return printed
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as PlacedEntry);
}

async function types(home: TestHome, name: string): Promise<string[]> {
  return (await entries(home, name)).map(({ entry }) => entry.type);
}

async function said(home: TestHome, name: string): Promise<string> {
  return (await entries(home, name)).flatMap(({ entry }) => (entry.type === "text" ? [entry.text] : [])).join("");
}

async function events(home: TestHome, ...wanted: string[]): Promise<AnyEvent[]> {
  const printed = await home.ok(["events", ...wanted.flatMap((type) => ["--type", type])]);
  return printed
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
}

function holderOf(home: TestHome): number {
  const holder = home.processes().find(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("conversation-holder.mjs"));
  if (!holder) throw new Error("there is no holder");
  return holder.pid;
}

test("a conversation starts with its first prompt, has an exact status, and its transcript can be read during a turn (BG-08 conversations)", async () => {
  await using home = new TestHome();
  const session = await home.json<Session>(["spawn", "--chat", "demo", "--name", "api", "--prompt", "think hard\nsay all is well"]);
  expect(session).toMatchObject({ kind: "conversation", host: "native", agent: "demo" });
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  const told = (await types(home, "api")).filter((type, at, all) => type !== all[at - 1] && type !== "usage_so_far");
  expect(told).toEqual(["user", "note", "thought", "text", "usage", "turn_ended"]);
  expect(await home.ok(["transcript", "api"])).toContain("all is well");
  expect(await home.ok(["last", "api"])).toBe("all is well\n");
  await home.ok(["send", "api", "sleep 60000"]);
  expect(await home.until("api", ({ status }) => status === "working")).toMatchObject({ turn: "working", turns: 2 });
  expect(await home.ok(["explain", "api"])).toContain("protocol");
  expect((await types(home, "api")).at(-1)).toBe("user");
});

test("turns, tools and usage are typed events, and a turn names its sender (BG-04 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "run echo done\nusage 10 5", "--wait"]);
  const found = await events(home, "turn.started", "tool.started", "tool.output", "tool.completed", "turn.ended", "usage.recorded");
  expect(found.map(({ type }) => type)).toEqual([
    "turn.started",
    "tool.started",
    "tool.output",
    "tool.completed",
    "usage.recorded",
    "turn.ended",
  ]);
  const [started, tool, output, , usage, ended] = found.map(({ data }) => data);
  expect(started).toMatchObject({ from: USER, text: "run echo done\nusage 10 5" });
  expect(tool).toMatchObject({ kind: "execute", turn: started?.turn });
  expect(output).toMatchObject({ text: expect.stringContaining("done") });
  expect(usage).toMatchObject({ input: 10, output: 5, source: "protocol", turn: started?.turn });
  expect(ended).toMatchObject({ reason: "completed", turn: started?.turn });
});

test("messages sent at once become one turn each, in order, with their sender", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  const words = ["one", "two", "three", "four", "five"];
  for (const word of words) await home.ok(["send", "api", `sleep 50\nsay ${word}`, "--json"]);
  await eventually(async () => (await home.session("api")).turns === 5 && (await home.session("api")).status === "idle");
  expect(await said(home, "api")).toBe(words.join(""));
  const all = await entries(home, "api");
  const users = all.flatMap(({ entry }) => (entry.type === "user" ? [entry] : []));
  expect(users.map(({ from }) => from)).toEqual(words.map(() => USER));
  const messages = await home.json<Message[]>(["messages"]);
  expect(messages.map(({ state, reply }) => [state, reply])).toEqual(words.map((word) => ["replied", word]));
});

test("cancel ends the running turn and keeps its partial text; a steering message goes into the running turn (TURN-08 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "say so far\nsleep 30000\nsay never"]);
  await eventually(async () => (await said(home, "api")) === "so far");
  await home.ok(["send", "api", "say waits"]);
  expect(await home.ok(["cancel", "api"])).toBe("api: interrupted\n");
  await eventually(async () => (await said(home, "api")) === "so farwaits");
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 2);
  const all = await entries(home, "api");
  expect(all.flatMap(({ entry }) => (entry.type === "turn_ended" ? [entry.reason] : []))).toEqual(["cancelled", "completed"]);
  expect((await home.json<Message[]>(["messages"])).map(({ state }) => state)).toEqual(["failed", "replied"]);
  expect(await home.ok(["cancel", "api"])).toBe("api: no turn is running\n");
  await home.ok(["send", "api", "sleep 30000"]);
  await home.until("api", ({ status }) => status === "working");
  expect(await home.ok(["send", "api", "say steered", "--steer", "--wait"])).toBe("steered\n");
});

test("a permission request is in the inbox, and the answer reaches the agent, even after a daemon kill (NEW-04 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "ask edit\nask execute"]);
  const waiting = await home.until("api", ({ status }) => status === "waiting");
  expect(waiting.attention).toMatchObject({ for: "approval" });
  const [first] = await home.json<Approval[]>(["approvals"]);
  expect(first).toMatchObject({ channel: "protocol", answers: ["allow", "deny"], name: "api" });
  await home.killDaemon();
  expect((await home.session("api")).status).toBe("waiting");
  await home.ok(["approvals", "allow", "api"]);
  await eventually(async () => (await said(home, "api")).includes("Allowed"));
  await home.until("api", ({ status }) => status === "waiting");
  await home.ok(["approvals", "deny", "api"]);
  await home.until("api", ({ status }) => status === "idle");
  const answers = (await entries(home, "api")).flatMap(({ entry }) =>
    entry.type === "approval_answered" ? [[entry.allowed, entry.by]] : [],
  );
  expect(answers).toEqual([
    [true, USER],
    [false, USER],
  ]);
});

test("a daemon kill during a turn loses nothing and repeats nothing", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "stream 400 200\nrun echo after"]);
  await eventually(async () => (await entries(home, "api")).length > 50);
  await home.killDaemon();
  await home.ok(["send", "api", "say next"]);
  await home.killDaemon();
  await eventually(async () => (await home.session("api")).turns === 2 && (await home.session("api")).status === "idle");
  const all = await entries(home, "api");
  expect(all.map(({ entry }) => entry.n)).toEqual(all.map((_, index) => index + 1));
  const facts = await events(home, "turn.started", "turn.ended", "tool.started", "tool.completed");
  expect(facts.map(({ type }) => type)).toEqual([
    "turn.started",
    "tool.started",
    "tool.completed",
    "turn.ended",
    "turn.started",
    "turn.ended",
  ]);
  expect((await home.json<Message[]>(["messages"])).map(({ state }) => state)).toEqual(["replied", "replied"]);
});

test("a turn cut off with its keeper is marked interrupted, and the conversation continues, even after a kill of everything (TURN-03 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "remember the tides", "--wait"]);
  await home.ok(["send", "api", "say half\nsleep 60000"]);
  await eventually(async () => (await said(home, "api")).endsWith("half"));
  process.kill(holderOf(home), "SIGKILL");
  await home.until("api", ({ status }) => status === "lost");
  expect((await entries(home, "api")).at(-1)?.entry).toMatchObject({ type: "turn_ended", reason: "interrupted" });
  expect((await home.json<Message[]>(["messages"])).at(-1)).toMatchObject({ state: "failed", known: true });
  expect(await home.ok(["resume", "api"])).toContain("continues its conversation");
  expect(await home.ok(["send", "api", "recall", "--wait"])).toContain("the tides");
  await home.killDaemon();
  for (const { pid } of home.processes()) process.kill(pid, "SIGKILL");
  await eventually(() => home.processes().length === 0);
  await home.ok(["resume", "api"]);
  expect(await home.ok(["send", "api", "recall", "--wait"])).toContain("the tides");
});

test("a crashed agent ends its session as failed, with an error in the transcript, and can be resumed", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  // Does not wait for the receipt, because the message may already have failed.
  await home.ok(["send", "api", "say before\ncrash", "--no-wait"]);
  const ended = await home.ended("api");
  expect(ended.status).toBe("failed");
  const all = await entries(home, "api");
  expect(all.slice(-2).map(({ entry }) => entry.type)).toEqual(["error", "turn_ended"]);
  expect((await home.cli(["send", "api", "hello"])).stderr).toContain("holdfast resume api");
  await home.ok(["resume", "api"]);
  expect(await home.ok(["send", "api", "say back", "--wait"])).toBe("back\n");
});

test("messages queued for a killed agent go to its next run, in order; messages queued for a stopped agent fail", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "sleep 60000"]);
  const { pid } = await home.until("api", ({ status }) => status === "working");
  await home.ok(["send", "api", "say one"]);
  const waiting = home.cli(["send", "api", "say two", "--wait"]);
  await eventually(async () => (await home.json<Message[]>(["messages"])).length === 3);
  process.kill(pid ?? 0, "SIGKILL");
  await home.ended("api");
  const { code, stderr } = await waiting;
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining("its next run gets the message") });
  expect(stderr).toContain("holdfast resume api");
  const states = async () => (await home.json<Message[]>(["messages"])).map(({ state, held }) => (held ? "held" : state));
  expect(await states()).toEqual(["failed", "held", "held"]);
  await home.killDaemon();
  await home.ok(["resume", "api"]);
  await eventually(async () => (await said(home, "api")) === "onetwo");
  await home.ok(["send", "api", "sleep 60000"]);
  await home.ok(["send", "api", "say three"]);
  await home.ok(["stop", "api"]);
  await eventually(async () => (await states()).join() === "failed,replied,replied,failed,failed");
});

test("an agent's file requests work only inside its workspace, wherever links lead", async () => {
  await using home = new TestHome();
  writeFileSync(path.join(home.root, "outside.txt"), "secret");
  const project = path.join(home.root, "project");
  await home.ok(["run", "--name", "make", "--", "mkdir", "-p", project]);
  await home.ended("make");
  symlinkSync(path.join(home.root, "outside.txt"), path.join(project, "link.txt"));
  symlinkSync(home.root, path.join(project, "up"));
  await talk(home, "api", "--cwd", project);
  await home.ok(["send", "api", "write inside.txt hello", "--wait"]);
  expect(readFileSync(path.join(project, "inside.txt"), "utf8").trim()).toBe("hello");
  for (const way of ["link.txt", "up/outside.txt", path.join(home.root, "outside.txt"), "../outside.txt"]) {
    await home.cli(["send", "api", `read ${way}`, "--wait"]);
    await home.cli(["send", "api", `write ${way} broken`, "--wait"]);
  }
  expect(readFileSync(path.join(home.root, "outside.txt"), "utf8")).toBe("secret");
  expect(await said(home, "api")).not.toContain("secret");
});

test("a torn last line is cut off; a damaged transcript is set aside, and its readable part is kept (TURN-07 conversations)", async () => {
  await using home = new TestHome();
  const { id } = await talk(home, "api");
  const file = path.join(home.path, "sessions", id, "runs", "1", "transcript.jsonl");
  await home.ok(["send", "api", "say one", "--wait"]);
  process.kill(holderOf(home), "SIGSTOP");
  appendFileSync(file, '{"v":1,"n":99,"type":"te');
  process.kill(holderOf(home), "SIGKILL");
  await home.until("api", ({ status }) => status === "lost");
  expect(await types(home, "api")).not.toContain("damaged");
  expect(readFileSync(file, "utf8")).not.toContain('"n":99');
  const lines = readFileSync(file, "utf8").split("\n");
  await home.ok(["resume", "api"]);
  await home.ok(["send", "api", "say two", "--wait"]);
  const second = file.replace("/1/", "/2/");
  writeFileSync(second, readFileSync(second, "utf8").replace(/\n/, "\nnot json at all\n"));
  process.kill(holderOf(home), "SIGKILL");
  await home.until("api", ({ status }) => status === "lost");
  const [torn, damage] = await events(home, "transcript.damaged");
  expect(torn?.data).toMatchObject({ run: 1, lines: 1 });
  expect(damage?.data).toMatchObject({ run: 2, lines: 1, aside: expect.stringContaining("damaged/") });
  expect(readFileSync(String(damage?.data.aside), "utf8")).toContain("not json at all");
  expect(readFileSync(second, "utf8")).not.toContain("not json at all");
  expect(await said(home, "api")).toBe("onetwo");
  expect(readFileSync(file, "utf8").split("\n")).toEqual(lines);
});

test("a transcript is read page by page, and followed from a given turn across a daemon kill (BG-08 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  for (let turn = 1; turn <= 21; turn++) await home.ok(["send", "api", `say t${turn}.`, "--wait"]);
  const { stdout, stderr } = await home.cli(["transcript", "api", "--page", "2"]);
  expect([stdout.includes("t21."), stdout.includes("t20."), stderr]).toEqual([true, false, "page 2 of 2\n"]);
  expect(await home.ok(["transcript", "api", "--turns", "1"])).not.toContain("t20.");
  expect((await home.cli(["transcript", "api", "--page", "3"])).code).toBe(2);
  const follower = home.start(["transcript", "api", "-f", "--turns", "1"]);
  const over = new Promise((resolve) => follower.on("close", resolve));
  let followed = "";
  follower.stdout.setEncoding("utf8").on("data", (chunk) => {
    followed += chunk;
  });
  await eventually(() => followed.includes("t21."));
  await home.killDaemon();
  await home.ok(["send", "api", "say t22.", "--wait"]);
  await eventually(() => followed.includes("t22."));
  await home.ok(["stop", "api"]);
  await over;
  expect(followed.match(/t2[12]\./g)).toHaveLength(4);
});

test("a conversation takes only offered modes and keeps them in its next run, can be cleared, and refuses terminal commands", async () => {
  await using home = new TestHome();
  await talk(home, "api", "--mode", "auto");
  using client = home.client();
  const conversation = await client.call("getConversation", { params: { ref: "api" } });
  expect(conversation.settings).toMatchObject({ mode: "auto" });
  await client.call("setConversation", { params: { ref: "api" }, body: { mode: "ask" } });
  expect((await client.call("getConversation", { params: { ref: "api" } })).settings?.mode).toBe("ask");
  await expect(client.call("setConversation", { params: { ref: "api" }, body: { mode: "nonsense" } })).rejects.toMatchObject({
    code: "not_offered",
  });
  await home.ok(["send", "api", "remember the tides", "--wait"]);
  await client.call("clearConversation", { params: { ref: "api" }, body: {} });
  expect(await home.ok(["send", "api", "recall", "--wait"])).not.toContain("tides");
  expect(await home.ok(["transcript", "api"])).toContain("the tides");
  await home.ok(["stop", "api"]);
  await home.ok(["resume", "api"]);
  await eventually(async () => (await client.call("getConversation", { params: { ref: "api" } })).settings?.mode === "ask");
  for (const args of [
    ["screen", "api"],
    ["keys", "api", "Enter"],
    ["attach", "api"],
  ])
    expect((await home.cli(args)).code).not.toBe(0);
  await home.run("sleep 60", "--name", "shell");
  expect((await home.cli(["transcript", "shell"])).stderr).toContain("holdfast logs shell");
  expect((await home.cli(["spawn", "--chat", "shell"])).code).toBe(6);
});

test("a conversation whose machine stopped during a turn is restored, told about it, and continues (BG-10 conversations)", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["send", "api", "remember the tides", "--wait"]);
  await home.ok(["send", "api", "say half\nsleep 60000"]);
  await talk(home, "calm");
  await home.ok(["send", "calm", "say done", "--wait"]);
  await eventually(async () => (await said(home, "api")).endsWith("half"));
  await pullThePlug(home);
  const { items } = await home.json<{ items: RestoreItem[] }>(["restore"]);
  expect(items.map(({ name, outcome }) => [name, outcome]).sort()).toEqual([
    ["api", "back"],
    ["calm", "back"],
  ]);
  const after = await home.until("api", ({ status, turns }) => status === "idle" && turns === 3);
  expect(after.runs).toBe(2);
  const last = (await entries(home, "api")).findLast(({ entry }) => entry.type === "user")?.entry;
  expect(last).toMatchObject({ text: expect.stringContaining("Your work was interrupted") });
  expect((await home.session("calm")).turns).toBe(1);
  expect(await home.ok(["send", "api", "recall", "--wait"])).toContain("the tides");
});

test("viewed conversations expire by their own age limit, unviewed ones stay, and a dry run shows both (TURN-09 conversations)", async () => {
  await using home = new TestHome();
  mkdirSync(path.join(home.env.HOME ?? "", ".config", "holdfast"), { recursive: true });
  writeFileSync(path.join(home.env.HOME ?? "", ".config", "holdfast", "config.toml"), '[prune]\nconversations = "1s"\nage = "30d"\n');
  for (const name of ["seen", "unseen"]) {
    await talk(home, name);
    await home.ok(["stop", name]);
  }
  await home.run("true", "--name", "shell");
  await home.ended("shell");
  await home.lookAt("seen");
  await home.lookAt("shell");
  const reply = await eventually(async () => {
    const plan = await home.json<PruneReply>(["prune", "--conversations", "--dry-run"]);
    return plan.removed.length > 0 && plan;
  });
  expect(reply.removed.map(({ name, why }) => [name, why])).toEqual([["seen", "age"]]);
  expect(reply.kept.map(({ name, why }) => [name, why])).toEqual([["unseen", "unseen"]]);
  await home.ok(["prune", "--conversations", "--yes"]);
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name).sort()).toEqual(["shell", "unseen"]);
});

test("a turn that ended while no daemon ran is counted, and the status is current", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  const go = path.join(home.root, "go");
  await home.ok(["send", "api", `until ${go}\nsay done`]);
  await home.until("api", ({ status }) => status === "working");
  await home.killDaemon();
  writeFileSync(go, "");
  const file = path.join(home.path, "sessions", readdirSync(path.join(home.path, "sessions"))[0] ?? "", "runs", "1", "transcript.jsonl");
  await eventually(() => readFileSync(file, "utf8").includes("turn_ended"));
  expect(await home.session("api")).toMatchObject({ status: "idle", turns: 1 });
  expect(await home.ok(["last", "api"])).toBe("done\n");
});

test("a conversation without turns resumes as a new one, and a conversation with one turn continues", async () => {
  await using home = new TestHome();
  await talk(home, "api");
  await home.ok(["stop", "api"]);
  expect(await home.ok(["resume", "api"])).toBe("api started a new conversation (run 2)\n");
  await home.until("api", ({ status }) => status === "idle");
  await home.ok(["send", "api", "say first", "--wait"]);
  const { conversation } = await home.session("api");
  await home.ok(["stop", "api"]);
  expect(await home.ok(["resume", "api"])).toBe(`api continues its conversation ${conversation} (run 3)\n`);
  await home.until("api", ({ status }) => status === "idle");
  expect((await home.session("api")).conversation).toBe(conversation);
});

test("a session cannot set its own mode to one that needs no approvals (mend 2)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "api"]);
  await home.until("api", ({ status }) => status === "idle");
  using client = await clientAs(home, "api");
  const refused = client.call("setConversation", { params: { ref: "api" }, body: { mode: "auto" } });
  await expect(refused).rejects.toMatchObject({ code: "forbidden" });
});

test.each([
  ["a person", ""],
  ["a rule", '[[approvals.rules]]\nname = "no-tools"\ntool = "execute"\ndecision = "deny"\nreason = "use the copy"\n'],
])("the reason of a denial by %s reaches the model of a conversation, once and as a reason", async (who, rules) => {
  await using home = new TestHome();
  const configuration = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), rules);
  await home.ok(["spawn", "--chat", "demo", "--name", "api", "--prompt", "ask edit"]);
  if (who === "a person") {
    await home.until("api", ({ status }) => status === "waiting");
    expect(await home.ok(["approvals", "show", "api"])).toContain("--reason TEXT");
    await home.ok(["approvals", "deny", "api", "--reason", "use the copy"]);
  }
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 2);
  const users = (await entries(home, "api")).flatMap(({ entry }) => (entry.type === "user" ? [entry] : []));
  const from = who === "a person" ? USER : "rule:no-tools";
  expect(users).toMatchObject([
    { text: "ask edit" },
    { from, text: expect.stringMatching(/^\[Holdfast: .* was denied\. Reason: use the copy\]$/) },
  ]);
});
