/** The sessions that a verb selects by names, --all, --status and --agent. */
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { attachTerminal } from "./attached.ts";
import { HOLDFAST, TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

/** Two running sessions (one of each agent), one that succeeded and one that failed. */
async function fourSessions(): Promise<TestHome> {
  const home = new TestHome();
  await home.run("exec sleep 1000", "--name", "shell-runs");
  await home.ok(["spawn", "demo", "--name", "demo-runs"]);
  await home.run("exit 0", "--name", "good");
  await home.run("exit 1", "--name", "bad");
  await home.ended("good");
  await home.ended("bad");
  return home;
}

async function names(home: TestHome, ...filters: string[]): Promise<string[]> {
  return (await home.json<Session[]>(["ls", ...filters])).map(({ name }) => name);
}

test("ls lists running and unread failed sessions by default, or those selected by names and filters", async () => {
  await using home = await fourSessions();
  expect(await names(home)).toEqual(["shell-runs", "demo-runs", "bad"]);
  expect(await names(home, "--all")).toEqual(["shell-runs", "demo-runs", "good", "bad"]);
  expect(await names(home, "--status", "failed")).toEqual(["bad"]);
  expect(await names(home, "--status", "failed,done")).toEqual(["good", "bad"]);
  expect(await names(home, "--status", "failed", "--status", "working")).toEqual(["shell-runs", "bad"]);
  expect(await names(home, "--agent", "demo")).toEqual(["demo-runs"]);
  expect(await names(home, "--agent", "shell", "--all")).toEqual(["shell-runs", "good", "bad"]);
  expect(await names(home, "--agent", "shell", "--status", "done")).toEqual(["good"]);
  expect(await names(home, "bad", "demo-runs", "bad")).toEqual(["bad", "demo-runs"]);
  expect(await names(home, "bad", "good", "--status", "done")).toEqual(["good"]);
  expect(await names(home, "--status", "lost")).toEqual([]);
  expect((await home.cli(["ls", "--status", "broken"])).code).toBe(2);
});

test("stop ends several sessions at once, by name or by filter, and no others", async () => {
  await using home = await fourSessions();
  await home.run("exec sleep 1000", "--name", "second");
  await home.run("exec sleep 1000", "--name", "third");
  const byName = await home.ok(["stop", "second", "third"]);
  expect(byName.split("\n").sort()).toEqual(["", "second stopped (1 process)", "third stopped (1 process)"]);
  expect(await names(home)).toEqual(["shell-runs", "demo-runs", "bad"]);
  expect(await home.ok(["stop", "--agent", "demo", "--grace", "1s"])).toMatch(/^demo-runs stopped \(\d+ process(es)?\)\n$/);
  expect(await home.ok(["stop", "--status", "working"])).toBe("shell-runs stopped (1 process)\n");
  expect(await home.ok(["stop", "--all"])).toBe("Nothing to stop.\n");
  expect(await home.json(["stop", "--all"])).toEqual([]);
});

test("stop --all ends all running sessions", async () => {
  await using home = await fourSessions();
  const stopped = await home.json<Session[]>(["stop", "--all", "--grace", "1s"]);
  expect(stopped.map(({ name, status }) => `${name} ${status}`)).toEqual(["shell-runs stopped", "demo-runs stopped"]);
  expect((await names(home, "--status", "done,failed")).length).toBe(2);
});

test("a command with several names does nothing if one of them is unknown", async () => {
  await using home = await fourSessions();
  for (const args of [
    ["stop", "shell-runs", "nobody"],
    ["rm", "good", "nobody"],
    ["detach", "shell-runs", "nobody"],
    ["ls", "good", "nobody"],
  ]) {
    const { code, stdout, stderr } = await home.cli(args);
    expect(code, args.join(" ")).toBe(3);
    expect(stdout).toBe("");
    expect(stderr).toContain('"nobody"');
  }
  expect(await names(home, "--all")).toEqual(["shell-runs", "demo-runs", "good", "bad"]);
  expect(await names(home)).toEqual(["shell-runs", "demo-runs", "bad"]);
});

test("a failure for one of several sessions is reported and sets the exit code, and the others are processed", async () => {
  await using home = await fourSessions();
  const stop = await home.cli(["stop", "good", "shell-runs"]);
  expect(stop).toEqual({
    code: 0,
    stdout: "good has ended (done)\n  read its output: holdfast logs good\nshell-runs stopped (1 process)\n",
    stderr: "",
  });
  const rm = await home.cli(["rm", "good", "demo-runs", "--json"]);
  expect(rm.code).toBe(6);
  expect((JSON.parse(rm.stdout) as Session[]).map(({ name }) => name)).toEqual(["good"]);
  expect(JSON.parse(rm.stderr)).toMatchObject({ error: { code: "session_running" } });
  expect(await names(home, "--all")).toEqual(["shell-runs", "demo-runs", "bad"]);
});

test("rm removes ended sessions by filter or all of them, and never a running one", async () => {
  await using home = await fourSessions();
  expect(await home.ok(["rm", "--status", "done"])).toBe("good removed\n");
  expect(await home.ok(["rm", "--agent", "demo"])).toBe("Nothing to remove.\n");
  expect(await home.ok(["rm", "--agent", "shell", "--all"])).toBe("bad removed\n");
  expect(await home.ok(["rm", "--all"])).toBe("Nothing to remove.\n");
  expect(await names(home, "--all")).toEqual(["shell-runs", "demo-runs"]);
});

test("rm --agent removes the ended sessions of that agent", async () => {
  await using home = await fourSessions();
  expect((await home.ok(["rm", "--agent", "shell"])).split("\n").sort()).toEqual(["", "bad removed", "good removed"]);
});

test("detach detaches the terminals of several sessions, by filter or all", async () => {
  await using home = await fourSessions();
  await home.ok(["spawn", "shell", "--name", "other"]);
  using first = await attachTerminal(home, { ref: "demo-runs" });
  using second = await attachTerminal(home, { ref: "other" });
  expect(await home.ok(["detach", "--agent", "demo"])).toBe("demo-runs: 1 terminal detached\n");
  await first.shows("[detached");
  second.line("echo still-$((1 + 1))");
  await second.shows("still-2");
  expect(await home.ok(["detach", "--status", "done"])).toBe("Nothing to detach.\n");
  expect((await home.ok(["detach", "--all"])).split("\n").sort()).toEqual([
    "",
    "demo-runs: 0 terminals detached",
    "other: 1 terminal detached",
    "shell-runs: 0 terminals detached",
  ]);
  await second.shows("[detached");
  expect(await home.cli(["detach", "good"])).toMatchObject({ code: 6, stderr: expect.stringContaining("good has ended (done)") });
});

test("stop, rm and detach refuse to run without a selection", async () => {
  await using home = new TestHome();
  for (const verb of ["stop", "rm", "detach"]) {
    const { code, stderr } = await home.cli([verb]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `holdfast: expected the sessions to ${verb}\n  holdfast ${verb} NAME…, or --all, --status, --agent; see holdfast ls\n`,
    );
  }
});

test("on a terminal stop --all and rm --all list the sessions, mark the unread ones, and ask (mend 23)", async () => {
  await using home = await fourSessions();
  await home.lookAt("good");
  for (const [command, question, refused, agreedTo] of [
    ["rm --all", "Remove 2 sessions? [y/N]", "Nothing was removed.", "bad removed"],
    ["stop --all", "Stop 2 sessions? [y/N]", "Nothing was stopped.", "shell-runs stopped"],
  ] as const) {
    for (const [answer, says] of [
      ["n", refused],
      ["y", agreedTo],
    ] as const) {
      using terminal = new Terminal({ env: home.env });
      await terminal.command(`${HOLDFAST} ${command}`);
      await terminal.shows(question);
      if (command === "rm --all") await terminal.shows(/ bad +failed, unread: nobody has viewed it since it ended/);
      terminal.line(answer);
      await terminal.shows(says);
    }
  }
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name, status }) => [name, status]).sort()).toEqual([
    ["demo-runs", "stopped"],
    ["shell-runs", "stopped"],
  ]);
});

test("stop --all marks an answer as unread only if the agent has given one (mend 23)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "--chat", "demo", "--name", "hangs", "--prompt", "wait 10m"]);
  await home.ok(["spawn", "--chat", "demo", "--name", "said", "--prompt", "say it"]);
  await home.until("hangs", ({ status }) => status === "working");
  await home.until("said", ({ status, turns }) => status === "idle" && turns === 1);
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`${HOLDFAST} stop --all`);
  await terminal.shows(/ said +idle, unread: nobody has read its last answer/);
  await terminal.shows(/ hangs +working *\n/);
  await terminal.shows("Stop 2 sessions? [y/N]");
  terminal.line("n");
  await terminal.shows("Nothing was stopped.");
});
