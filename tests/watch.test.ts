/** `ls --watch`: on a terminal and for a script. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

test("ls --watch on a terminal shows changes as they happen, and restores the terminal", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "first");
  using terminal = openTerminal(home, { columns: 130 });
  await terminal.command("echo before; holdfast ls --watch --all; echo code=$?");
  await terminal.shows(/^first +working/m);
  await home.run("exec sleep 1000", "--name", "second");
  await terminal.shows(/^first +working(.|\n)*^second +working/m);
  await home.ok(["stop", "first"]);
  await terminal.shows(/^first +stopped \(SIGTERM\)/m);
  await home.ok(["rename", "second", "third"]);
  await terminal.shows(/^third +working/m);
  await home.killDaemon();
  await home.ok(["stop", "third"]);
  await terminal.shows(/^third +stopped/m);
  await home.ok(["rm", "first"]);
  await eventually(() => !terminal.screen().includes("first"));
  expect(terminal.screen()).toContain("q quits");
  terminal.keys("x", "y", "q");
  const after = await terminal.shows("code=0");
  expect(after).toContain("before");
  expect(after).not.toContain("third ");
  // The pressed keys are not on the screen, and the terminal echoes again.
  expect(after).not.toMatch(/[xy]q?code=0/);
  await terminal.command("holdfast ls --watch; echo again=$?");
  await terminal.shows("q quits");
  terminal.keys("C-c");
  await terminal.shows("again=0");
});

test("ls --watch fits the terminal, also after a resize", async () => {
  await using home = new TestHome();
  const directory = path.join(home.root, "a-directory-with-a-name-that-is-too-long-for-most-terminals");
  mkdirSync(directory);
  await home.run("exec sleep 1000", "--name", "a-readable-name", "--cwd", directory);
  using terminal = openTerminal(home, { columns: 180 });
  await terminal.command("holdfast ls --watch");
  await terminal.shows(directory);
  terminal.resize(110, 20);
  await terminal.shows(/^a-readable-name .* …[\w-]*-terminals$/m);
  expect(terminal.screen()).toMatch(/^NAME .* LAST OUTPUT +ABOUT +DIRECTORY$/m);
  terminal.resize(80, 20);
  await terminal.shows(/^NAME +STATUS +AGENT +FOR +ABOUT +DIRECTORY$/m);
  await terminal.shows(/^a-readable-name .* …[\w-]+inals$/m);
  terminal.keys("C-c");
});

test("ls --watch --json prints one line per change, continues after kill -9 of the daemon, and ends on SIGTERM", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const child = home.start(["ls", "--watch", "--json", "--all"]);
  const lines = linesOf(child);
  await eventually(() => lines.length > 0);
  expect(JSON.parse(lines[0] ?? "")).toEqual([]);
  await home.run("exec sleep 1000", "--name", "one");
  await eventually(() => seen(lines.at(-1), "one working"));
  await home.killDaemon();
  await home.ok(["stop", "one"]);
  await eventually(() => seen(lines.at(-1), "one stopped"));
  expect(lines.every((line) => Array.isArray(JSON.parse(line)))).toBe(true);
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
});

test("ls --watch into a pipe prints tables without escape sequences", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "one");
  const child = home.start(["ls", "--watch"]);
  const lines = linesOf(child);
  await eventually(() => lines.some((line) => /^one +working/.test(line)));
  await home.ok(["stop", "one"]);
  await eventually(() => lines.at(-1) === "No session is running.");
  expect(lines.join("")).not.toContain("\x1b");
  child.kill("SIGINT");
});

test("ls --tree --watch shows the tree as it grows", async () => {
  await using home = new TestHome();
  await home.run(`read -r go; ${HOLDFAST} run --name below -- sleep 1000; exec sleep 1000`, "--name", "above");
  const child = home.start(["ls", "--tree", "--watch"]);
  const lines = linesOf(child);
  await eventually(() => lines.some((line) => /^above +working/.test(line)));
  await home.ok(["send", "above", "go"]);
  await eventually(() => lines.some((line) => /^└─ below +working/.test(line)));
  await home.ok(["stop", "--tree", "above"]);
  await eventually(() => lines.at(-1) === "No session is running.");
  child.kill("SIGINT");
  const json = home.start(["ls", "--tree", "--watch", "--json", "--all"]);
  const shown = linesOf(json);
  await eventually(() => shown.some((line) => (JSON.parse(line) as { name: string }[]).map(({ name }) => name).join() === "above,below"));
  json.kill("SIGINT");
});

test("followers end when the daemon is stopped on request, and do not start it again", async () => {
  await using home = new TestHome();
  await home.run("echo here; exec sleep 1000", "--name", "one");
  const commands = [
    ["ls", "--watch"],
    ["events", "-f"],
    ["logs", "-f", "one"],
  ];
  const ends = commands.map((args) => endOf(home.start(args)));
  await eventually(() => ends.every(({ said }) => said !== ""));
  await home.ok(["down"]);
  for (const [index, end] of ends.entries()) {
    expect(await end.code, commands[index]?.join(" ")).toBe(10);
    expect(end.complained).toBe("holdfast: the daemon was stopped\n  start it: holdfast up\n");
  }
  expect(home.processes().filter(({ name }) => name.startsWith("node"))).toEqual([]);
  expect((await home.session("one")).status).toBe("working");
});

function endOf(child: ChildProcessWithoutNullStreams): { said: string; complained: string; code: Promise<number | null> } {
  const end = { said: "", complained: "", code: new Promise<number | null>((resolve) => child.on("close", resolve)) };
  child.stdout.on("data", (chunk) => {
    end.said += chunk;
  });
  child.stderr.on("data", (chunk) => {
    end.complained += chunk;
  });
  return end;
}

/** Complete lines as they arrive. */
function linesOf(child: ChildProcessWithoutNullStreams): string[] {
  const lines: string[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  });
  return lines;
}

function seen(line: string | undefined, what: string): boolean {
  return (JSON.parse(line ?? "[]") as Session[]).some(({ name, status }) => `${name} ${status}` === what);
}
