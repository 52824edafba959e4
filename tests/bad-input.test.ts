/** User errors: each has a message with the cause, a hint with the way out, and the exit code of its class. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

interface Refusal {
  args: string[];
  code: number;
  says: string;
}

async function refuses(home: TestHome, refusals: readonly Refusal[]): Promise<void> {
  for (const { args, code, says } of refusals) {
    const result = await home.cli(args);
    expect(result, JSON.stringify(args)).toEqual({ code, stdout: "", stderr: `holdfast: ${says}\n` });
  }
}

/** Neither in the journal nor on disk. */
async function expectNothingRecorded(home: TestHome): Promise<void> {
  expect(await home.json(["ls", "--all"])).toEqual([]);
  expect(readdirSync(path.join(home.path, "sessions"))).toEqual([]);
  expect(await home.ok(["events", "--type", "session.created"])).toBe("");
}

test("a type without events is named, for it may be misspelt", async () => {
  await using home = new TestHome();
  const { code, stdout, stderr } = await home.cli(["events", "--type", "bogus"]);
  expect([code, stdout, stderr]).toEqual([0, "", "note: there is no event of type bogus; docs/EVENTS.md lists the types\n"]);
});

test("help for a word that is no verb is the help of the command", async () => {
  await using home = new TestHome();
  expect(await home.ok(["help", "token", "constructor"])).toBe(await home.ok(["help", "token"]));
});

test("unknown commands, flags and arguments are refused with the valid ones", async () => {
  await using home = new TestHome();
  await refuses(home, [
    { args: ["stopp"], code: 2, says: 'unknown command "stopp"\n  did you mean: stop\n  holdfast --help lists the commands' },
    {
      args: ["constructor"],
      code: 2,
      says: 'unknown command "constructor"\n  holdfast --help lists the commands',
    },
    { args: ["list"], code: 2, says: 'unknown command "list"\n  use: holdfast ls' },
    { args: ["chat", "demo", "--name", "x"], code: 2, says: "chat has no flag --name\n  use: holdfast chat demo --session x" },
    {
      args: ["send", "fix", "hello", "world"],
      code: 2,
      says: "expected a session and one text\n  quote the text: holdfast send fix 'hello world'",
    },
    { args: ["send", "fix", "hello", "--timeout", "5s"], code: 2, says: "--timeout has no effect without --wait\n  add --wait" },
    { args: ["send", "fix", "hello", "--wait", "--no-wait"], code: 2, says: "--wait and --no-wait cannot be used together" },
    {
      args: ["send", "fix", "hello", "--force", "--expires", "5s"],
      code: 2,
      says: "--expires applies to messages; typed input has no receipts\n  omit --no-enter and --force",
    },
    { args: ["help", "zzz"], code: 2, says: 'unknown command "zzz"\n  holdfast --help lists the commands' },
    {
      args: ["run", "--nme", "x", "--", "ls"],
      code: 2,
      says: "run has no flag --nme\n  did you mean: --name\n  see: holdfast run --help",
    },
    { args: ["ls", "-x"], code: 2, says: "ls has no flag -x\n  see: holdfast ls --help" },
    { args: ["ls", "--all=yes"], code: 2, says: "--all takes no value\n  see: holdfast ls --help" },
    { args: ["run", "--name"], code: 2, says: "--name needs a value: --name NAME\n  see: holdfast run --help" },
    { args: ["logs", "-n"], code: 2, says: "--tail needs a value: --tail N\n  see: holdfast logs --help" },
    {
      args: ["run", "--name", "--", "ls"],
      code: 2,
      says: "--name needs a value: --name NAME\n  if the value starts with a dash: --name=-…",
    },
    { args: ["status", "now"], code: 2, says: 'status takes no arguments, got "now"\n  show one session: holdfast show now' },
    {
      args: ["events", "build"],
      code: 2,
      says: 'events takes no arguments, got "build"\n  events of one session: holdfast events --session build',
    },
    { args: ["down", "build"], code: 2, says: 'down takes no arguments, got "build"\n  stop one session: holdfast stop build' },
    { args: ["run"], code: 2, says: "expected a command after --\n  for example: holdfast run -- npm test" },
    { args: ["run", "--"], code: 2, says: "expected a command after --\n  for example: holdfast run -- npm test" },
    { args: ["spawn"], code: 2, says: "expected an agent\n  for example: holdfast spawn demo; list agents: holdfast agents" },
    {
      args: ["spawn", "demo", "fix", "it"],
      code: 2,
      says: "the prompt is more than one argument\n  quote it: holdfast spawn demo 'fix it'",
    },
    { args: ["completion"], code: 2, says: "expected a shell\n  choose from: bash, zsh, fish\n  for example: holdfast completion bash" },
  ]);
  await expectNothingRecorded(home);
});

test("arguments after the command name of `run` belong to the command, including flags", async () => {
  await using home = new TestHome();
  const session = await home.json<Session>(["run", "--name", "one", "printf", "%s|", "--json", "--name", "-h", "--", "x"]);
  expect(session.command).toEqual(["printf", "%s|", "--json", "--name", "-h", "--", "x"]);
  await home.ended("one");
  expect(await home.ok(["logs", "one"])).toBe("--json|--name|-h|--|x|\n");
});

test("an unknown agent and a missing program are refused before anything is recorded", async () => {
  await using home = new TestHome();
  const file = path.join(home.root, "not-executable");
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o644 });
  await refuses(home, [
    {
      args: ["spawn", "claud"],
      code: 7,
      says: 'there is no agent "claud"\n  did you mean: claude\n  list agents: holdfast agents; to run any program: holdfast run -- COMMAND',
    },
    {
      args: ["spawn", "codex", "--env", "PATH=/nowhere"],
      code: 7,
      says: 'Codex CLI is not installed: there is no program "codex" on the PATH\n  install it: npm install -g @openai/codex; holdfast agents lists the installed agents',
    },
    {
      args: ["run", "--env", "PATH=/nowhere:/neither", "--", "sh"],
      code: 7,
      says: `cannot find the program "sh"\n  it is not on the session's PATH (/nowhere:/neither)`,
    },
    {
      args: ["run", "--", "./no-such"],
      code: 7,
      says: 'cannot find the program "./no-such"\n  check that the file exists and is executable',
    },
    { args: ["run", "--", file], code: 7, says: `cannot find the program "${file}"\n  check that the file exists and is executable` },
    { args: ["run", "--", "/tmp"], code: 7, says: 'cannot find the program "/tmp"\n  check that the file exists and is executable' },
  ]);
  expect((await home.cli(["run", "--", "no-such-program"])).code).toBe(7);
  expect((await home.cli(["run", "--", ""])).code).toBe(7);
  await expectNothingRecorded(home);
});

test("a program is looked up with the session's own PATH and directory", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "the bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "only-there"), "#!/bin/sh\necho found it\n", { mode: 0o755 });
  expect((await home.cli(["run", "--", "only-there"])).code).toBe(7);
  expect((await home.cli(["run", "--", "./only-there"])).code).toBe(7);
  await home.ok(["run", "--name", "by-path", "--env", `PATH=${bin}:/usr/bin:/bin`, "--", "only-there"]);
  await home.ok(["run", "--name", "relative", "--cwd", bin, "--", "./only-there"]);
  await home.ok(["run", "--name", "relative-path", "--cwd", home.root, "--env", "PATH=the bin:/usr/bin:/bin", "--", "only-there"]);
  await home.ok(["run", "--name", "relative-cwd", "--cwd", "the bin", "--", "./only-there"]);
  for (const name of ["by-path", "relative", "relative-path", "relative-cwd"]) {
    expect((await home.ended(name)).status, name).toBe("done");
    expect(await home.ok(["logs", name])).toBe("found it\n");
  }
});

test("an unusable directory is refused before anything is recorded", async () => {
  await using home = new TestHome();
  const file = path.join(home.root, "file");
  writeFileSync(file, "");
  await refuses(home, [
    { args: ["run", "--cwd", "missing", "--", "ls"], code: 7, says: unusable(path.join(home.root, "missing"), "does not exist") },
    { args: ["run", "--cwd", file, "--", "ls"], code: 7, says: unusable(file, "is not a directory") },
    { args: ["spawn", "shell", "--cwd", "/dev/null"], code: 7, says: unusable("/dev/null", "is not a directory") },
  ]);
  await expectNothingRecorded(home);
});

test("a directory without permission is refused before anything is recorded", async () => {
  // Root may enter everything, so under root an unprivileged user without a name runs the test, as in containers.
  const drop = process.getuid?.() === 0 ? ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"] : [];
  await using home = new TestHome();
  chmodSync(home.root, 0o711);
  const closed = path.join(home.root, "closed");
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(closed, drop.length > 0 ? 0o700 : 0o000);
  const other = path.join(home.root, "other");
  mkdirSync(other);
  chmodSync(other, 0o777);
  const env = { ...home.env, HOLDFAST_HOME: path.join(other, "home"), HOME: other };
  const cli = (...args: string[]) => {
    const [file = HOLDFAST, ...words] = [...drop, HOLDFAST, ...args];
    const { status, stdout, stderr } = spawnSync(file, words, { env, cwd: other, encoding: "utf8" });
    return { code: status, stdout, stderr };
  };
  try {
    const refused = { code: 7, stdout: "", stderr: `holdfast: ${unusable(closed, "cannot be read or entered")}\n` };
    expect(cli("run", "--cwd", closed, "--", "ls")).toEqual(refused);
    expect(cli("ls", "--all", "--json")).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  } finally {
    expect(cli("down", "--all").code).toBe(0);
  }
});

test("names that are too long, empty, or misread by a shell or tmux are refused", async () => {
  await using home = new TestHome();
  const hint = "begin with a letter or digit, then letters, digits, '.', '_' or '-'; for example: fix-login";
  const names = [
    "a:b",
    "=x",
    "%1",
    "@2",
    "$3",
    "-x",
    ".hidden",
    "_x",
    "a b",
    "a/b",
    "../x",
    "a,b",
    "a*",
    "~",
    "{x}",
    "a;b",
    "#{pid}",
    "👍",
  ];
  await refuses(home, [
    ...names.map((name) => ({
      args: ["run", `--name=${name}`, "--", "ls"],
      code: 2,
      says: `the name ${JSON.stringify(name)} is not allowed\n  ${hint}`,
    })),
    { args: ["run", "--name", "", "--", "ls"], code: 2, says: `a name cannot be empty\n  ${hint}` },
    {
      args: ["run", "--name", "x".repeat(65), "--", "ls"],
      code: 2,
      says: `a name has at most 64 characters, this one has 65\n  ${hint}`,
    },
    ...["a\nb", "a\x1b[2J", "\x07", "a\u202eb", "a\u200bb"].map((name) => ({
      args: ["spawn", "shell", "--name", name],
      code: 2,
      says: `a name cannot contain control or invisible characters\n  ${hint}`,
    })),
  ]);
  await expectNothingRecorded(home);
});

test("unusual but valid names work with every verb", async () => {
  await using home = new TestHome();
  const names = ["a.b", "1", "x".repeat(64), "übergrößenträger", "日本語", "v1.2_3-4"];
  for (const name of names) expect((await home.run(`echo it is ${name}; exec sleep 1000`, "--name", name)).name).toBe(name);
  await Promise.all(names.map((name) => eventually(async () => (await home.ok(["logs", name])) === `it is ${name}\n`)));
  expect((await home.json<Session[]>(["stop", ...names])).map(({ name }) => name)).toEqual(names);
  expect((await home.json<Session[]>(["rm", ...names])).map(({ name }) => name)).toEqual(names);
});

test("two Unicode spellings of a name are one name", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "caf\u00e9");
  expect((await home.session("cafe\u0301")).name).toBe("caf\u00e9");
  expect((await home.cli(["run", "--name", "cafe\u0301", "--", "ls"])).code).toBe(5);
});

test("a taken name is refused, even if its session has ended", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "runs");
  await home.run("exit 0", "--name", "over");
  await home.ended("over");
  const taken = (name: string) =>
    `there is a session named "${name}" already\n  choose another name, or rename that session: holdfast rename ${name} NEW-NAME`;
  const over =
    'an ended session has the name "over"\n  continue it: holdfast resume over; remove it: holdfast rm over; rename it: holdfast rename over NEW-NAME';
  await refuses(home, [
    { args: ["run", "--name", "runs", "--", "ls"], code: 5, says: taken("runs") },
    { args: ["spawn", "shell", "--name", "over"], code: 5, says: over },
  ]);
  expect((await home.json<Session[]>(["ls", "--all"])).length).toBe(2);
});

test("of many simultaneous requests for one name, one gets it", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const attempts = await Promise.all(Array.from({ length: 8 }, () => home.cli(["run", "--name", "one", "--", "sleep", "1000"])));
  expect(attempts.map(({ code }) => code).sort()).toEqual([0, 5, 5, 5, 5, 5, 5, 5]);
});

test("invalid variables, durations, statuses and cursors are refused", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "one");
  const example = "for example: --env PORT=3000; --env PORT alone passes your own value";
  const env = (text: string) => `--env takes NAME=VALUE, not ${JSON.stringify(text)}\n  ${example}`;
  const duration = (flag: string, text: string) => `${flag} takes a duration, not "${text}"\n  for example: 500ms, 5s, 10m, 2h`;
  const cursor = (text: string) => `"${text}" is not a cursor\n  a cursor is SEQ or EPOCH:SEQ, for example 42`;
  const statuses = "created, starting, working, waiting, idle, done, failed, stopped, lost, unknown";
  await refuses(home, [
    { args: ["run", "--env", "PORT", "--", "ls"], code: 2, says: `--env PORT: the variable is not set\n  ${example}` },
    ...["=x", "A-B=c", "1X=y", ""].map((text) => ({ args: ["run", "--env", text, "--", "ls"], code: 2, says: env(text) })),
    ...["soon", "5x", "", "1h30m"].map((text) => ({ args: ["stop", "one", "--grace", text], code: 2, says: duration("--grace", text) })),
    { args: ["down", "--all", "--grace", "x"], code: 2, says: duration("--grace", "x") },
    { args: ["ls", "--status", "broken"], code: 2, says: `"broken" is not a status\n  choose from: ${statuses}` },
    { args: ["events", "--after", "x:y"], code: 2, says: cursor("x:y") },
    { args: ["events", "--after=-1"], code: 2, says: cursor("-1") },
    { args: ["events", "-f", "--after", "1.5"], code: 2, says: cursor("1.5") },
    {
      args: ["events", "--after", "9999"],
      code: 13,
      says: "the cursor 9999 is beyond the last event, 3\n  omit --after to start with the first event",
    },
  ]);
  const other = await home.cli(["events", "--after", "00000000:1"]);
  expect(other.code).toBe(13);
  expect(other.stderr).toMatch(/^holdfast: the cursor belongs to epoch 00000000; the journal is in epoch \w+\n {2}take a new snapshot/);
  expect((await home.session("one")).status).toBe("working");
});

test("input too long for the daemon is refused with a clear message", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "one");
  await refuses(home, [
    { args: ["stop", "one", "--grace", "2h"], code: 2, says: "--grace is at most an hour, not 2h" },
    {
      args: ["run", "--objective", "x".repeat(10_001), "--", "ls"],
      code: 2,
      says: "a name, a role or an objective has at most 10,000 characters",
    },
    { args: ["run", "--memory", "1K", "--", "true"], code: 2, says: "a memory limit is at least 1 MB" },
    { args: ["keys", "one", "x".repeat(30)], code: 2, says: "key name too long; see: holdfast keys --help" },
  ]);
  const long = await home.cli(["send", "one", "-"], { input: "x".repeat(20_000_000) });
  expect(long).toMatchObject({ code: 2, stderr: expect.stringMatching(/^holdfast: a text has at most 16 million characters; put/) });
});

function unusable(directory: string, why: string): string {
  return `the directory ${JSON.stringify(directory)} ${why}\n  choose another directory with --cwd`;
}

test("an installed agent without its conversation adapter is not reported as missing (mend 18)", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "claude"), "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const { code, stderr } = await home.cli(["spawn", "claude", "--chat", "--name", "x"], { env });
  expect(code).toBe(7);
  expect(stderr).toContain('Claude Code is installed, but its adapter "claude-agent-acp" is not on the PATH');
  expect(stderr).toContain("npm install -g @agentclientprotocol/claude-agent-acp");
  const neither = await home.cli(["spawn", "claude", "--chat", "--name", "x"], { env: { PATH: "/usr/bin:/bin" } });
  expect(neither.stderr).toContain('Claude Code is not installed: there is no program "claude" on the PATH');
  expect(neither.stderr).toContain(
    "install it: npm install -g @anthropic-ai/claude-code && npm install -g @agentclientprotocol/claude-agent-acp;",
  );
});
