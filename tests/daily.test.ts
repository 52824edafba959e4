/** Everyday commands as people type them. */
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { barOf, openTerminal } from "./attached.ts";
import { TestHome } from "./home.ts";

test("spawn takes the prompt as an argument or with -p, and passes arguments after -- to the agent", async () => {
  await using home = new TestHome();
  const one = await home.json<Session>(["spawn", "demo", "say one thing", "--name", "one", "--", "--fast"]);
  expect(one).toMatchObject({ agent: "demo", objective: "say one thing" });
  expect(one.command).toContain("--fast");
  await home.until("one", ({ turns, status }) => turns === 1 && status === "idle");
  expect(await home.ok(["logs", "one"])).toMatch(/^one thing$/m);

  expect(await home.json<Session>(["spawn", "--agent", "demo", "say two", "--name", "two"])).toMatchObject({
    agent: "demo",
    objective: "say two",
  });
  expect(await home.json<Session>(["spawn", "demo", "-p", "say three", "--name", "three"])).toMatchObject({ objective: "say three" });
  expect(await home.json<Session>(["spawn", "demo", "-", "--name", "four"], { input: "say four\n" })).toMatchObject({
    objective: "say four",
  });
  const refused = async (...args: string[]) => (await home.cli(["spawn", ...args])).stderr;
  expect(await refused("demo", "a b", "-p", "c")).toContain("the prompt is given twice");
  expect(await refused("demo", "--agent", "shell")).toContain('the agent is named twice: "demo" and --agent shell');
  expect(await refused("demo", "fix", "the", "bug", "--", "--fast")).toContain("quote it: holdfast spawn demo 'fix the bug' -- --fast");
  expect(await refused("demo", "--attach")).toContain("--attach needs a terminal");
  expect((await home.json<Session[]>(["ls"])).map(({ name }) => name)).toEqual(["one", "two", "three", "four"]);
});

test("spawn --attach puts the new session on the terminal", async () => {
  await using home = new TestHome();
  using terminal = openTerminal(home);
  await terminal.command("holdfast spawn demo 'say hello' --name demo --attach");
  await terminal.shows(barOf("demo"));
  await terminal.shows(/^hello$/m);
  terminal.keys("C-\\");
  await terminal.command("clear; holdfast ls");
  await terminal.shows(/^demo +idle/m);
});

test("ls shows each session's subject, and lists first the sessions that need a person", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "job-10");
  await home.run("exec sleep 1000", "--name", "job-2", "--objective", "serve the page");
  await home.run("exit 3", "--name", "z-failed");
  await home.ended("z-failed");
  const lines = (await home.ok(["ls"])).trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual(["NAME", "z-failed", "job-2", "job-10"]);
  expect(lines[2]).toContain("serve the page");
  expect(lines[3]).toContain("sh -c 'exec sleep 1000'");
  expect((await home.ok(["ls", "--wide"])).split("\n")[0]).toMatch(/ PID +ID +ABOUT +DIRECTORY$/);
  // JSON output keeps its order: oldest first.
  expect((await home.json<Session[]>(["ls"])).map(({ name }) => name)).toEqual(["job-10", "job-2", "z-failed"]);
});

test("filtering by an unknown agent prints a warning", async () => {
  await using home = new TestHome();
  const unknown = 'warning: there is no agent "bogus"; list the agents: holdfast agents\n';
  expect(await home.cli(["ls", "--agent", "bogus,claude"])).toEqual({ code: 0, stdout: "No session matches.\n", stderr: unknown });
  expect(await home.cli(["ls", "--agent", "bogus", "--json"])).toEqual({ code: 0, stdout: "[]\n", stderr: "" });
  expect(await home.cli(["stop", "--agent", "bogus", "--yes"])).toMatchObject({ code: 0, stderr: unknown });
});

test("a - on a terminal announces that it reads until Ctrl+D", async () => {
  await using home = new TestHome();
  using terminal = openTerminal(home);
  await terminal.command("holdfast spawn demo --name demo -p -");
  await terminal.shows("reading from the terminal until Ctrl+D");
  terminal.line("say hello");
  terminal.keys("C-d");
  await terminal.shows("demo is running");
  expect(await home.session("demo")).toMatchObject({ objective: "say hello" });
});

test("send --wait says on a terminal that the agent waits for permission", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "fix"]);
  using terminal = openTerminal(home, { columns: 120, rows: 40 });
  await terminal.command("holdfast send fix 'tool shell pwd' --wait");
  await terminal.shows("fix waits for approval: Bash: pwd; answer it: holdfast approvals");
  await home.ok(["approvals", "allow", "fix"]);
  await terminal.shows("The tool answered");
});
