/** chat as a person uses it: a real terminal, real keys, the demo agent in a conversation. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { startModel } from "../agents/src/model/server.ts";
import { openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

/** The empty input line below the status line. */
const PROMPT = /^\S+ · \d+ turns? · .*\n› ?$/m;

/** Text of the agent, not of the message that asked for it. */
const THE_END = /^(?!›).*\bthe end$/m;

/** A terminal with `holdfast chat`, once the agent is ready. */
function chat(home: TestHome, line: string, size: { columns?: number; rows?: number } = {}): Promise<Terminal> {
  return openTerminal(home, { columns: 100, rows: 40, ...size }).after(async (terminal) => {
    await terminal.command(line);
    await terminal.shows(PROMPT);
  });
}

/** The turn ends a little after its last word; a person who leaves earlier leaves it running. */
async function atRest(home: TestHome, name: string): Promise<void> {
  await home.until(name, ({ status }) => status === "idle");
}

/** The terminal's whole scrollback. */
function everything(terminal: Terminal): string {
  return terminal.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "terminal");
}

test("chat works like other terminal programs: line editing, several lines, history, and a status line with turns, tokens and cost (TURN-01 conversations)", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk");
  // Typed with mistakes, as a person types.
  terminal.keys(..."sai helo".split("").map((key) => (key === " " ? "Space" : key)));
  terminal.keys("Left", "l", "Home", "Right", "Right", "Delete", "y", "End", "Space", "y", "o", "u", "x", "BSpace");
  await terminal.shows("› say hello you");
  terminal.keys("Enter");
  await terminal.shows(/^› say hello you\nhello you$/m);

  // Several lines: Alt+Enter, a backslash, a paste.
  terminal.tmux("send-keys", "-t", "terminal", "-l", "usage 1200 300");
  terminal.keys("M-Enter");
  terminal.tmux("send-keys", "-t", "terminal", "-l", "cost 0.02\\");
  terminal.keys("Enter");
  await terminal.shows(/› usage 1200 300\n {2}cost 0\.02\n/);
  terminal.tmux("set-buffer", "say pasted\nsay twice");
  terminal.tmux("paste-buffer", "-p", "-t", "terminal");
  await terminal.shows(/ {2}say pasted\n {2}say twice$/m);
  terminal.keys("Enter");
  await terminal.shows(/^pasted\s?twice$/m);
  await terminal.shows(/^talk · 2 turns · 1\.2k in 30\d out · \$0\.02 · context \d+ %/m);

  // Earlier messages, by Up and by search; the file is private to its owner.
  terminal.keys("Up", "Up", "Up", "Up", "Up");
  await terminal.shows(/^› say hello you$[\s\S]*^› say hello you$/m);
  terminal.keys("C-c");
  terminal.keys("C-r");
  terminal.tmux("send-keys", "-t", "terminal", "-l", "hel");
  await terminal.shows("(search: hel) say hello you");
  terminal.keys("Enter");
  await terminal.shows(/hello you[\s\S]*hello you[\s\S]*talk · 3 turns/);
  const kept = path.join(home.path, "chat-history");
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(readFileSync(kept, "utf8")).toContain("say hello you");
});

test("an agent's answer is drawn as it arrives, and cannot affect the terminal", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk");
  const go = path.join(home.root, "go");
  terminal.line(`stream 20 20; until ${go}; say the end`);
  await terminal.shows(/^1 2 3.* 20$/m);
  await terminal.shows(/working/);
  writeFileSync(go, "");
  await terminal.shows(THE_END);
  terminal.line("say # Title **bold** `code`");
  await terminal.shows(/^Title bold code$/m);
  const painted = terminal.tmux("capture-pane", "-p", "-e", "-t", "terminal");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches the style sequences
  expect(painted).toMatch(/\x1b\[[\d;]*4mTitle bold/);
  await atRest(home, "talk");
  terminal.keys("C-d");
  await terminal.shows("keeps running");
  await terminal.command("clear; NO_COLOR=1 holdfast chat demo");
  await terminal.shows(PROMPT);
  terminal.line("say **bold**");
  await terminal.shows(/^\*\*bold\*\*$/m);
});

test("/commands: help, model, mode, status, sessions, cost, context, clear, history, save, unfold, and unknown commands (TURN-02 conversations)", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk", { rows: 60 });
  terminal.line("/help");
  await terminal.shows(/\/save FILE +save the conversation/);
  terminal.line("/modle demo-large");
  await terminal.shows(/there is no command \/modle\n +did you mean: .*\/model/);
  terminal.line("/model");
  await terminal.shows(/● demo-small[\s\S]*○ demo-large/);
  terminal.tmux("send-keys", "-t", "terminal", "-l", "/model demo-l");
  terminal.keys("Tab");
  await terminal.shows("› /model demo-large");
  terminal.keys("Enter");
  await terminal.shows("the model is now demo-large");
  await terminal.shows(/talk · 0 turns .* demo-large$/m);
  terminal.line("/mode auto");
  await terminal.shows("the mode is now auto");
  terminal.line("remember the milk; about");
  await terminal.shows("mode auto, model demo-large");
  terminal.line("/status");
  await terminal.shows(/name +talk\n +agent +demo/);
  terminal.line("/sessions");
  await terminal.shows(/● talk +\S+.* demo +1 /);
  terminal.line("run echo deep; sleep 20");
  await terminal.shows(/✓ \[1\] .*echo deep/);
  terminal.line("/unfold 1");
  await terminal.shows(/^ {4}──\n {4}deep$/m);
  terminal.line("/cost");
  await terminal.shows(/^ {2}2 turns/m);
  terminal.line("recall");
  await terminal.shows("I remember: the milk.");
  await atRest(home, "talk");
  terminal.line("/clear");
  await terminal.shows("── the agent's memory is cleared ──");
  terminal.line("recall");
  await terminal.shows("I remember nothing.");
  terminal.line("/history 1");
  await terminal.shows(/── so far ──\n[\s\S]*I remember nothing\.\n──/);
  terminal.line(`/save ${home.root}/talk.md`);
  await terminal.shows("saved to");
  const saved = readFileSync(path.join(home.root, "talk.md"), "utf8");
  expect(saved).toContain("I remember: the milk.");
  expect(saved).toContain("The agent's memory was cleared.");
  // The transcript stays complete.
  expect(await home.ok(["transcript", "talk"])).toContain("the milk");
  await atRest(home, "talk");
  terminal.line("/exit");
  await terminal.shows("talk keeps running. Continue: holdfast chat talk");
});

test("a follow-up has the whole conversation, after leaving, an agent stop or a daemon kill, by name and by id (TURN-03 conversations)", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat --agent demo --session memory");
  terminal.line("remember one");
  await terminal.shows("I will remember one.");
  await atRest(home, "memory");
  terminal.keys("C-d");
  await terminal.shows("Continue: holdfast chat memory");

  await terminal.command("clear; holdfast chat memory");
  await terminal.shows(/^› remember one\nI will remember one\.$/m);
  terminal.line("remember two; recall");
  await terminal.shows("I remember: one, two.");
  // An agent need not remember an unfinished turn.
  await atRest(home, "memory");
  terminal.line("/exit");
  await terminal.shows("Continue: ");
  await home.ok(["stop", "memory"]);

  const { id } = await home.session("memory");
  await terminal.command(`clear; holdfast chat --resume ${id}`);
  await terminal.shows(PROMPT);
  terminal.line("remember three; recall");
  await terminal.shows("I remember: one, two, three.");
  await home.killDaemon();
  terminal.line("remember four; recall");
  await terminal.shows("I remember: one, two, three, four.");
  expect(await home.session("memory")).toMatchObject({ id, runs: 2 });
});

describe("Ctrl+C", () => {
  test("cancels an answer, keeps its partial text with a mark, and returns to the prompt (TURN-08 conversations)", async () => {
    await using home = new TestHome();
    using terminal = await chat(home, "holdfast chat demo --session talk");
    terminal.line("stream 1000 20");
    await terminal.shows(/^1 2 3 4 5/m);
    terminal.keys("C-c");
    await terminal.shows(/^1 2 3 4 5[\d\s]*\n■ cancelled: the answer is incomplete; the output so far is above\n\ntalk · 1 turn .*\n› ?$/m);
    terminal.line("say next");
    await terminal.shows(/^next$/m);
    expect(await home.ok(["transcript", "talk"])).toMatch(/1 2 3 4 5/);
  });

  test("leaves when pressed twice, and the conversation continues in the background", async () => {
    await using home = new TestHome();
    using terminal = await chat(home, "holdfast chat demo --session talk");
    // A message cancelled before the agent is ready never reaches it.
    await terminal.shows(/talk · 0 turns .* demo-small$/m);
    terminal.line("hang");
    await terminal.shows("working");
    terminal.keys("C-c");
    await terminal.shows("cancelling …");
    terminal.keys("C-c");
    await terminal.shows("talk keeps working in the background. Continue: holdfast chat talk");
    await terminal.command("stty -a | grep -c ' icanon'; echo usable");
    await terminal.shows(/^(\$ )?1\nusable$/m);
    expect(await home.session("talk")).toMatchObject({ endedAt: null });
    await terminal.command("clear; holdfast chat talk");
    await terminal.shows(/^› hang$/m);
  });
});

test("a permission request is answered in the chat, by a key or a command", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk");
  terminal.line("ask make install");
  await terminal.shows("? y allow · n deny");
  await terminal.shows(/asks for permission: execute: .*make install/);
  await eventually(async () => (await home.json<unknown[]>(["approvals"])).length === 1);
  await answered(terminal, "n", /denied: .*make install/);
  terminal.line("ask make test");
  await terminal.shows(/asks for permission: execute: .*make test/);
  await answered(terminal, "y", /allowed: .*make test/);
  terminal.line("ask make docs");
  await terminal.shows(/asks for permission: execute: .*make docs/);
  await answered(terminal, "a", /allowed: .*make docs/);
  // After "always" the agent does not ask again.
  terminal.line("ask make docs");
  await terminal.shows(/› ask make docs\n(?!\?)[\s\S]*Allowed: make docs/);
  terminal.line("ask make clean");
  await terminal.shows(/asks for permission: execute: .*make clean/);
  terminal.line("/approve no");
  await terminal.shows(/denied: .*make clean/);
  // An answer from elsewhere is shown here too.
  terminal.line("ask make all");
  await terminal.shows(/asks for permission: execute: .*make all/);
  await eventually(async () => (await home.json<unknown[]>(["approvals"])).length === 1);
  await home.ok(["approvals", "allow", "talk"]);
  await terminal.shows(/allowed by .*: .*make all|allowed: .*make all/);
});

/** A key pressed too soon after the request counts as text. */
async function answered(terminal: Terminal, key: string, outcome: RegExp): Promise<void> {
  await eventually(
    () => {
      if (outcome.test(terminal.screen())) return true;
      terminal.keys("C-u", key);
      return false;
    },
    20_000,
    700,
  );
  // A key pressed again just before the first one counted is now in the input line.
  terminal.keys("C-u");
}

test("two people in one conversation see each other's messages, under their names, in one order", async () => {
  await using home = new TestHome();
  using mine = await chat(home, "holdfast chat demo --session talk");
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", "driver", "--name", "ada"]);
  using theirs = openTerminal(home, { columns: 100, rows: 40 });
  await theirs.command(`HOLDFAST_TOKEN=${token} holdfast chat talk`);
  await theirs.shows(PROMPT);
  mine.line("say from me");
  await theirs.shows(/^\w+ › say from me\nfrom me$/m);
  await mine.shows(/^› say from me\nfrom me$/m);
  theirs.line("say from ada");
  await mine.shows(/^token:ada › say from ada\nfrom ada$/m);
  await theirs.shows(/^› say from ada\nfrom ada$/m);
  await mine.shows("with token:ada");
  // Messages at the same time become one turn after the other.
  mine.line("stream 30 30; say mine");
  theirs.line("say theirs");
  const orders = [];
  for (const terminal of [mine, theirs]) {
    await terminal.shows(/^mine$/m);
    orders.push((await terminal.shows(/^theirs$/m)).match(/^(mine|theirs)$/gm));
  }
  expect(orders[0]).toEqual(orders[1]);
});

test("a daemon kill during an answer: the chat continues, and nothing is missed or shown twice (TURN-10 conversations)", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk");
  terminal.line("stream 120 40; say the end");
  await terminal.shows(/^1 2 3 4 5/m);
  await home.killDaemon();
  await terminal.shows(THE_END);
  const [, numbers = ""] = /^› stream.*\n([\d\s]+)/m.exec(everything(terminal)) ?? [];
  expect(numbers.trim().split(/\s+/).map(Number)).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
  terminal.line("say still here");
  await terminal.shows(/^still here$/m);
});

test("a failed turn is reported with a remedy, the conversation stays, and /retry sends the same message again (TURN-10 conversations)", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk");
  terminal.line("remember the milk");
  await terminal.shows("I will remember the milk.");
  terminal.line("fail the network is down");
  await terminal.shows(/✗ .*the network is down\n +\/retry sends the same message again/);
  terminal.line("/retry");
  await terminal.shows(/› fail the network is down[\s\S]*› fail the network is down\n✗/);
  terminal.line("crash");
  await terminal.shows("the agent has ended (failed); your next message restarts it");
  terminal.line("recall");
  await terminal.shows("I remember: the milk.");
  expect(await home.session("talk")).toMatchObject({ runs: 2 });
});

test("a wrong key, a rate limit, a cut connection and an invalid answer each report cause and remedy; the same message succeeds afterwards (TURN-10 conversations)", async () => {
  await using model = await startModel();
  await using home = new TestHome();
  Object.assign(home.env, { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
  using terminal = await chat(home, "holdfast chat model --session talk", { rows: 80 });
  const faults = [
    ["error 401 x1", "wrong-key", /answered 401: .*\n +the key in OPENAI_API_KEY was rejected/],
    ["error 429 x1 retry-after 100", "limited", /answered 429: .*\n +wait 100 s, then send it again/],
    ["cut x3", "cut-off", /the connection to .* failed: .*\n[\s\S]*is right and reachable/],
    ["garbage x1", "nonsense", /the reply of .* cannot be read[\s\S]*an endpoint for this API/],
  ] as const;
  for (const [fault, word, told] of faults) {
    terminal.line(`${fault}; say fine ${word}`);
    const screen = await terminal.shows(new RegExp(`say fine ${word}\\n[\\s\\S]*✗ [\\s\\S]*/retry sends the same message again`));
    expect(screen.slice(screen.indexOf(`say fine ${word}`))).toMatch(told);
    terminal.line("/retry");
    await terminal.shows(new RegExp(`^fine ${word}`, "m"));
  }
});

test("a narrow terminal, and a resize during an answer, lose no text", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast chat demo --session talk", { columns: 60, rows: 20 });
  terminal.line("stream 200 60; say the end");
  await terminal.shows(/^1 2 3/m);
  for (const [columns, rows] of [
    [24, 12],
    [80, 24],
    [30, 10],
    [60, 20],
  ] as const) {
    terminal.resize(columns, rows);
    await terminal.shows(/talk · 1 turn/);
  }
  await terminal.shows(THE_END);
  terminal.keys("C-l");
  await terminal.shows(THE_END);
  const numbers = new Set(
    everything(terminal)
      .match(/\b\d+\b/g)
      ?.map(Number),
  );
  for (let i = 1; i <= 200; i++) expect(numbers, `${i} is missing`).toContain(i);
});

test("Tab completes commands, names, models and files that are not ignored", async () => {
  await using home = new TestHome();
  const project = path.join(home.root, "project");
  mkdirSync(path.join(project, "node_modules"), { recursive: true });
  for (const file of ["login.ts", "logout.ts", "node_modules/login.js"]) writeFileSync(path.join(project, file), "");
  using terminal = await chat(home, `holdfast chat demo --session talk --cwd ${project}`);
  const typed = (text: string) => terminal.tmux("send-keys", "-t", "terminal", "-l", text);
  typed("/hel");
  terminal.keys("Tab");
  await terminal.shows(/^› \/help$/m);
  terminal.keys("C-u");
  typed("look at @login");
  terminal.keys("Tab");
  await terminal.shows(/^› look at @login\.ts$/m);
  terminal.keys("C-u");
  typed("@log");
  terminal.keys("Tab");
  await terminal.shows(/ login\.ts {2}logout\.ts/);
  terminal.keys("C-u");
  typed("/sessions t");
  terminal.keys("Tab");
  await terminal.shows(/^› \/sessions talk/m);
});

describe("one turn for scripts", () => {
  test("-p prints only the answer on standard output, and the exit code reports the outcome", async () => {
    await using home = new TestHome();
    expect(await home.cli(["chat", "demo", "-p", "say hello there"])).toEqual({ code: 0, stdout: "hello there\n", stderr: "" });
    expect(await home.cli(["chat", "demo", "-p", "say half; fail no network"])).toMatchObject({
      code: 35,
      stdout: "half\n",
      stderr: expect.stringContaining("no network"),
    });
    expect(await home.cli(["chat", "demo", "-p", "say no; stop refusal"])).toMatchObject({ code: 36, stdout: "no\n" });
    expect(await home.cli(["chat", "demo", "-p", "say long; stop max_tokens"])).toMatchObject({ code: 38, stdout: "long\n" });
    expect(await home.cli(["chat", "demo", "-p", "say gone; crash"])).toMatchObject({ code: 35 });
    expect(await home.cli(["chat", "nowhere", "-p", "x"])).toMatchObject({ code: 3, stdout: "" });
    // Nothing keeps running, and every conversation can be continued.
    const { length } = (await home.json<Session[]>(["ls"])).filter(({ endedAt }) => endedAt === null);
    expect(length).toBe(0);
  });

  test("piped input is the message; the conversation continues by its name", async () => {
    await using home = new TestHome();
    expect(await home.ok(["chat", "--agent", "demo", "--session", "script"], { input: "remember the milk\n" })).toBe(
      "I will remember the milk.\n",
    );
    expect(await home.ok(["chat", "script", "-p", "recall"])).toBe("I remember: the milk.\n");
    expect(await home.cli(["chat", "script"], { input: "" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("the prompt is empty"),
    });
  });

  test("--json prints an object with the text, the outcome of the turn, and its usage", async () => {
    await using home = new TestHome();
    const answer = await home.json<Record<string, unknown>>(["chat", "demo", "-p", "say hello; usage 10 5"]);
    expect(Object.keys(answer).sort()).toEqual(["error", "name", "reason", "session", "text", "usage"]);
    expect(answer).toMatchObject({ text: "hello", reason: "completed", error: null, usage: { input: 10, output: 5 } });
    const failed = await home.cli(["chat", "demo", "--json", "-p", "fail no network"]);
    expect(JSON.parse(failed.stdout)).toMatchObject({ reason: "failed", error: { message: expect.stringContaining("no network") } });
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: "turn_failed" } });
  });

  test("a turn cancelled from elsewhere has its own exit code; a turn that waits for an approval says so", async () => {
    await using home = new TestHome();
    await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
    const running = home.cli(["chat", "talk", "-p", "say half; hang"]);
    await eventually(async () => (await home.session("talk")).status === "working");
    await eventually(async () => (await home.ok(["transcript", "talk"])).includes("half"));
    await home.cli(["stop", "talk"]);
    expect(await running).toMatchObject({ code: 35, stdout: "half\n" });

    const asking = home.cli(["chat", "talk", "-p", "ask make"]);
    await eventually(async () => (await home.json<unknown[]>(["approvals"])).length === 1);
    await home.ok(["approvals", "allow", "talk"]);
    expect(await asking).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/permission requested: execute: .*make.*; allow it: holdfast approvals allow /),
    });
  });
});

test("spawn --chat --attach opens the conversation; chat refuses a terminal session; a conversation with neither a chosen name nor a message leaves nothing behind", async () => {
  await using home = new TestHome();
  using terminal = await chat(home, "holdfast spawn --chat --attach demo --name talk --cwd /tmp --env A=b --prompt 'say hello'");
  await terminal.shows(/^› say hello\nhello$/m);
  await atRest(home, "talk");
  terminal.keys("C-d");
  await terminal.shows("talk keeps running");
  await terminal.command("clear; holdfast chat --resume talk");
  await terminal.shows(/^talk · 1 turn .*\n› ?$/m);
  terminal.keys("C-d");
  await terminal.shows("talk keeps running");
  await terminal.command("clear; holdfast spawn --chat --attach --agent demo --name other 'say me too'");
  await terminal.shows(/^› say me too\nme too$/m);
  await atRest(home, "other");
  terminal.keys("C-d");
  await terminal.shows("other keeps running");
  await home.ok(["spawn", "shell", "--name", "sh"]);
  await terminal.command("clear; holdfast chat sh");
  await terminal.shows("holdfast attach sh");
  await terminal.command("clear; TERM=dumb holdfast chat demo");
  await terminal.shows(/chat cannot draw on this terminal.*\n.*-p TEXT/);
  await terminal.command("clear; holdfast chat demo --session empty");
  await terminal.shows(/^empty: demo in /m);
  terminal.keys("C-d");
  await terminal.shows("empty keeps running");
  const names = async () => (await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name).sort();
  const before = await names();
  expect(before).toContain("empty");
  await terminal.command("clear; holdfast chat demo");
  await terminal.shows(/^\S+: demo in /m);
  expect((await names()).length).toBe(before.length + 1);
  terminal.keys("C-d");
  await eventually(async () => (await names()).join() === before.join());
});

test("chat offers to install a missing adapter on a terminal and continues; a script gets the command", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  const put = (name: string, body: string) => writeFileSync(path.join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  put("claude", "echo 2.1.3");
  const demo = path.join(import.meta.dirname, "../dist/demo.mjs");
  put(
    "npm",
    `echo "npm $*" >&2\nprintf '#!/bin/sh\\nexec ${process.execPath} ${demo} --acp\\n' > ${bin}/claude-agent-acp\nchmod +x ${bin}/claude-agent-acp`,
  );
  const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
  const script = await home.cli(["chat", "claude", "-p", "say hello"], { env });
  expect(script.code).toBe(7);
  expect(script.stderr).toContain("conversations need it: npm install -g @agentclientprotocol/claude-agent-acp");
  using terminal = new Terminal({ env });
  await terminal.command(`${HOLDFAST} chat claude -p 'say no'`);
  await terminal.shows("Run it now? [y/N]");
  terminal.line("n");
  await terminal.shows("is not on the PATH");
  await terminal.command(`clear; ${HOLDFAST} chat claude -p 'say installed'`);
  await terminal.shows(/This installs it:\n {2}npm install -g @agentclientprotocol\/claude-agent-acp\nRun it now\? \[y\/N\]/);
  terminal.line("y");
  await terminal.shows(/npm install -g @agentclientprotocol\/claude-agent-acp\ninstalled/);
});
