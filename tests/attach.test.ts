/** attach in a real terminal. That terminal is itself a pane of another tmux, so TMUX is set and every test here is nested. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { allProcesses } from "@holdfast/platform";
import { expect, test } from "vitest";
import { attachTerminal, barOf, openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { environmentOf } from "./proc.ts";

function shell(home: TestHome, name: string, ...flags: string[]): Promise<Session> {
  return home.json<Session>(["spawn", "shell", "--name", name, ...flags]);
}

test("attach becomes tmux itself: no Holdfast process stands between the keys and the program", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  using terminal = openTerminal(home);
  const file = path.join(home.root, "pid");
  await terminal.command(`sh -c 'echo $$ > ${file}; exec holdfast attach a'`);
  await terminal.shows(barOf("a"));
  const pid = Number(readFileSync(file, "utf8"));
  const client = allProcesses().get(pid);
  expect(client?.name).toBe("tmux: client");
  expect([...allProcesses().values()].filter(({ parent }) => parent === pid)).toEqual([]);
  expect(environmentOf(pid).TMUX).toBeUndefined();
  expect(environmentOf(terminal.shellPid).TMUX, "the terminal is a tmux of its own").not.toBe("");
});

test("detach leaves the agent running", async () => {
  await using home = new TestHome();
  const session = await shell(home, "a");
  using terminal = await attachTerminal(home, { ref: "a" });
  terminal.line("echo before-$((1 + 1)); while :; do sleep 0.05; echo tick; done");
  await terminal.shows("before-2");
  await terminal.shows("tick");
  terminal.keys("C-\\");
  await terminal.shows("detached; it keeps running");
  await terminal.command("echo outside");
  await terminal.shows(/^outside$/m);
  const ticks = async () => (await home.ok(["logs", "a"])).split("tick").length;
  const then = await ticks();
  await eventually(async () => (await ticks()) > then + 3);
  expect(await home.session("a")).toMatchObject({ status: "working", pid: session.pid });

  await terminal.command("clear; holdfast attach a");
  await terminal.shows(barOf("a"));
  await terminal.shows("tick");
});

test("Ctrl+B and other keys of multiplexers reach the program", async () => {
  await using home = new TestHome();
  await home.run("stty raw -echo; echo ready; exec od -An -v -t x1 -w1", "--name", "keys");
  using terminal = await attachTerminal(home, { ref: "keys" });
  await terminal.shows("ready");
  terminal.keys("C-b", "C-a", "C-c", "C-z", "C-q", "C-]", "Escape", "d");
  await terminal.shows(/02\s+01\s+03\s+1a\s+11\s+1d\s+1b\s+64/);
});

test("the terminal's size reaches the program, at attach and at every change", async () => {
  await using home = new TestHome();
  await home.run("trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done", "--name", "sized");
  await eventually(async () => (await home.ok(["logs", "sized"])) === "40 120\n");
  using terminal = await attachTerminal(home, { ref: "sized", columns: 100, rows: 30 });
  await terminal.shows("29 100");
  terminal.resize(70, 20);
  await terminal.shows("19 70");
});

test("a read-only attachment sees everything, types nothing and does not resize the session", async () => {
  await using home = new TestHome();
  await home.run("trap 'stty size' WINCH; echo begin; while :; do read -r line && echo got $line; done", "--name", "a");
  await eventually(async () => (await home.ok(["logs", "a"])).includes("begin"));
  using reader = await attachTerminal(home, { ref: "a", flags: "--read-only", columns: 90, rows: 25 });
  await reader.shows(/read only · .*Ctrl\+\\ detaches/);
  reader.line("from-the-reader");
  using driver = await attachTerminal(home, { ref: "a", columns: 110, rows: 35 });
  driver.line("from-the-driver");
  await reader.shows("got from-the-driver");
  reader.resize(60, 15);
  driver.line("again");
  await reader.shows("got again");
  // Anything the reader typed came before the key that detaches it, so it would have arrived by now.
  reader.keys("C-\\");
  await reader.shows("detached; it keeps running");
  const said = await home.ok(["logs", "a", "--raw"]);
  expect(said).not.toContain("from-the-reader");
  expect(said.match(/\d+ \d+(?=\r)/g)).toEqual(["34 110"]);
});

test("a terminal of an unknown type can attach", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  using terminal = openTerminal(home);
  await terminal.command("TERM=xterm-of-tomorrow holdfast attach a");
  await terminal.shows(barOf("a"));
});

test("two terminals on one session both see it; after one detaches, the other still types", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  using first = await attachTerminal(home, { ref: "a" });
  using second = await attachTerminal(home, { ref: "a" });
  first.line("echo one-$((0 + 1))");
  await second.shows("one-1");
  first.keys("C-\\");
  await first.shows("detached; it keeps running");
  await second.shows("you drive now");
  second.line("echo three-$((2 + 1))");
  await second.shows("three-3");
  expect(await home.ok(["detach", "a"])).toBe("a: 1 terminal detached\n");
  await second.shows("[detached");
});

test("attach from inside a session switches its terminal to the other session", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  await shell(home, "b");
  using terminal = await attachTerminal(home, { ref: "a" });
  terminal.line("echo in-$((0 + 1))-a");
  await terminal.shows("in-1-a");
  // The shell's own token reaches only its children. The person at this terminal acts as the owner, explicitly.
  terminal.line(`HOLDFAST_AS=owner ${HOLDFAST} attach b`);
  await terminal.shows(barOf("b"));
  terminal.line("echo in-$((1 + 1))-b");
  await terminal.shows("in-2-b");
  expect(terminal.screen()).not.toContain("in-1-a");
  expect(await home.ok(["logs", "b"])).toContain("in-2-b");
  // One client, attached to b: nothing is nested.
  expect(await home.json<{ detached: number }[]>(["detach", "a", "b"])).toMatchObject([{ detached: 0 }, { detached: 1 }]);
  await terminal.shows("[detached");
  expect((await home.json<Session[]>(["ls"])).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("attach --read-only from inside a session makes the terminal an observer", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  await home.run(`echo begin; while read -r line; do echo got $line; done`, "--name", "b");
  using terminal = await attachTerminal(home, { ref: "a" });
  terminal.line(`HOLDFAST_AS=owner ${HOLDFAST} attach b --read-only`);
  await terminal.shows(/^ b · shell .*read only/m);
  terminal.line("typed");
  terminal.keys("C-\\");
  await terminal.shows("detached; it keeps running");
  expect(await home.ok(["logs", "b", "--raw"])).not.toContain("typed");
});

test("a session cannot be attached inside itself: it would mirror itself endlessly", async () => {
  await using home = new TestHome();
  await home.run(`${HOLDFAST} attach self; echo code=$?; exec sleep 1000`, "--name", "self");
  await eventually(async () => (await home.ok(["logs", "self"])).includes("code="));
  expect(await home.ok(["logs", "self"])).toBe(
    "holdfast: self cannot be attached inside itself\n  attach it from another terminal\ncode=2\n",
  );
  await home.ok(["spawn", "shell", "--name", "a"]);
  using terminal = await attachTerminal(home, { ref: "a" });
  terminal.line(`${HOLDFAST} attach a; echo code=$?`);
  await terminal.shows("code=0");
});

test("a session that ends while attached gives the terminal back", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  using terminal = await attachTerminal(home, { ref: "a" });
  terminal.line("exit 3");
  await terminal.shows("[exited]");
  await terminal.command("echo back-$((1 + 1))");
  await terminal.shows("back-2");
  expect(await home.ended("a")).toMatchObject({ status: "failed", exit: { code: 3, signal: null } });

  await shell(home, "b");
  await terminal.command("clear; holdfast attach b");
  await terminal.shows(barOf("b"));
  await home.ok(["stop", "b", "--grace", "1s"]);
  await terminal.shows("[exited]");
});

test("attach to an ended or unknown session, or without a terminal, is a clear error", async () => {
  await using home = new TestHome();
  await home.run("exit 0", "--name", "over");
  await home.ended("over");
  using terminal = openTerminal(home);
  await terminal.command("holdfast attach over; echo code=$?");
  expect(await terminal.shows("code=6")).toContain("holdfast: over has ended (done)\n  read its output: holdfast logs over\ncode=6");
  await terminal.command("holdfast attach nobody; echo code=$?");
  expect(await terminal.shows("code=3")).toContain('no session has the name, id or id prefix "nobody"');

  await home.run("exec sleep 1000", "--name", "runs");
  expect(await home.cli(["attach", "runs"])).toEqual({
    code: 15,
    stdout: "",
    stderr: "holdfast: attach needs a terminal\n  read the output: holdfast logs runs\n",
  });
  expect((await home.cli(["attach"])).stderr).toBe("holdfast: expected a session\n  usage: holdfast attach NAME\n");
  expect((await home.cli(["attach", "runs", "over"])).stderr).toBe("holdfast: expected one session\n  usage: holdfast attach NAME\n");
});

test("an attached terminal does not notice kill -9 of the daemon", async () => {
  await using home = new TestHome();
  await shell(home, "a");
  using terminal = await attachTerminal(home, { ref: "a" });
  await home.killDaemon();
  terminal.line("echo still-$((1 + 1))");
  await terminal.shows("still-2");
  terminal.keys("C-\\");
  await terminal.shows("detached; it keeps running");
});
