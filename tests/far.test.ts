import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { TwoMachines } from "./far.ts";
import { eventually, HOLDFAST, type TestHome } from "./home.ts";
import { Release } from "./release.ts";

const ODD = ["two words", "it's", '"$HOME"', "`id`", "a\\nb", "*", "é", ""];
const TICKS = "i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.05; done";
const ECHO = "stty -echo; while read -r line; do echo got $line; done";

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The session's only attachment, once it differs from the one before. */
function attachment(home: TestHome, ref: string, before?: string): Promise<string> {
  return eventually(async () => {
    const ids = (await home.session(ref)).attachments.map(({ id }) => id);
    return ids.length === 1 && ids[0] !== before && ids[0];
  });
}

/** Commands for the remote machine, each with its output so far. */
function follow(near: TestHome, ...commands: string[][]) {
  return commands.map((args) => followed(near.start(["-H", "far", ...args])));
}

function followed(child: ChildProcessWithoutNullStreams) {
  const seen = { out: "", err: "", child, ended: new Promise((resolve) => child.on("close", resolve)) };
  child.stdout.on("data", (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    seen.err += chunk;
  });
  return seen;
}

test("a remote conversation works on a terminal, with piped input, and with -p in a loop (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  const { near, far } = machines;
  using terminal = machines.terminal();
  for (const [line, said] of [
    ["holdfast -H far chat demo --session talk", "hello"],
    ["holdfast -H far spawn --chat --attach demo --name other", "hi there"],
  ] as const) {
    await terminal.command(`clear; ${line}`);
    await terminal.shows(/^\S+ · 0 turns · .*\n› ?$/m);
    terminal.line(`say ${said}`);
    await terminal.shows(new RegExp(`^› say ${said}\\n${said}$`, "m"));
    terminal.keys("C-d");
    await terminal.shows(/(keeps running|keeps working in the background)\. Continue: holdfast -H far chat (talk|other)/);
  }
  expect(await near.ok(["-H", "far", "chat", "talk"], { input: "say piped\n" })).toBe("piped\n");
  const loop = `while read -r word; do '${HOLDFAST}' -H far chat talk -p "say $word"; done`;
  const { stdout } = await near.cli(["run", "--name", "loop", "--cwd", near.root, "--", "sh", "-c", `printf 'one\ntwo\n' | { ${loop}; }`]);
  expect(stdout).not.toBe("");
  await near.ended("loop");
  expect(await near.ok(["logs", "loop"])).toBe("one\ntwo\n");
  await far.until("talk", ({ turns, status }) => turns === 4 && status === "idle");
});

test("commands run on the remote machine, with unusual arguments, standard input, JSON and exit codes (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  const { near, far } = machines;
  const started = JSON.parse(await near.ok(["-H", "far", "run", "--json", "--name", "args", "--", "printf", "%s|", ...ODD])) as Session;
  await far.ended("args");
  expect(await far.ok(["logs", "args"])).toBe(`${ODD.join("|")}|\n`);
  expect(await near.ok(["--machine=far", "logs", "args"])).toBe(`${ODD.join("|")}|\n`);
  expect(JSON.parse(await near.ok(["-H", "far", "ls", "--all", "--json"]))).toMatchObject([{ id: started.id, status: "done" }]);
  await far.run(ECHO, "--name", "chat");
  await near.ok(["-H", "far", "send", "chat", "-"], { input: "from standard input" });
  await eventually(async () => (await near.ok(["-H", "far", "screen", "chat"])).includes("got from standard input"));
  const missing = await near.cli(["-H", "far", "show", "nobody", "--json"]);
  expect(missing).toMatchObject({ code: 3, stdout: "" });
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: "session_not_found" } });
  expect((await near.cli(["ls"], { env: { HOLDFAST_MACHINE: "far" } })).stdout).toContain("chat");
  expect(await near.ok(["ls"])).not.toContain("chat");
});

test("a loop that reads lines and sends each one loses none to ssh (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  using terminal = machines.terminal();
  await terminal.command("printf 'one\\ntwo\\nthree\\n' | while read -r x; do echo $x; holdfast -H far version; done; echo over");
  const screen = await terminal.shows(/^over$/m);
  expect(screen.match(/^(one|two|three)$/gm)).toEqual(["one", "two", "three"]);
});

test("remote output on a terminal looks local: width, colours, and no colours where unwanted (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  await machines.far.run("exec sleep 1000", "--name", "sleeper");
  using terminal = machines.terminal();
  const shown = async (line: string) => {
    await terminal.command("clear");
    await eventually(() => terminal.screen().trim() === "$");
    await terminal.command(`${line}; echo it is ove''r`);
    await terminal.shows("it is over");
    return terminal.tmux("capture-pane", "-p", "-e", "-t", "terminal");
  };
  expect(await shown("holdfast -H far ls --help 2>/dev/null")).toContain("\x1b[1mUsage");
  expect(await shown("NO_COLOR=1 holdfast -H far ls --help")).not.toContain("\x1b[1mUsage");
  expect(await shown("holdfast -H far ls --help | cat")).not.toContain("\x1b[1mUsage");
  // A command that needs a terminal has one.
  expect(await shown("holdfast -H far status 2>&1")).toContain("daemon");
  terminal.resize(60, 30);
  expect(await shown("holdfast -H far ls")).toContain("sleeper");
  // One line per session: a line wider than the terminal would wrap.
  const lines = terminal.screen().split("\n");
  const head = lines.findIndex((line) => line.startsWith("NAME"));
  expect(lines.slice(head + 1, head + 3)).toEqual([expect.stringContaining("sleeper"), "it is over"]);
});

describe("finding the remote holdfast", () => {
  test("a holdfast only on the login PATH is found, and login output is ignored (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start({ found: "at login" });
    expect(JSON.parse(await machines.near.ok(["-H", "far", "ls", "--json"]))).toEqual([]);
  });

  test("a missing holdfast is reported with a remedy (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start({ found: "never" });
    const { near } = machines;
    expect(await near.cli(["-H", "far", "ls"])).toMatchObject({
      code: 42,
      stderr: expect.stringMatching(/holdfast is not on the PATH of far\n.*install it there.*\[machines\.far\] command/),
    });
    expect(JSON.parse((await near.cli(["-H", "far", "ls", "--json"])).stderr)).toMatchObject({
      error: { code: "machine_without_holdfast" },
    });
    expect(await near.cli(["-H", "far", "logs", "-f", "x"])).toMatchObject({ code: 42 });
    const configuration = path.join(near.env.HOME ?? "", ".config", "holdfast");
    mkdirSync(configuration, { recursive: true });
    const command = `PATH=${path.dirname(process.execPath)}:$PATH ${HOLDFAST}`;
    writeFileSync(path.join(configuration, "config.toml"), `[machines.box]\nssh = "far"\ncommand = "${command}"\n`);
    expect(await near.ok(["-H", "box", "ls", "--json"])).toBe("[]\n");
    expect((await near.ok(["doctor", "--json"])).includes("machines.box")).toBe(false);
    expect(await near.ok(["__complete", "--", "-H", "b"])).toBe("box\n");
  });

  test("a remote holdfast of another version runs the commands it knows, and names its version for others (SYM-17 resume)", async () => {
    using newer = new Release("9.9.9");
    await using machines = await TwoMachines.start({ bin: path.dirname(newer.program) });
    const { near } = machines;
    expect(await near.ok(["-H", "far", "version"])).toBe("9.9.9\n");
    expect(await near.cli(["-H", "far", "ls", "--of-another-time"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("holdfast 9.9.9 on the remote machine"),
    });
    expect(await near.cli(["-H", "far", "wait", "x"])).toMatchObject({
      code: 11,
      stderr: expect.stringContaining("far has holdfast 9.9.9"),
    });
    // The CLI of this version cleans up and must not meet a daemon of that version.
    await near.ok(["-H", "far", "down"]);
  });
});

describe("when ssh fails", () => {
  test("a refused key, an unknown host key and an unreachable machine have distinct errors (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start({ client: ["StrictHostKeyChecking yes"] });
    const { near, sshd } = machines;
    expect(await near.cli(["-H", "far", "ls"])).toMatchObject({ code: 41, stderr: expect.stringContaining("host key of far") });
    const as = (more: string[]) => ({ env: { PATH: `${sshd.client("far", more)}:${near.env.PATH}` } });
    const refused = await near.cli(["-H", "far", "ls", "--json"], as(["User nobody-of-that-name"]));
    expect(refused.code).toBe(41);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "machine_refused", hint: expect.stringContaining("ssh far") } });
    const away = as([]);
    await sshd.close();
    expect(await near.cli(["-H", "far", "ls"], away)).toMatchObject({ code: 40, stderr: expect.stringContaining("Connection refused") });
    expect(await near.cli(["-H", "far", "wait", "x"], away)).toMatchObject({
      code: 40,
      stderr: expect.stringContaining("Connection refused"),
    });
    await sshd.open();
  });

  test("an invalid machine name is refused before ssh sees it (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    for (const name of ["-oProxyCommand=touch x", "a b", "$(id)", ""]) {
      expect(await machines.near.cli(["-H", name, "ls"])).toMatchObject({ code: 2 });
    }
    const after = await machines.near.cli(["ls", "-H", "far"]);
    expect(after).toMatchObject({ code: 2, stderr: expect.stringContaining("-H goes before the command") });
  });
});

describe("one connection", () => {
  /** The control socket of each ssh call, except calls that only query. */
  const told = (client: string) =>
    readFileSync(path.join(client, "calls"), "utf8")
      .trim()
      .split("\n")
      .filter((call) => !call.startsWith("-T -G"))
      .map((call) => /ControlPath=(\S+)/.exec(call)?.[1]);

  test("is shared by later commands, through a socket that only its user can reach (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, sshd } = machines;
    const client = sshd.client("far");
    const env = { PATH: `${client}:${near.env.PATH}` };
    await near.ok(["-H", "far", "version"], { env });
    const [socket = ""] = told(client);
    expect(statSync(socket).isSocket()).toBe(true);
    expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
    // ssh adds seventeen characters while it creates the socket.
    expect(socket.length + 17).toBeLessThan(100);
    const first = sshd.logins().map(({ pid }) => pid);
    expect(first.length).toBeGreaterThan(0);
    await near.ok(["-H", "far", "version"], { env });
    expect(sshd.logins().map(({ pid }) => pid)).toEqual(first);
    expect(told(client)).toEqual([socket, socket]);
  });

  test("is the user's own if they configured ssh to share one (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, sshd } = machines;
    const own = path.join(near.root, "own");
    const client = sshd.client("far", ["ControlMaster auto", `ControlPath ${own}`, "ControlPersist 60"]);
    const env = { PATH: `${client}:${near.env.PATH}` };
    await near.ok(["-H", "far", "version"], { env });
    expect(statSync(own).isSocket()).toBe(true);
    expect(told(client)).toEqual([undefined]);
  });
});

test("Tab completes remote sessions, and neither prompts nor hangs for an unresponsive machine (SYM-17 resume)", async () => {
  await using machines = await TwoMachines.start();
  const { near, far, sshd } = machines;
  await far.run("exec sleep 1000", "--name", "build");
  const offered = async (...words: string[]) => (await near.ok(["__complete", "--", ...words])).split("\n").filter(Boolean);
  // A completion gives up soon, and on a busy machine the first connection may take longer.
  expect(
    await eventually(async () => {
      const names = await offered("-H", "far", "attach", "b");
      return names.length > 0 && names;
    }),
  ).toEqual(["build"]);
  expect(await offered("-H", "far", "att")).toEqual(["attach"]);
  expect(await offered("-H", "far", "logs", "build", "--r")).toEqual(["--raw", "--run"]);
  const there = { env: { HOLDFAST_MACHINE: "far" } };
  await eventually(async () => (await near.ok(["__complete", "--", "stop", ""], there)) === "build\n");
  // The kernel accepts the connection, but no program answers.
  const { createServer } = await import("node:net");
  const silent = createServer().listen(0, "127.0.0.1");
  const port = await new Promise<number>((resolve) => silent.once("listening", () => resolve((silent.address() as { port: number }).port)));
  const env = { PATH: `${sshd.client("silent", [`Port ${port}`])}:${near.env.PATH}` };
  expect(await near.cli(["__complete", "--", "-H", "silent", "attach", ""], { env })).toMatchObject({ code: 0, stdout: "", stderr: "" });
  silent.close();
});

describe("when the connection breaks", () => {
  test.each(["tmux", "native"])(
    "attach reconnects to the %s session, with the same keys and the same end (SYM-17 resume)",
    async (host) => {
      await using machines = await TwoMachines.start();
      const { far, sshd } = machines;
      await far.run(ECHO, "--name", "chat", "--host", host);
      using terminal = machines.terminal();
      await terminal.command("stty -a > before; holdfast -H far attach chat");
      const first = await attachment(far, "chat");
      terminal.line("hello");
      await terminal.shows("got hello");
      sshd.cut();
      await attachment(far, "chat", first);
      // The screen is restored, and input works again.
      await terminal.shows("got hello");
      terminal.line("again");
      await terminal.shows("got again");
      terminal.keys("C-\\");
      await terminal.shows("detached; it keeps running");
      expect(terminal.screen()).toContain("lost the connection to far");
      await terminal.command("stty -a > after; cmp before after && echo as fou''nd");
      await terminal.shows("as found");
      expect((await far.session("chat")).status).toBe("working");
    },
  );

  test("attach reconnects to the last shown session, even after a switch by key and a rename (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, far, sshd } = machines;
    await far.run(ECHO, "--name", "first");
    await far.ok(["spawn", "demo", "--name", "asks", "--prompt", "tool shell touch x", "--", "--fast"]);
    await far.until("asks", ({ status }) => status === "waiting");
    using terminal = machines.terminal();
    await terminal.command("holdfast -H far attach first");
    await terminal.shows(/^ first · /m);
    terminal.keys("C-]");
    await terminal.shows(/^ asks · /m);
    const first = await attachment(far, "asks");
    await near.ok(["-H", "far", "rename", "asks", "renamed"]);
    sshd.cut();
    await attachment(far, "renamed", first);
    await terminal.shows(/^ renamed · /m);
    terminal.keys("C-\\");
    await terminal.shows("detached; it keeps running");
  });

  test("a conversation on a terminal reconnects too; an unnamed conversation is reported as still running (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { far, sshd } = machines;
    using terminal = machines.terminal();
    await terminal.command("stty -a > before; holdfast -H far chat demo --session talk");
    await terminal.shows(/^\S+ · 0 turns · .*\n› ?$/m);
    terminal.line("say hello");
    await terminal.shows(/^› say hello\nhello$/m);
    await sshd.close();
    await terminal.shows("lost the connection to far");
    await sshd.open();
    await terminal.shows(/reconnected to far\n[\s\S]*^talk: demo in [\s\S]*^hello$[\s\S]*^\S+ · 1 turn · .*\n› ?$/m);
    terminal.line("say again");
    await terminal.shows(/^› say again\nagain$/m);
    expect(await far.session("talk")).toMatchObject({ turns: 2 });
    terminal.keys("C-d");
    await terminal.shows("Continue: holdfast -H far chat talk");
    await terminal.command("clear; holdfast -H far chat demo");
    await terminal.shows(/^\S+ · 0 turns · .*\n› ?$/m);
    await sshd.close();
    await terminal.shows("lost the connection to far");
    await sshd.open();
    await terminal.shows(/cannot return to the conversation[\s\S]*holdfast -H far ls/);
    await terminal.command("stty -a > after; cmp before after && echo as fou''nd");
    await terminal.shows("as found");
  });

  test("attach waits for an unreachable machine; input meanwhile is discarded, and Ctrl+C gives up (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { far, sshd } = machines;
    await far.run(ECHO, "--name", "chat");
    using terminal = machines.terminal();
    await terminal.command("stty -a > before; holdfast -H far attach chat");
    const first = await attachment(far, "chat");
    await terminal.shows(/^ chat · /m);
    await sshd.close();
    await terminal.shows("lost the connection to far");
    terminal.line("yes, delete everything");
    await sshd.open();
    await attachment(far, "chat", first);
    await terminal.shows(/^ chat · /m);
    terminal.line("careful");
    await terminal.shows("got careful");
    expect(await far.ok(["logs", "chat"])).toBe("got careful\n");
    await sshd.close();
    await terminal.shows(/reconnected to far[\s\S]*lost the connection to far/);
    terminal.keys("C-c");
    await terminal.shows(/return: holdfast -H far attach chat/);
    await terminal.command("echo $?; stty -a > after; cmp before after && echo as fou''nd");
    await terminal.shows("as found");
    expect(terminal.screen()).toMatch(/^40$/m);
    await sshd.open();
  });

  test("a silent connection is noticed and replaced by another (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, far, sshd } = machines;
    await far.run(ECHO, "--name", "chat");
    const patient = sshd.client("far");
    await near.ok(["-H", "far", "version"], { env: { PATH: `${patient}:${near.env.PATH}` } });
    expect(readFileSync(path.join(patient, "calls"), "utf8")).toContain("ServerAliveInterval=5 -o ServerAliveCountMax=3");
    // The user's own ssh settings apply: here, a shorter timeout.
    const hasty = sshd.client("far", ["ServerAliveInterval 1", "ServerAliveCountMax 2"]);
    using terminal = machines.terminal({ HASTY: hasty });
    await terminal.command("PATH=$HASTY:$PATH; holdfast -H far attach chat");
    const first = await attachment(far, "chat");
    await terminal.shows(/^ chat · /m);
    sshd.freeze();
    await terminal.shows("lost the connection to far");
    // Both attachments exist: the remote end does not know that the first one is gone.
    await eventually(async () => (await far.session("chat")).attachments.some(({ id }) => id !== first));
    await terminal.shows(/^ chat · /m);
    expect(readFileSync(path.join(hasty, "calls"), "utf8")).not.toContain("ServerAliveInterval=");
    // The returned terminal drives.
    terminal.line("mine");
    await terminal.shows("got mine");
    terminal.keys("C-\\");
    await terminal.shows("detached; it keeps running");
  });

  test("an attach that is killed does not reconnect, and leaves the terminal as it was (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    await machines.far.run(ECHO, "--name", "chat");
    using terminal = machines.terminal();
    await terminal.command("stty -a > before; holdfast -H far attach chat");
    await terminal.shows(/^ chat · /m);
    const attach = machines.near.processes().find(({ pid }) => commandLine(pid).includes("dist/holdfast.cjs\0-H\0far\0attach"));
    process.kill(attach?.pid ?? Number.NaN, "SIGTERM");
    await terminal.command("stty -a > after; cmp before after && echo as fou''nd");
    await terminal.shows("as found");
    expect(terminal.screen()).not.toContain("lost the connection");
    await eventually(async () => (await machines.far.session("chat")).attachments.length === 0);
  });

  test("a command whose connection breaks says that it may have taken effect, whoever opened the connection (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, far, sshd } = machines;
    await far.run(ECHO, "--name", "chat");
    for (const opened of ["by this command", "before"]) {
      // The command waits for more input, so it cannot end before the connection does.
      const sends = followed(near.start(["-H", "far", "send", "chat", "-"], { input: null }));
      await eventually(() => far.processes().some(({ pid }) => commandLine(pid).includes("send\0chat")));
      sshd.cut();
      expect(await sends.ended, opened).toBe(43);
      expect(sends.err, opened).toBe(
        "holdfast: the connection to far broke before the answer; the result is unknown\n  check: holdfast -H far ls\n",
      );
      await near.ok(["-H", "far", "version"]);
    }
  });

  test("ls --watch, approvals watch and send --wait continue, and none repeats anything (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, far, sshd } = machines;
    await far.ok(["spawn", "demo", "--name", "api", "--", "--fast"]);
    await far.until("api", ({ status }) => status === "idle");
    const [list, approvals] = follow(near, ["ls", "--watch", "--json"], ["approvals", "watch"]);
    if (!list || !approvals) throw new Error("none was started");
    await eventually(() => list.out.includes('"idle"'));
    const [sent] = follow(near, ["send", "api", "tool shell touch x; say it is done", "--wait"]);
    await eventually(() => approvals.out.includes("touch x") && list.out.includes('"waiting"'));
    sshd.cut();
    await eventually(() => [list, approvals].every(({ err }) => err.includes("reconnected to far")));
    await far.ok(["approvals", "allow", "api"]);
    expect(await sent?.ended).toBe(0);
    expect(sent?.out).toMatch(/^The tool answered: \nit is done\n$/);
    await eventually(() => list.out.trimEnd().split("\n").at(-1)?.includes('"idle"') && approvals.out.trim().split("\n").length === 2);
    for (const each of [list, approvals]) {
      each.child.kill("SIGINT");
      expect(await each.ended).toBe(0);
    }
    expect(approvals.out.match(/touch x/g)).toHaveLength(2);
  });

  test("logs -f and events -f continue without gap or duplicate, and wait still waits (SYM-17 resume)", async () => {
    await using machines = await TwoMachines.start();
    const { near, far, sshd } = machines;
    await far.run(TICKS, "--name", "ticks");
    const [logs, events, wait] = follow(near, ["logs", "-f", "ticks"], ["events", "-f"], ["wait", "ticks"]);
    if (!logs || !events || !wait) throw new Error("none was started");
    const count = () => logs.out.split("\n").length;
    await eventually(() => count() > 5 && events.out.includes("session.started"));
    for (let times = 0; times < 2; times++) {
      const before = count();
      sshd.cut();
      await eventually(() => count() > before + 5);
    }
    await sshd.close();
    await eventually(() => logs.err.includes("lost"));
    await sshd.open();
    await far.ok(["stop", "ticks"]);
    expect(await wait.ended).toBe(0);
    expect(wait.out).toBe("ticks has ended: stopped\n");
    expect(await logs.ended).toBe(0);
    const ticks = logs.out.trim().split("\n");
    expect(ticks).toEqual(ticks.map((_, index) => `tick ${index + 1}`));
    expect(`${ticks.join("\n")}\n`).toBe(await far.ok(["logs", "ticks"]));
    await eventually(() => events.out.includes("session.ended"));
    const seqs = events.out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    events.child.kill("SIGINT");
    expect(await events.ended).toBe(0);
    // None of them left a process on the remote machine.
    await eventually(() => far.processes().every(({ pid }) => !commandLine(pid).includes("__wire")));
  });
});
