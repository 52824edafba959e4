/** Sessions that start other sessions: their tree, its stop, and their reports. */
import type { AnyEvent, Message, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

/** A shell, a child that ignores SIGTERM, a conversation below it, and an unrelated session. */
async function family(home: TestHome): Promise<void> {
  await home.run("exec sleep 1000", "--name", "stranger");
  const child = `trap '' TERM; ${HOLDFAST} spawn --chat demo --name talk; ${HOLDFAST} spawn demo --name agent; while :; do sleep 0.1; done`;
  await home.run(
    `${HOLDFAST} run --name child -- sh -c "${child}"; ${HOLDFAST} run --name other -- sleep 1000; exec sleep 1000`,
    "--name",
    "top",
  );
  await eventually(async () => (await home.json<Session[]>(["ls"])).filter(({ status }) => status !== "starting").length === 6);
}

test("ls --tree shows each session under the one that started it (SYM-14 together)", async () => {
  await using home = new TestHome();
  await family(home);
  const names = (text: string) =>
    text
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(/ {2,}\w/)[0]?.trimEnd());
  const all = names(await home.ok(["ls", "--tree"]));
  expect(all.slice(0, 3)).toEqual(["stranger", "top", "├─ child"]);
  expect(
    all
      .slice(3, 5)
      .map((line) => line?.replace(/^.*─ /, ""))
      .sort(),
  ).toEqual(["agent", "talk"]);
  expect(all.slice(3, 5).map((line) => line?.replace(/\w+$/, ""))).toEqual(["│  ├─ ", "│  └─ "]);
  expect(all[5]).toBe("└─ other");
  expect((await home.json<Session[]>(["ls", "--tree", "child"])).map(({ name }) => name).sort()).toEqual(["agent", "child", "talk"]);
  // An ended parent is shown while a descendant runs.
  await home.ok(["stop", "top", "--grace", "1s"]);
  expect(names(await home.ok(["ls", "--tree"])).slice(0, 3)).toEqual(["stranger", "top", "├─ child"]);
});

test("stop --tree ends all shells, agents and conversations below a session, and nothing else (SYM-14 together, BG-02 together)", async () => {
  await using home = new TestHome();
  await family(home);
  const before = await home.json<Session[]>(["ls"]);
  const stopped = await home.json<(Session & { killed: { signal: string }[] })[]>(["stop", "--tree", "top", "--grace", "500ms"]);
  expect(stopped.map(({ name, status }) => [name, status]).sort()).toEqual([
    ["agent", "stopped"],
    ["child", "stopped"],
    ["other", "stopped"],
    ["talk", "stopped"],
    ["top", "stopped"],
  ]);
  expect(stopped.find(({ name }) => name === "child")?.killed.some(({ signal }) => signal === "SIGKILL")).toBe(true);
  for (const { name, pid } of before) expect([name, lives(Number(pid))]).toEqual([name, name === "stranger"]);
  expect(await home.cli(["stop", "--tree", "top"])).toMatchObject({ code: 0, stdout: expect.stringContaining("top has ended") });
});

test("stop --tree works on an ended session, and cancels pending restarts", async () => {
  await using home = new TestHome();
  const restarting = `${HOLDFAST} run --name again --restart always -- sh -c 'exit 3'`;
  await home.run(`${HOLDFAST} run --name child -- sleep 1000; ${restarting}`, "--name", "top");
  await home.ended("top");
  await home.until("again", ({ restartAt }) => restartAt !== null);
  expect(await home.ok(["stop", "--tree", "top"])).toMatch(/^child stopped \(1 process\)\nagain will not restart$/m);
  expect((await home.session("child")).status).toBe("stopped");
});

test("a session being stopped with its tree starts nothing more, and a daemon kill midway never stops only a part (BG-02 together)", async () => {
  await using home = new TestHome();
  // On SIGTERM the script tries to start another session and exits slowly.
  const stubborn = `trap '${HOLDFAST} run --name late -- sleep 1000 2>${home.root}/refused; sleep 3; exit 0' TERM`;
  await home.run(`${stubborn}; ${HOLDFAST} run --name child -- sleep 1000; while :; do sleep 0.05; done`, "--name", "top");
  await eventually(async () => (await home.json<Session[]>(["ls"])).length === 2);
  const stopping = home.cli(["stop", "--tree", "top", "--grace", "20s"]);
  await eventually(async () => {
    const { stdout } = await home.cli(["events", "--json"]);
    return stdout.split("\n").filter((line) => line.includes("session.stop_requested")).length === 2;
  });
  await home.killDaemon();
  await stopping;
  const ended = await eventually(async () => {
    const sessions = await home.json<Session[]>(["ls", "--all"]);
    return sessions.every(({ endedAt }) => endedAt !== null) && sessions;
  });
  expect(ended.map(({ name, status }) => [name, status]).sort()).toEqual([
    ["child", "stopped"],
    ["top", "stopped"],
  ]);
  const events = (await home.ok(["events"]))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
  const requests = events.filter(({ type }) => type === "session.stop_requested");
  // The two requests are consecutive events.
  expect((requests[1]?.seq ?? 0) - (requests[0]?.seq ?? 0)).toBe(1);
});

/** The messages to a session, with their current receipts. */
async function saidTo(home: TestHome, name: string): Promise<Message[]> {
  return home.json<Message[]>(["messages", name]);
}

/** A conversation that delegates: the demo agent runs the commands that it is told. */
async function lead(home: TestHome): Promise<void> {
  await home.ok(["spawn", "--chat", "demo", "--name", "lead"]);
  await home.until("lead", ({ status }) => status === "idle");
}

test("a child's first prompt is marked as its parent's text, in a conversation and on a terminal", async () => {
  await using home = new TestHome();
  await lead(home);
  using client = await clientAs(home, "lead");
  // The demo agent repeats a prompt that it does not know.
  const body = { agent: "demo", cwd: home.root, env: home.env, prompt: "find the seal", context: false };
  await client.call("spawn", { body: { ...body, name: "talk", chat: true } });
  await client.call("spawn", { body: { ...body, name: "screen" } });
  const reply = async (name: string) => {
    await home.until(name, ({ turns, status }) => turns === 1 && status === "idle");
    return home.ok(["last", name]);
  };
  expect(await reply("talk")).toMatch(/\[Message \w{10} from the agent session "lead", not from the user; quoted up to "end \w{8}"\]/);
  expect(await home.ok(["transcript", "talk"])).toMatch(/^lead \(session:\w{10}\) · .*\n> find the seal$/m);
  expect(await reply("screen")).toMatch(/\[Message from the agent session "lead", not from the user; quoted up to "end \w{8}"\]/);
  expect(await home.ok(["show", "screen"])).toMatch(/not from the user; quoted up to "end (\w{8})"\]\\n\| find the seal\\n\[end \1\]'/);
  await client.call("spawn", { body: { ...body, name: "alone", prompt: undefined } });
  expect((await home.session("alone")).command.join(" ")).not.toContain("Message");
});

test("a child's answers and its end return to the parent as new turns (SYM-14 together, BG-06 together)", async () => {
  await using home = new TestHome();
  await lead(home);
  {
    using client = await clientAs(home, "lead");
    const body = { agent: "demo", name: "worker", cwd: home.root, env: home.env, chat: true, prompt: "say forty-two" };
    await client.call("spawn", { body });
  }
  const [result] = await eventually(async () => {
    const said = await saidTo(home, "lead");
    return said[0]?.state === "replied" && said;
  });
  const worker = await home.session("worker");
  expect(result).toMatchObject({ from: `session:${worker.id}`, fromName: "worker", text: "Its answer at the end of turn 1:\n\nforty-two" });
  expect(await home.ok(["transcript", "lead"])).toContain(
    `[Message ${result?.id} from the agent session "worker", not from the user; quoted`,
  );
  expect((await home.cli(["send", "worker", "fail out of luck", "--wait"])).code).toBe(25);
  await home.ok(["stop", "worker"]);
  const said = await eventually(async () => {
    const all = await saidTo(home, "lead");
    return all.length === 3 && all.every(({ state }) => state === "replied") && all;
  });
  expect(said[1]?.text).toMatch(/^Its turn 2 failed: .*out of luck/);
  expect(said[2]?.text).toMatch(/^It has ended: stopped by user:\S+\. Read its output: holdfast transcript worker$/);
});

test("a child that its parent stopped, or that should not report, sends its parent nothing", async () => {
  await using home = new TestHome();
  await lead(home);
  using client = await clientAs(home, "lead");
  const body = { agent: "demo", cwd: home.root, env: home.env, chat: true, prompt: "say done" };
  await client.call("spawn", { body: { ...body, name: "quiet", report: false } });
  await client.call("spawn", { body: { ...body, name: "stopped", prompt: "wait 60s" } });
  await client.call("spawn", { body: { agent: "shell", name: "shell", command: ["true"], cwd: home.root, env: home.env } });
  await home.until("quiet", ({ status, turns }) => status === "idle" && turns === 1);
  await home.until("stopped", ({ status }) => status === "working");
  await client.call("stopSession", { params: { ref: "stopped" }, body: {} });
  await client.call("spawn", {
    body: { agent: "shell", name: "told", command: ["sh", "-c", "exit 3"], cwd: home.root, env: home.env, report: true },
  });
  await home.ended("told");
  await home.ended("shell");
  const said = await eventually(async () => {
    const all = await saidTo(home, "lead");
    return all.length > 0 && all;
  });
  expect(said.map(({ text }) => text)).toEqual(["It has ended: failed (exit 3). Read its output: holdfast logs told"]);
});

test("under random daemon kills each answer of a child returns once (NEW-01 together, SYM-14 together)", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "top");
  {
    using client = await clientAs(home, "top");
    const body = { agent: "demo", name: "worker", cwd: home.root, env: home.env, chat: true };
    await client.call("spawn", { body });
  }
  const texts = Array.from({ length: 8 }, (_, i) => `answer ${i}`);
  for (const [i, text] of texts.entries()) {
    await home.ok(["send", "worker", `say ${text}`, "--no-wait"]);
    if (i % 2 === 1) await home.killDaemon();
  }
  const said = await eventually(async () => {
    const all = await saidTo(home, "top");
    return all.length >= texts.length && all;
  });
  expect(said.map(({ text }) => text.split("\n\n")[1])).toEqual(texts);
});

test("a terminal agent gets a terminal child's answer by typing, however narrow its composer (SYM-14 together)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "boss", "--", "--fast"]);
  await home.until("boss", ({ status }) => status === "idle");
  {
    using client = await clientAs(home, "boss");
    const prompt = `say the result is ${"very ".repeat(30)}good`;
    await client.call("spawn", { body: { agent: "demo", name: "kid", cwd: home.root, env: home.env, args: ["--fast"], prompt } });
  }
  const [result] = await eventually(async () => {
    const said = await saidTo(home, "boss");
    return said[0]?.state === "replied" && said;
  });
  expect(result).toMatchObject({
    fromName: "kid",
    via: "typed",
    text: expect.stringMatching(/^Its answer at the end of turn 1:\n\nthe result is /),
  });
  expect(result?.reply).toContain(`[Message ${result?.id} from the agent session "kid", not from the user; quoted`);
});
