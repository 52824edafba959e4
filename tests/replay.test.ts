import { readFileSync } from "node:fs";
import path from "node:path";
import { allProcesses } from "@holdfast/platform";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { DANGEROUS, harmIn, REORDERING } from "./dangerous.ts";
import { eventually, TestHome } from "./home.ts";
import { endedWith } from "./recording-files.ts";
import type { Terminal } from "./terminal.ts";

/** Four words, ten minutes apart. */
const SLOW = { bytes: "one\r\ntwo\r\nthree\r\nfour\r\n", times: ["0 0 80x24", "0 5", "600000 10", "1200000 17", "1800000 23"] };

/** A terminal with a session's replay, after a line that must be back afterwards. */
function replaying(home: TestHome, command: string, size: { columns?: number; rows?: number } = {}): Promise<Terminal> {
  return openTerminal(home, size).after(async (terminal) => {
    await prepare(terminal);
    await terminal.command(`holdfast replay ${command}`);
    await terminal.shows(/^\S+: (playing|paused|the end)/m);
  });
}

const BEFORE = /^before$/m;

async function prepare(terminal: Terminal): Promise<void> {
  await terminal.command("echo before");
  await terminal.shows(BEFORE);
}

/** The terminal has its old screen, echoes, and its modes are off. */
async function isAsFound(terminal: Terminal): Promise<void> {
  const screen = await terminal.shows(BEFORE);
  expect(screen).not.toMatch(/: playing|: the end/);
  await terminal.command("echo typed-$((1+1))");
  await terminal.shows("echo typed-$((1+1))");
  await terminal.shows("typed-2");
  const modes =
    "#{mouse_any_flag} #{cursor_flag} #{alternate_on} #{keypad_cursor_flag} #{keypad_flag} #{insert_flag} #{wrap_flag} #{origin_flag}";
  expect(terminal.tmux("display-message", "-p", "-t", "terminal", modes).trim()).toBe("0 1 0 0 0 0 1 0");
}

test("a replay keeps its pace; n skips to the next output, space pauses, + and - change the speed, q leaves", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  using terminal = await replaying(home, "slow", { columns: 120 });
  const first = await terminal.shows(/one[\s\S]*playing {2}0:\d\d \/ 30:00/);
  expect(first).not.toContain("two");
  expect(first).toContain("space pause, n next, +/- speed, q quit");
  terminal.keys("n");
  expect(await terminal.shows(/two[\s\S]*playing {2}10:\d\d/)).not.toContain("three");
  terminal.keys("Space");
  await terminal.shows("paused");
  terminal.keys("Right");
  expect(await terminal.shows(/three[\s\S]*paused {2}20:00/)).not.toContain("four");
  terminal.keys("Space", "+", "+", "-");
  await terminal.shows(/playing .* at speed 2/);
  for (let i = 0; i < 9; i++) terminal.keys("+");
  await terminal.shows(/four[\s\S]*the end {2}30:00 \/ 30:00/);
  terminal.keys("q");
  await terminal.shows("slow, run 1: 30:00 played to the end");
  await isAsFound(terminal);
});

test("--from, --speed and --idle-limit", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  {
    using terminal = await replaying(home, "slow --from 15m");
    expect(await terminal.shows(/one\ntwo\n[\s\S]*playing {2}15:\d\d/)).not.toContain("three");
    terminal.keys("q");
    await terminal.shows(/slow, run 1: stopped at 15:\d\d of 30:00/);
  }
  {
    using terminal = await replaying(home, "slow --idle-limit 100ms");
    await terminal.shows(/four[\s\S]*the end {2}30:00/);
  }
  {
    using terminal = await replaying(home, "slow --speed 1000 --from 1h");
    await terminal.shows(/four[\s\S]*the end/);
  }
});

test.each([
  { how: "q", leave: (terminal: Terminal) => terminal.keys("q") },
  { how: "Ctrl+C", leave: (terminal: Terminal) => terminal.keys("C-c") },
  { how: "SIGTERM", leave: (terminal: Terminal) => process.kill(replayPid(terminal), "SIGTERM") },
  { how: "SIGHUP", leave: (terminal: Terminal) => process.kill(replayPid(terminal), "SIGHUP") },
])("$how leaves the terminal as it was found", async ({ leave }) => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  using terminal = await replaying(home, "slow");
  await terminal.shows(/^one/m);
  leave(terminal);
  await terminal.shows("slow, run 1: stopped at 0:");
  await isAsFound(terminal);
});

test("Ctrl+Z returns the terminal until fg, which shows the replay again", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  using terminal = await replaying(home, "slow");
  await terminal.shows(/^one/m);
  terminal.keys("C-z");
  await terminal.shows(BEFORE);
  await terminal.command("echo typed-$((1+1)); fg");
  await terminal.shows(/^one[\s\S]*slow: playing/m);
  terminal.keys("q");
  await terminal.shows("typed-2");
  await isAsFound(terminal);
});

test("a daemon kill does not disturb a replay", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  using terminal = await replaying(home, "slow");
  await terminal.shows(/^one/m);
  await home.killDaemon();
  terminal.keys("n", "n", "n");
  await terminal.shows("two");
  terminal.keys("+");
  terminal.keys("n");
  terminal.keys("n");
  await eventually(() => {
    if (!terminal.screen().includes("the end")) terminal.keys("n");
    return terminal.screen().includes("the end");
  });
  expect(terminal.screen()).toMatch(/one\ntwo\nthree\nfour/);
});

test("nothing dangerous in a recording reaches the terminal, and no mode stays on", async () => {
  await using home = new TestHome();
  const evil = [
    ...DANGEROUS.map(({ bytes }) => bytes),
    ...REORDERING,
    "\x1b[4h\x1b[?6h\x1b[?7l\x1b[3;5r\x1b[?25l\x1b(0\x1b[8m",
    "\x1b[0m\x1b(B\x1b[3;1Hlast \u202eword\u202c \x1b[1;3;4;31;48;5;208mbright\x1b[0m",
  ].join("");
  await endedWith(home, { name: "evil", bytes: evil, times: ["0 0 80x24", `10 ${Buffer.byteLength(evil)}`] });
  using terminal = openTerminal(home);
  const written = path.join(home.root, "written");
  await prepare(terminal);
  terminal.tmux("pipe-pane", "-t", "terminal", `cat > ${written}`);
  await terminal.command("holdfast replay evil");
  await terminal.shows(/last word bright[\s\S]*the end/);
  terminal.keys("q");
  await terminal.shows("evil, run 1: ");
  await isAsFound(terminal);
  const bytes = readFileSync(written, "utf8").replaceAll("\x1b", "␛");
  expect(bytes).toContain("bright");
  const sequences = [...new Set(bytes.match(/␛(?:\[[^@-~]*[@-~]|[^[])/g))];
  // Only positions, erasing and colours, plus the replay's own modes.
  const others = sequences.filter((sequence) => !/^␛\[[\d;]*[HGJKm]$/.test(sequence));
  expect(others.sort()).toEqual(["␛[?1049h", "␛[?1049l", "␛[?2026h", "␛[?2026l", "␛[?25h", "␛[?25l"]);
  expect([...new Set(bytes.match(/\p{Cc}/gu))].sort()).toEqual(["\n", "\r"]);
  expect(harmIn(bytes.replaceAll("\r", ""))).toEqual([]);
});

test("a recording larger than the terminal is shown around its cursor and marked as cropped; resizes are followed", async () => {
  await using home = new TestHome();
  const bytes = `${Array.from({ length: 39 }, (_, i) => `row ${i} ${"x".repeat(100)}end`).join("\r\n")}\r\nprompt>`;
  const small = `\x1b[2J\x1b[H${"y".repeat(50)}`;
  const size = Buffer.byteLength(bytes);
  const times = ["0 0 120x40", `0 ${size}`, `600000 ${size} 40x10`, `600001 ${size + small.length}`];
  await endedWith(home, { name: "wide", bytes: bytes + small, times });
  using terminal = await replaying(home, "wide", { columns: 80, rows: 12 });
  const cut = await terminal.shows(/prompt>[\s\S]*120x40 cut off/);
  expect(cut).toContain(`row 38 ${"x".repeat(73)}\n`);
  expect(cut).not.toContain("end");
  terminal.resize(130, 45);
  expect(await terminal.shows(/^row 0 [\s\S]*prompt>/m)).not.toContain("cut off");
  terminal.keys("n", "n");
  // Forty columns: the fifty letters wrap.
  await terminal.shows(/^y{40}\n^y{10}\n/m);
});

test("a recording without times is played at once, and the screen says so", async () => {
  await using home = new TestHome();
  const times = ["0 0 80x24", "0 5", "- 10", "3600000 10", "3600100 17"];
  await endedWith(home, { name: "gap", ...SLOW, times });
  using terminal = await replaying(home, "gap", { columns: 120 });
  await terminal.shows(/three\nfour[\s\S]*the end .*untimed: when these 6 bytes came is not known/);
  terminal.keys("q");
  await terminal.shows(/gap, run 1: 1:00:00 played to the end; 11 bytes had no times and were played at once/);
  const steps = (await home.ok(["replay", "gap", "--json"]))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(steps.map(({ kind, at }) => [kind, at])).toEqual([
    ["resize", 0],
    ["output", 0],
    ["untimed", 0],
    ["output", 0],
    ["timed", 3_600_000],
    ["output", 3_600_100],
    ["untimed", 3_600_100],
    ["output", 3_600_100],
  ]);
  expect(steps.map(({ base64 = "" }) => Buffer.from(base64, "base64").toString()).join("")).toBe(SLOW.bytes);
});

test("without a terminal, and for invalid arguments, replay names the remedy", async () => {
  await using home = new TestHome();
  await endedWith(home, { name: "slow", ...SLOW });
  const hint = "print the text: holdfast logs slow; write a file: holdfast export slow --asciicast FILE";
  expect(await home.cli(["replay", "slow"])).toEqual({
    code: 15,
    stdout: "",
    stderr: `holdfast: replay needs a terminal on standard input and output\n  ${hint}\n`,
  });
  for (const speed of ["0", "-1", "x", "1e3", "5000", ""]) {
    const { code, stderr } = await home.cli(["replay", "slow", `--speed=${speed}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--speed takes a number from 0.01 to 1000")]);
  }
});

test("a running session is played up to now, including output after the last time mark", async () => {
  await using home = new TestHome();
  await home.run("echo so far; exec sleep 1000", "--name", "live");
  await eventually(async () => (await home.ok(["logs", "live"])).includes("so far"));
  await home.run("while :; do echo more; sleep 0.01; done", "--name", "busy");
  await eventually(async () => (await home.ok(["logs", "busy"])).length > 500);
  for (let i = 0; i < 5; i++) expect(await home.ok(["replay", "busy", "--json"])).not.toContain("untimed");
  await home.ok(["stop", "busy"]);
  using terminal = await replaying(home, "live");
  await terminal.shows(/so far[\s\S]*the end/);
  terminal.keys("q");
  await terminal.shows("live is still running: holdfast attach live");
});

/** The terminal's shell, or a shell below it, has one child: the replay. */
function replayPid(terminal: Terminal): number {
  const processes = [...allProcesses().values()];
  let pid = terminal.shellPid;
  for (let child: number | undefined = pid; child !== undefined; child = processes.find(({ parent }) => parent === pid)?.pid) pid = child;
  return pid;
}
