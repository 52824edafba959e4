import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type AnyEvent, type Digest, HOSTS, type NewToken, type Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { openTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";
import { pullThePlug } from "./plug.ts";
import { TestRepository } from "./repository.ts";

const DIGEST_KEYS = "session since upTo news turns answers messages approvals troubles spent tasks runs checkpoints handovers work more"
  .split(" ")
  .sort();

/** An idle demo agent in its own worktree. */
async function demo(home: TestHome, name: string, ...flags: string[]): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, ...flags, "--", "--fast"]);
  return home.until(name, ({ status }) => status === "idle");
}

async function asked(home: TestHome, name: string, prompt: string): Promise<void> {
  await home.ok(["send", name, prompt, "--wait"]);
}

function digestOf(home: TestHome, name: string, ...flags: string[]): Promise<Digest> {
  return home.json<Digest>(["digest", name, ...flags]);
}

/** Runs the command on a terminal, as a person does. */
async function lookedBy(home: TestHome, command: string, shows: string | RegExp): Promise<string> {
  // Wide enough for a whole JSON object in one line.
  using terminal = openTerminal(home, { columns: 8000, rows: 40 });
  await terminal.command(`clear; holdfast ${command}; echo "the"" end"`);
  await terminal.shows(/^the end$/m);
  return await terminal.shows(shows);
}

async function looks(home: TestHome): Promise<AnyEvent[]> {
  const lines = (await home.ok(["events", "--type", "session.looked_at"])).trim().split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AnyEvent);
}

test("the digest shows turns, the answer, messages, approvals, commits and files since the last view, and nothing the next time (SYM-07 resume)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const session = await home.json<Session>(["spawn", "demo", "--name", "api", "--worktree", "feature", "--", "--fast"], {
    cwd: repository.path,
  });
  await home.until("api", ({ status }) => status === "idle");
  await lookedBy(home, "digest api", "api · demo · idle");
  const command = "echo new > b.txt && git add -A && git commit -qm 'add b' && echo more >> a.txt";
  const sent = home.ok(["send", "api", `say I begin; tool shell ${command}; say all is done`, "--wait"]);
  await home.until("api", ({ status }) => status === "waiting");
  expect(await digestOf(home, "api")).toMatchObject({ approvals: [{ status: "open" }], turns: { began: 1, ended: 0 } });
  await home.ok(["approvals", "allow", "api"]);
  await sent;
  const digest = await eventually(async () => {
    const now = await digestOf(home, "api");
    return now.checkpoints.length === 1 && now;
  });
  expect(Object.keys(digest).sort()).toEqual(DIGEST_KEYS);
  expect(digest).toMatchObject({
    session: { id: session.id },
    since: { why: "looked" },
    news: true,
    turns: { began: 1, ended: 1, list: [{ turn: 1, run: 1 }] },
    answers: [{ turn: 1, text: expect.stringContaining("all is done") }],
    messages: [{ state: "replied" }],
    approvals: [{ status: "allowed", text: expect.stringContaining("git commit") }],
    troubles: [],
    runs: [],
    work: {
      branch: "feature",
      commitCount: 1,
      commits: [{ subject: "add b", author: "Tester" }],
      changed: { files: 2, insertions: 2, deletions: 0, untilTurn: 1 },
    },
    more: false,
  });
  const shown = await lookedBy(home, "digest api", "1 commit on feature; 2 files changed, +2 −0");
  for (const line of [
    "since you looked",
    "1 turn,",
    "│ all is done",
    "approvals: 1 allowed",
    "messages: 1 answered",
    "add b",
    "b.txt +1",
  ]) {
    expect(shown).toContain(line);
  }
  await lookedBy(home, "digest api", "nothing new");
  expect(await digestOf(home, "api")).toMatchObject({
    news: false,
    turns: { began: 0, ended: 0 },
    work: { commitCount: 0, changed: null },
  });
  // --since does not depend on the last view.
  expect(await digestOf(home, "api", "--since", "1h")).toMatchObject({ since: { why: "asked" }, news: true, turns: { began: 1 } });
  expect(await digestOf(home, "api", "--since", "2099-01-01")).toMatchObject({ news: false });
  expect((await home.cli(["digest", "api", "--since", "soon"])).code).toBe(2);
});

test("attach, logs and digest on a terminal count as views, at most one a minute in the journal; show, --json, scripts and agents do not", async () => {
  await using home = new TestHome();
  await demo(home, "api");
  for (const args of [["digest"], ["digest", "api"], ["show", "api"], ["logs", "api"]]) await home.ok(args);
  await lookedBy(home, "digest api --json", '"upTo"');
  await lookedBy(home, "show api --json", '"id"');
  using own = openTerminal(Object.assign(Object.create(home) as TestHome, { env: { ...home.env, HOLDFAST_SESSION: "x" } }));
  await own.command("holdfast digest api; echo the''end");
  await own.shows("theend");
  await lookedBy(home, "show api", "demo");
  expect(await looks(home)).toEqual([]);
  expect(await digestOf(home, "api")).toMatchObject({ since: { why: "began", seq: 0 } });

  const began = performance.now();
  await lookedBy(home, "digest api", "demo");
  expect(await looks(home)).toHaveLength(1);
  for (const command of ["logs api", "digest"]) {
    await asked(home, "api", "say a word");
    expect(await digestOf(home, "api")).toMatchObject({ turns: { began: 1 } });
    await lookedBy(home, command, /\S/);
    expect(await digestOf(home, "api"), command).toMatchObject({ turns: { began: 0 }, since: { why: "looked" } });
  }
  const written = (await looks(home)).length;
  // On a busy machine these commands take longer than a minute.
  expect(written).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 60_000));
  // A daemon that exits writes its pending views; the next daemon reads them.
  await home.ok(["down"]);
  expect(await digestOf(home, "api")).toMatchObject({ turns: { began: 0 }, since: { why: "looked" } });
  if (written === 1) expect(await looks(home)).toHaveLength(2);
  expect(await home.session("api")).toMatchObject({ viewedAt: null });
});

test("each principal has its own news, and a daemon kill loses no written view (SYM-07 resume)", async () => {
  await using home = new TestHome();
  await demo(home, "api");
  const { token } = await home.json<NewToken>(["token", "create", "--scope", "observer", "--name", "phone"]);
  await lookedBy(home, "digest api", "demo");
  await home.killDaemon();
  await asked(home, "api", "say one");
  const of = async (env: Record<string, string> = {}) => home.json<Digest>(["digest", "api"], { env });
  expect(await of()).toMatchObject({ since: { why: "looked" }, turns: { began: 1 } });
  expect(await of({ HOLDFAST_TOKEN: token })).toMatchObject({ since: { why: "began" }, turns: { began: 1 } });
  await lookedBy(home, `show api --json; HOLDFAST_TOKEN=${token} holdfast digest api`, "1 turn");
  expect(await of({ HOLDFAST_TOKEN: token })).toMatchObject({ since: { why: "looked" }, turns: { began: 0 } });
  expect(await of()).toMatchObject({ turns: { began: 1 } });
});

test("without a name the digest lists each session with news, waiting sessions first (SYM-07 resume)", async () => {
  await using home = new TestHome();
  await demo(home, "old");
  await lookedBy(home, "digest", "old · demo");
  await home.ok(["spawn", "demo", "--name", "asks", "--prompt", "tool shell touch x", "--", "--fast"]);
  await home.until("asks", ({ status }) => status === "waiting");
  await demo(home, "new");
  await asked(home, "new", "error 500").catch(() => {});
  const { digests, more } = await home.json<{ digests: Digest[]; more: number }>(["digest"]);
  expect(digests.map(({ session }) => session.name)).toEqual(["asks", "new"]);
  expect(more).toBe(0);
  expect(digests[1]).toMatchObject({ troubles: [{ kind: "turn_failed", text: "server_error" }], messages: [{ state: "failed" }] });
  const text = await home.ok(["digest"]);
  expect(text).toMatch(
    /^asks · demo · waiting[\s\S]+waits for approval: Bash: touch x[\s\S]+^new · demo[\s\S]+a turn failed: server_error/m,
  );
  expect(text).not.toMatch(/^old · /m);
  // A waiting session is listed again.
  await lookedBy(home, "digest", "asks · demo");
  const again = await home.json<{ digests: Digest[] }>(["digest"]);
  expect(again.digests.map(({ session, news }) => [session.name, news])).toEqual([["asks", false]]);
});

test("for a plain checkout the digest lists commits in its directory since the commit at the last view", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await home.json<Session>(["run", "--name", "sh", "--", "sleep", "1000"], { cwd: repository.path });
  await lookedBy(home, "digest sh", "shell");
  expect(await digestOf(home, "sh")).toMatchObject({ news: false, work: { branch: "main", commitCount: 0 } });
  repository.commit({ "b.txt": "b\n" }, "second");
  repository.git("commit", "--quiet", "--amend", "-m", "second, said better");
  expect(await digestOf(home, "sh")).toMatchObject({
    news: true,
    work: { commitCount: 1, commits: [{ subject: "second, said better" }] },
  });
  await home.run("exec sleep 1000", "--name", "elsewhere");
  expect((await digestOf(home, "elsewhere")).work).toBeNull();
});

test("during the first turn the digest shows the current changes since the start", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const prompt = "run echo two > b.txt && echo more >> a.txt\nsleep 60000";
  const flags = ["--name", "busy", "--worktree", "--prompt", prompt];
  const { cwd } = await home.json<Session>(["spawn", "--chat", "demo", ...flags], { cwd: repository.path });
  await eventually(() => readFileSync(path.join(cwd, "a.txt"), "utf8").includes("more"));
  // Only the checkpoint of its start exists.
  await eventually(async () => (await digestOf(home, "busy")).checkpoints.length === 1);
  const { work } = await digestOf(home, "busy");
  expect(work?.changed?.list.map(({ path: file }) => file).sort()).toEqual(["a.txt", "b.txt"]);
  expect(work?.changed?.untilTurn).toBeNull();
});

test("the digest reports lost, resumed and failed runs", async () => {
  await using home = new TestHome();
  await demo(home, "api", "--host", "native");
  await asked(home, "api", "say one");
  await lookedBy(home, "digest api", "demo");
  await pullThePlug(home);
  await home.ok(["resume", "api"]);
  await home.until("api", ({ status }) => status === "idle");
  const { runs } = await digestOf(home, "api");
  expect(runs).toMatchObject([
    { run: 1, what: "lost" },
    { run: 2, what: "resume", text: "with its conversation" },
  ]);
  const text = await home.ok(["digest", "api"]);
  expect(text).toContain("run 1 was lost");
  expect(text).toContain("run 2: resumed with its conversation");
  await home.run("exit 3", "--name", "cmd");
  await home.ended("cmd");
  expect(await home.ok(["digest", "cmd"])).toContain("the program failed (exit code 3)");
});

test.each(["tmux", "native"])("attach on %s and show print a few lines of news, and nothing without news (SYM-07 resume)", async (host) => {
  await using home = new TestHome();
  await demo(home, "api", "--host", host);
  await lookedBy(home, "digest api", "demo");
  expect(await lookedBy(home, "show api", "demo")).not.toContain("news ");
  await asked(home, "api", "say the answer is forty-two");
  const shown = await lookedBy(home, "show api", "1 turn");
  expect(shown).toMatch(/^news +since you looked, \d+s ago: 1 turn, .*1 answer; 1 message answered\n +more: holdfast digest api$/m);
  await lookedBy(home, "digest api", "the answer is forty-two");
  expect(await lookedBy(home, "show api", "demo")).not.toContain("news ");
  await asked(home, "api", "say the sea is blue");
  const file = path.join(home.root, "told");
  using terminal = openTerminal(home);
  await terminal.command(`clear; holdfast attach api 2> ${file}`);
  await home.until("api", ({ attachments }) => attachments.length === 1);
  await eventually(async () => (await digestOf(home, "api")).news === false);
  terminal.keys("C-\\");
  await terminal.shows("detached");
  await terminal.command(`clear; cat ${file}; wc -l < ${file}`);
  const told = await terminal.shows(/^\d$/m);
  expect(told).toMatch(/since you looked, \d+s ago:\n {2}1 turn, .*\n {2}│ the sea is blue\n {2}messages: 1 answered\n/);
  expect(Number(/^(\d)$/m.exec(told)?.[1])).toBeLessThanOrEqual(6);
  await terminal.command(`clear; holdfast attach api 2> ${file}`);
  await home.until("api", ({ attachments }) => attachments.length === 1);
  terminal.keys("C-\\");
  await terminal.shows("detached");
  await terminal.command(`clear; wc -c < ${file}`);
  await terminal.shows(/^0$/m);
});

test("last prints the agent's final answer, also for a typed prompt, after its end and with another daemon (SYM-07 resume)", async () => {
  await using home = new TestHome();
  await demo(home, "api");
  const early = await home.cli(["last", "api"]);
  expect([early.code, early.stderr]).toEqual([26, expect.stringContaining("holdfast send api")]);
  await home.ok(["send", "api", "--no-enter", "say first; say second"]);
  await home.ok(["keys", "api", "Enter"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.ok(["last", "api"])).toBe("first\nsecond\n");
  const last = await home.json<Record<string, unknown>>(["last", "api"]);
  expect(Object.keys(last).sort()).toEqual("session name reply at turn cut source".split(" ").sort());
  expect(last).toMatchObject({ name: "api", reply: "first\nsecond", turn: 1, cut: false, source: "hook", at: expect.stringMatching(/Z$/) });
  await asked(home, "api", "say third");
  await home.ok(["stop", "api"]);
  await home.killDaemon();
  expect(await home.ok(["last", "api"])).toBe("third\n");
});

test("last explains how to read a command, or an agent that does not report its answers", async () => {
  await using home = new TestHome();
  const directory = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), '[agents.mine]\ncommand = ["sleep", "1000"]\n');
  await home.run("exec sleep 1000", "--name", "cmd");
  await home.json(["spawn", "mine", "--name", "m"]);
  for (const [name, words] of [
    ["cmd", ["is a command", "holdfast logs cmd"]],
    ["m", ["mine does not report its answers", "holdfast screen m"]],
  ] as const) {
    const { code, stderr } = await home.cli(["last", name]);
    expect(code).toBe(26);
    for (const word of words) expect(stderr).toContain(word);
  }
});

test("an agent's text cannot affect the reader's terminal", async () => {
  await using home = new TestHome();
  await demo(home, "api");
  const sent = home.ok(["send", "api", "--wait", "tool shell printf 'begin\\033]0\\073taken\\007 \\342\\200\\256end'; say so"]);
  await home.until("api", ({ status }) => status === "waiting");
  await home.ok(["approvals", "allow", "api"]);
  await sent;
  expect((await home.json<{ reply: string }>(["last", "api"])).reply).toContain("begin\u001b]0;taken\u0007 \u202eend");
  const raw = path.join(home.root, "raw");
  using terminal = openTerminal(home);
  await terminal.command(`clear; holdfast last api > ${raw}; holdfast last api; holdfast digest api`);
  const shown = await terminal.shows("│ so");
  expect(shown.match(/begin.\]0;taken. .end/g)).toHaveLength(2);
  expect(terminal.tmux("display-message", "-p", "-t", "terminal", "#{pane_title}")).not.toContain("taken");
  expect(readFileSync(raw, "utf8")).toContain("\u202e");
});

test("--again repeats the last news in full, and attach counts the lines that it omits (SYM-07 resume)", async () => {
  await using home = new TestHome();
  await demo(home, "api");
  await lookedBy(home, "digest api", "demo");
  await asked(home, "api", `say ${[1, 2, 3, 4, 5].map((line) => `line ${line}`).join("; say ")}`);
  await home.ok(["token", "create", "--scope", "driver", "--name", "ada"]);
  await home.ok(["handover", "api", "--to", "token:ada", "--note", "the tests are yours"]);
  await lookedBy(home, "digest", "holdfast digest NAME --again");
  const empty = await lookedBy(home, "digest api", "nothing new");
  expect(empty).toContain("what was new then: holdfast digest api --again");
  for (const _ of ["once", "twice"]) {
    const again = await lookedBy(home, "digest api --again", "the tests are yours");
    expect(again).toMatch(/1 turn, [\s\S]+│ line 3[\s\S]+messages: 1 answered/);
  }
  expect((await home.cli(["digest", "--again"])).code).toBe(2);
  expect((await home.cli(["digest", "api", "--again", "--since", "1h"])).code).toBe(2);

  await asked(home, "api", `say ${[6, 7, 8, 9, 10].map((line) => `line ${line}`).join("; say ")}`);
  const file = path.join(home.root, "told");
  using terminal = openTerminal(home);
  await terminal.command(`clear; holdfast attach api 2> ${file}`);
  await eventually(async () => (await digestOf(home, "api")).news === false);
  const told = readFileSync(file, "utf8").trimEnd().split("\n");
  expect(told).toHaveLength(6);
  expect(told.at(-1)).toMatch(/^ {2}… \d more lines: holdfast digest api --again$/);
});

test.each(HOSTS)(
  "events while attached on %s count as seen after the detach key, but not after a lost terminal (SYM-07 resume)",
  async (host) => {
    await using home = new TestHome();
    await demo(home, "api", "--host", host);
    const attached = async (count: number) => home.until("api", ({ attachments }) => attachments.length === count);
    {
      using terminal = openTerminal(home);
      await terminal.command("holdfast attach api");
      await attached(1);
      await asked(home, "api", "say one");
      terminal.keys("C-\\");
      await terminal.shows("detached");
      await attached(0);
      await eventually(async () => (await digestOf(home, "api")).news === false);
      await terminal.command("clear; holdfast attach api");
      await attached(1);
      await asked(home, "api", "say two");
    }
    await attached(0);
    // The detach of a second terminal proves that the first one's end was handled.
    using other = openTerminal(home);
    await other.command("clear; HOLDFAST_SESSION=x holdfast attach api");
    await attached(1);
    expect(await digestOf(home, "api")).toMatchObject({ turns: { began: 1 }, answers: [{ text: "two" }] });
  },
);

test("a failure stays in ls, statusline and next until a person views it; reads by scripts and agents do not count (mend 14)", async () => {
  await using home = new TestHome();
  await home.run("exit 3", "--name", "build");
  await home.run("true", "--name", "fine");
  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  await home.cli(["send", "talk", "fail no network", "--wait"]);
  const told = await eventually(async () => {
    const line = await home.ok(["statusline"]);
    return line.includes("2 failed") && line;
  });
  expect(told).toContain("1 idle");
  const listed = await home.ok(["ls"]);
  expect(listed).toMatch(/build .*failed \(3\)/);
  expect(listed).toMatch(/talk .*idle .*\(a turn failed\)/);
  expect(listed).not.toContain("fine");
  expect(await home.session("talk")).toMatchObject({ failure: { what: "turn", why: expect.stringContaining("no network") } });
  expect(["build", "talk"]).toContain((await home.json<Session>(["next"])).name);
  // A script and an agent read it.
  for (const verb of ["show", "logs", "digest"]) await home.ok([verb, "build"]);
  using agent = await clientAs(home, "talk");
  await agent.call("viewSession", { params: { ref: "talk" }, body: {} });
  await agent.call("lookAtSession", { params: { ref: "talk" }, body: {} });
  expect(await home.ok(["statusline"])).toContain("2 failed");
  await home.killDaemon();
  expect(await home.ok(["ls"])).toMatch(/build .*failed/);
  await lookedBy(home, "logs build", "");
  await lookedBy(home, "transcript talk", "no network");
  expect(await home.ok(["statusline"])).not.toContain("failed");
  expect(await home.ok(["ls"])).not.toContain("build");
  expect(await home.session("build")).toMatchObject({ status: "failed", failure: null });
});
