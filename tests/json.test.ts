/**
 * The exact shapes of `--json` that scripts read. A failure here means that docs/JSON.md has to change too; a key may be added, never renamed or
 * removed.
 */
import { spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import type { AnyEvent, AttachPlan, DaemonStatus, DiskUse, ErrorBody, PruneReply, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { HOLDFAST, TestHome } from "./home.ts";

/** The first documented keys, then later ones. */
const ASKED_FOR =
  "id name kind agent role objective status host cwd pid createdAt startedAt endedAt durationMs lastActivityAt outputPath exit runs";
const SESSION_KEYS = [
  ...ASKED_FOR.split(" "),
  ..."firstPrompt command owner cause restart restartAt usage spent spentWithChildren budget failure memoryLimitBytes memoryLimitBy idleMs recordingLimitBytes recordingCutBytes viewedAt parent statusAt statusForMs turn attention background hung turns promptedRun tasksCompleted progress conversation restartGivenUp conversations workspace attachments handover forkedFrom groups".split(
    " ",
  ),
].sort();
const EVENT_KEYS = "epoch seq id type v at actor session machine data".split(" ").sort();
const STATUS_KEYS =
  "pid version node nodeVersion home socket startedAt uptimeMs machine epoch seq sessions backup restored tmux listen share actor scope keepAwake warnings"
    .split(" ")
    .sort();

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function keys(value: object | undefined): string[] {
  return Object.keys(value ?? {}).sort();
}

/** C1 controls and bidi characters. */
const OBEYED = /[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

test("run --json prints the running session", async () => {
  await using home = new TestHome();
  const session = await home.json<Session>([
    "run",
    "--name",
    "build",
    "--role",
    "tester",
    "--objective",
    "see it green",
    "--",
    "sleep",
    "1000",
  ]);
  expect(keys(session)).toEqual([...SESSION_KEYS, "notes"].sort());
  expect(session).toEqual({
    id: expect.stringMatching(/^[a-z][a-z2-7]{9}$/),
    name: "build",
    kind: "shell",
    agent: "shell",
    role: "tester",
    objective: "see it green",
    status: "working",
    host: "tmux",
    cwd: home.root,
    command: ["sleep", "1000"],
    notes: [],
    owner: `user:${userInfo().username}`,
    parent: null,
    groups: [],
    pid: expect.any(Number),
    createdAt: TIME,
    startedAt: TIME,
    endedAt: null,
    durationMs: expect.any(Number),
    lastActivityAt: null,
    outputPath: path.join(home.path, "sessions", session.id, "runs/1/output.000000"),
    exit: null,
    cause: null,
    runs: 1,
    restart: "never",
    restartAt: null,
    restartGivenUp: null,
    usage: null,
    spent: null,
    spentWithChildren: null,
    budget: null,
    memoryLimitBytes: null,
    memoryLimitBy: null,
    idleMs: null,
    recordingLimitBytes: 64 * 2 ** 20,
    recordingCutBytes: 0,
    viewedAt: null,
    failure: null,
    conversations: [],
    forkedFrom: null,
    workspace: null,
    attachments: [],
    handover: null,
    statusAt: null,
    statusForMs: null,
    turn: null,
    attention: null,
    background: null,
    hung: false,
    turns: 0,
    promptedRun: null,
    firstPrompt: null,
    tasksCompleted: 0,
    progress: null,
    conversation: null,
  });
  expect(readlinkSync(`/proc/${session.pid}/exe`), "the program's own pid").toMatch(/\/(sleep|coreutils|busybox)$/);
});

test("spawn --json prints the session; without --name it gets a short readable name", async () => {
  await using home = new TestHome();
  const session = await home.json<Session>(["spawn", "demo"]);
  expect(keys(session)).toEqual([...SESSION_KEYS, "notes"].sort());
  expect(session).toMatchObject({ kind: "terminal", agent: "demo", role: null, objective: null, exit: null });
  expect(session.name).toMatch(/^[a-z]+-[a-z]+$/);
  expect(session.pid).toBeGreaterThan(1);
});

test("without --json, run and spawn print the id and nothing else", async () => {
  await using home = new TestHome();
  const run = await home.cli(["run", "--", "sleep", "1000"]);
  expect(run).toEqual({ code: 0, stdout: expect.stringMatching(/^[a-z][a-z2-7]{9}\n$/), stderr: "" });
  const spawn = await home.cli(["spawn", "shell"]);
  expect(spawn).toEqual({ code: 0, stdout: expect.stringMatching(/^[a-z][a-z2-7]{9}\n$/), stderr: "" });
  expect((await home.json<Session[]>(["ls"])).map(({ id }) => id)).toEqual([run.stdout.trim(), spawn.stdout.trim()]);
});

test("ls, show, rename, stop and rm print sessions", async () => {
  await using home = new TestHome();
  expect(await home.ok(["ls", "--json"])).toBe("[]\n");
  await home.run("echo text; exec sleep 1000", "--name", "one");
  await home.until("one", ({ lastActivityAt }) => lastActivityAt !== null);

  const [listed] = await home.json<Session[]>(["ls"]);
  expect(keys(listed)).toEqual(SESSION_KEYS);
  expect(listed).toMatchObject({ name: "one", status: "working", lastActivityAt: TIME });
  expect(keys(await home.json<Session>(["show", "one"]))).toEqual([...SESSION_KEYS, "recordingGaps"].sort());
  const renamed = await home.json<Session>(["rename", "one", "two"]);
  expect(keys(renamed)).toEqual(SESSION_KEYS);
  expect(renamed.name).toBe("two");

  const [stopped] = await home.json<(Session & { killed: object[] })[]>(["stop", "two"]);
  expect(keys(stopped)).toEqual([...SESSION_KEYS, "killed"].sort());
  expect(stopped).toMatchObject({ status: "stopped", endedAt: TIME, exit: { code: null, signal: "SIGTERM" } });
  expect(stopped?.killed).toEqual([{ pid: listed?.pid, name: "sleep", signal: "SIGTERM" }]);
  const [removed] = await home.json<Session[]>(["rm", "two"]);
  expect(keys(removed)).toEqual(SESSION_KEYS);
  expect(removed?.id).toBe(listed?.id);
  expect(await home.ok(["stop", "--all", "--json"])).toBe("[]\n");
  expect(await home.ok(["rm", "--all", "--json"])).toBe("[]\n");
});

test("exit is a code or a signal", async () => {
  await using home = new TestHome();
  await home.run("exit 42", "--name", "code");
  await home.run("kill -SEGV $$", "--name", "signal");
  expect(await home.ended("code")).toMatchObject({ status: "failed", cause: "exited", exit: { code: 42, signal: null } });
  expect(await home.ended("signal")).toMatchObject({ status: "failed", exit: { code: null, signal: "SIGSEGV" } });
});

test("attach --json prints the plan for the terminal, and detach --json the number of detached terminals", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "shell", "--name", "one"]);
  const plan = await home.json<AttachPlan>(["attach", "one"]);
  expect(keys(plan)).toEqual("command detachBytes detachKey driver nextBytes nextKey role session socket switched".split(" "));
  expect(keys(plan.session)).toEqual(SESSION_KEYS);
  expect(plan).toMatchObject({ switched: false, detachKey: "Ctrl+\\" });
  expect(plan.command?.[0]).toMatch(/\/tmux$/);
  expect(plan.command).toContain("attach-session");
  expect((await home.json<AttachPlan>(["attach", "one", "--read-only"])).command?.join(" ")).toContain("read-only");

  using _terminal = await attachTerminal(home, { ref: "one" });
  const [detached] = await home.json<(Session & { detached: number })[]>(["detach", "one"]);
  expect(keys(detached)).toEqual([...SESSION_KEYS, "detached"].sort());
  expect(detached?.detached).toBe(1);
});

test("status and up print the daemon", async () => {
  await using home = new TestHome();
  const status = await home.json<DaemonStatus>(["status"]);
  expect(keys(status)).toEqual(STATUS_KEYS);
  expect(status).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    home: home.path,
    startedAt: TIME,
    sessions: { running: 0, ended: 0 },
    seq: 1,
  });
  expect(readlinkSync(`/proc/${status.pid}/exe`)).toBe(status.node);
  expect(keys(status.tmux ?? {})).toEqual(["path", "pid", "socket", "version"]);
  await home.run("exec sleep 1000");
  await home.ended((await home.run("exit 0")).id);
  expect((await home.json<DaemonStatus>(["status"])).sessions).toEqual({ running: 1, ended: 1, lost: 0 });
  const up = await home.json<DaemonStatus>(["up"]);
  expect(keys(up)).toEqual(STATUS_KEYS);
  expect(up.pid).toBe(status.pid);
});

test("down prints the daemon's pid and the stopped sessions", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "one");
  const { pid } = await home.json<DaemonStatus>(["status"]);
  expect(await home.json(["down"])).toEqual({ pid, stopped: [], orphans: [] });
  expect(await home.json(["down"])).toEqual({ pid: null, stopped: [], orphans: [] });
  const all = await home.json<{ pid: number; stopped: Session[] }>(["down", "--all"]);
  expect(keys(all)).toEqual(["orphans", "pid", "stopped"]);
  expect(keys(all.stopped[0])).toEqual(SESSION_KEYS);
  expect(all.stopped.map(({ name, status }) => `${name} ${status}`)).toEqual(["one stopped"]);
});

test("events prints one event per line, with --json and without", async () => {
  await using home = new TestHome();
  const session = await home.run("exit 0", "--name", "one");
  await home.ended("one");
  const text = await home.ok(["events"]);
  expect(await home.ok(["events", "--json"])).toBe(text);
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AnyEvent);
  expect(events.map(({ seq, type }) => `${seq} ${type}`)).toEqual([
    "1 daemon.started",
    "2 session.created",
    "3 session.started",
    "4 session.ended",
  ]);
  for (const event of events) {
    expect(keys(event)).toEqual(EVENT_KEYS);
    expect(event).toMatchObject({ v: 1, at: TIME, epoch: events[0]?.epoch, session: event.seq === 1 ? null : session.id });
  }
  expect(events.map(({ actor }) => actor)).toEqual(["daemon", session.owner, "daemon", "daemon"]);
});

test("version, logs and completion have JSON too", async () => {
  await using home = new TestHome();
  const version = await home.json<{ version: string; node: string }>(["version"]);
  expect(keys(version)).toEqual(["node", "version"]);
  expect(await home.ok(["version"])).toBe(`${version.version}\n`);
  expect(await home.ok(["--version"])).toBe(`${version.version}\n`);

  await home.run("printf 'one\\ntw\\tö\\n'", "--name", "said");
  await home.ended("said");
  expect(await home.ok(["logs", "said", "--json"])).toBe('{"text":"one"}\n{"text":"tw      ö"}\n');
  const raw = (await home.ok(["logs", "said", "--raw", "--json"]))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { base64: string });
  expect(raw.every((piece) => keys(piece).join() === "base64")).toBe(true);
  expect(Buffer.concat(raw.map(({ base64 }) => Buffer.from(base64, "base64"))).toString()).toBe("one\r\ntw\tö\r\n");

  expect(keys(await home.json(["completion", "bash"]))).toEqual(["script", "shell"]);
});

test("an error with --json is one JSON object on standard error", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "build");
  const { code, stdout, stderr } = await home.cli(["show", "biuld", "--json"]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: "session_not_found",
      message: 'no session has the name, id or id prefix "biuld"',
      hint: "list sessions: holdfast ls --all",
      candidates: ["build"],
    } satisfies ErrorBody,
  });
  expect(JSON.parse((await home.cli(["nothing", "--json"])).stderr)).toMatchObject({ error: { code: "usage" } });
  expect(JSON.parse((await home.cli(["ls", "--nothing", "--json"])).stderr)).toMatchObject({ error: { code: "usage" } });
  // Arguments after -- belong to the program.
  expect((await home.cli(["run", "--", "no-such-program", "--json"])).stderr).toMatch(/^holdfast: cannot find the program/);
});

test("du and prune print their findings, in bytes", async () => {
  await using home = new TestHome();
  await home.run("echo text", "--name", "one");
  await home.ended("one");
  const use = await home.json<DiskUse>(["du"]);
  const parts = "journalBytes backupBytes damagedBytes workspaceBytes otherBytes totalBytes";
  expect(keys(use)).toEqual(`home sessions ${parts}`.split(" ").sort());
  expect(keys(use.sessions[0])).toEqual("id name status recordingBytes transcriptBytes otherBytes totalBytes".split(" ").sort());
  const pruned = await home.json<PruneReply>(["prune", "--dry-run"]);
  expect(keys(pruned)).toEqual(["dryRun", "kept", "policy", "removed"]);
  expect(pruned.policy).toEqual({ olderThanMs: 30 * 86_400_000, keepBytes: 10 * 2 ** 30 });
  expect(keys(pruned.kept[0])).toEqual("id name status endedAt viewedAt bytes why".split(" ").sort());
});

test("group --json prints groups, peers, shared values and sums", async () => {
  await using home = new TestHome();
  for (const name of ["one", "two"]) await home.run("exec sleep 1000", "--name", name);
  const GROUP = "path parent children members goal coordinator state limit keys revision createdAt createdBy".split(" ").sort();
  const VALUE = "group key value revision author at".split(" ").sort();
  expect(keys(await home.json(["group", "create", "team/a"]))).toEqual(GROUP);
  const joined = await home.json<{ members: object[] }>(["group", "join", "team", "one", "two"]);
  expect(keys(joined)).toEqual([...GROUP, "joined"].sort());
  expect(keys(joined.members[0])).toEqual("session name agent status ended joinedAt coordinator".split(" ").sort());
  expect(await home.json(["group", "join", "team", "one"])).toMatchObject({
    joined: [],
    coordinator: { session: expect.any(String), name: "one" },
  });
  expect((await home.json<object[]>(["group", "ls"])).map(keys)).toEqual([GROUP, GROUP]);
  for (const line of [
    ["show", "team"],
    ["coordinator", "team"],
    ["coordinator", "team", "two"],
    ["limit", "team", "5"],
  ])
    expect(keys(await home.json(["group", ...line])), line.join(" ")).toEqual(GROUP);
  const peers = await home.json<object[]>(["group", "peers", "one"]);
  expect(peers.map(keys)).toEqual(["session name agent status ended coordinator groups role objective".split(" ").sort()]);
  for (const line of [
    ["share", "team", "k", "1"],
    ["get", "team", "k"],
    ["unset", "team", "k"],
  ])
    expect(keys(await home.json(["group", ...line])), line.join(" ")).toEqual(VALUE);
  await home.ok(["group", "share", "team", "k", "2"]);
  const listed = await home.json<{ values: object[] }>(["group", "keys", "team"]);
  expect([keys(listed), keys(listed.values[0])]).toEqual([
    ["revision", "values"],
    "group key revision author at bytes hidden".split(" ").sort(),
  ]);
  expect(keys(await home.json(["group", "watch", "team", "--after", "0", "--once"]))).toEqual([...VALUE, "unset"].sort());
  const stats = await home.json<{ sessions: object; messages: object; spent: object }>(["group", "stats", "team"]);
  expect(keys(stats)).toEqual("group sessions turns spent messages keys".split(" ").sort());
  expect(keys(stats.sessions)).toEqual("total alive ended byStatus".split(" ").sort());
  expect(keys(stats.messages)).toEqual("sent replied medianReplyMs".split(" ").sort());
  expect(keys(await home.json(["group", "leave", "team", "one"]))).toEqual(GROUP);
  expect(await home.json(["group", "rm", "team", "--force"])).toEqual({ removed: ["team/a", "team"] });
  expect(await home.json(["group", "ls"])).toEqual([]);
});

test("send and messages --json print messages; group send and log print group messages", async () => {
  await using home = new TestHome();
  const MESSAGE =
    "id session principal name from fromName group role sent thread replyTo expiresAt text addition steer held state via evidence reply why hint settled known run queuedAt injectedAt turnStartedAt endedAt"
      .split(" ")
      .sort();
  const SENT = "id group role from fromName text thread replyTo at to answers".split(" ").sort();
  await home.run("exec sleep 1000", "--name", "one");
  await home.ok(["group", "join", "team", "one"]);
  expect(keys(await home.json(["send", "--to", "owner", "hello"]))).toEqual(MESSAGE);
  expect((await home.json<object[]>(["messages", "--mine", "--peek"])).map(keys)).toEqual([MESSAGE]);
  expect((await home.json<object[]>(["messages", "--mine"])).map(keys)).toEqual([[...MESSAGE, "words"].sort()]);
  const sent = await home.json<{ to: object[] }>(["group", "send", "team", "hello"]);
  expect(keys(sent)).toEqual(SENT);
  expect(sent.to.map(keys)).toEqual(["session name message state via reply why".split(" ").sort()]);
  expect((await home.json<object[]>(["group", "log", "team"])).map(keys)).toEqual([SENT]);
  expect((await home.json<object[]>(["messages", "one"])).map(keys)).toEqual([MESSAGE]);
});

test("no command lets foreign text reach the terminal as control or bidi characters (mend 8)", async () => {
  await using home = new TestHome();
  const unsafe = "a\u009b31mb\u202ec\u2066d\x7fe";
  await home.ok(["run", "--name", "one", "--role", unsafe, "--objective", unsafe, "--", "sleep", "1000"]);
  await home.ok(["group", "join", "team", "one"]);
  await home.ok(["group", "share", "team", "key", JSON.stringify({ [unsafe]: unsafe })]);
  await home.cli(["group", "send", "team", unsafe]);
  const commands = [
    ["events"],
    ["group", "get", "team", "key"],
    ["group", "get", "--json", "team", "key"],
    ["group", "show", "--json", "team"],
    ["group", "log", "--json", "team"],
    ["ls", "--json"],
    ["show", "--json", "one"],
    ["explain", "--json", "one"],
    ["messages", "--json"],
    ["audit", "--json"],
    ["usage", "--json"],
    ["digest", "--json", "one"],
    ["screen", "--json", "one"],
    ["next", "--json"],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await home.cli(args);
    expect(stdout + stderr, args.join(" ")).not.toMatch(OBEYED);
    for (const line of stdout.split("\n").filter(Boolean)) JSON.parse(line);
  }
  expect(JSON.parse(await home.ok(["group", "get", "team", "key"]))).toEqual({ [unsafe]: unsafe });
  expect((await home.session("one")).objective).toBe(unsafe);

  // Also as text, on a real terminal.
  for (const args of [
    ["events"],
    ["group", "get", "team", "key"],
    ["group", "show", "team"],
    ["group", "log", "team"],
    ["show", "one"],
    ["ls"],
    ["explain", "one"],
    ["audit"],
  ]) {
    const line = [HOLDFAST, ...args].map((word) => `'${word}'`).join(" ");
    const { stdout } = spawnSync("script", ["-qec", line, "/dev/null"], { env: home.env, cwd: home.root, encoding: "utf8", input: "" });
    expect(stdout.length, args.join(" ")).toBeGreaterThan(0);
    expect(stdout, args.join(" ")).not.toMatch(OBEYED);
  }
});
