import type { Session } from "@holdfast/contract/session/session";
import { expect, test, vi } from "vitest";
import { widthOf } from "../text/fit.ts";
import { sessionTable } from "./table.ts";

const NOW = Date.parse("2026-01-02T03:00:00.000Z");

function session(more: Partial<Record<keyof Session, unknown>> = {}): Session {
  return {
    id: "abcdefghij",
    name: "build",
    status: "working",
    statusForMs: null,
    attention: null,
    background: null,
    hung: false,
    agent: "shell",
    durationMs: 65_000,
    lastActivityAt: "2026-01-02T02:59:56.000Z",
    pid: 123,
    objective: null,
    command: ["/usr/bin/make", "all"],
    cwd: "/home/me/app",
    outputPath: "/home/x/sessions/abcdefghij/runs/1/output.000000",
    exit: null,
    restartAt: null,
    restartGivenUp: null,
    ...more,
  } as unknown as Session;
}

function table(sessions: Session[], options: { width?: number; outputs?: boolean } = {}): string[] {
  return sessionTable(sessions, { now: NOW, width: options.width, outputs: options.outputs ?? false }).split("\n");
}

test("a row has name, status, agent, duration, last output, subject and directory", () => {
  expect(table([session()])).toEqual([
    "NAME   STATUS   AGENT  FOR     LAST OUTPUT  ABOUT     DIRECTORY",
    "build  working  shell  1m 05s  4s ago       make all  /home/me/app",
  ]);
});

test("a row says what the session is about: its objective, else its first prompt, else its command, on one line", () => {
  const about = (more: Partial<Record<keyof Session, unknown>>, width?: number) =>
    table([session(more)], width === undefined ? {} : { width })[1]?.split(/ {2,}/)[5];
  expect(about({ objective: "fix the login" })).toBe("fix the login");
  expect(about({ firstPrompt: "add a test", command: ["claude"] })).toBe("add a test");
  expect(about({ objective: "fix the login", firstPrompt: "add a test" })).toBe("fix the login");
  expect(about({ command: ["/bin/sh", "-c", "make all"] })).toBe("sh -c 'make all'");
  expect(about({ command: ["sh", "-c", "make\nall"] })).toBe("sh -c $'make\\nall'");
  expect(about({ objective: "fix\nthe login" })).not.toContain("\n");
  expect(about({ objective: "fix the login, and then all of the other things" }, 80)).toBe("fix the login, and th…");
});

test("a row shows how long an agent has its status, what it waits for, and background work", () => {
  const attention = { for: "approval", text: `Bash: ${"make ".repeat(20)}`, until: null };
  const [head, ...rows] = table([
    session({ status: "waiting", statusForMs: 185_000, attention }),
    session({ status: "idle", statusForMs: 4000, background: true }),
    session({ status: "working", statusForMs: 7_500_000, hung: true }),
    session({ status: "waiting", statusForMs: 1000, attention: { for: "rate_limit", text: null, until: "2026-01-02T03:05:00.000Z" } }),
  ]);
  expect(head).toMatch(/^NAME +STATUS +WAITS FOR +AGENT/);
  expect(rows.map((row) => row.split(/ {2,}/).slice(1, 3))).toEqual([
    ["waiting 3m", "approval: Bash: make make make make make make m…"],
    ["idle 4s (background)", "shell"],
    ["working 2h (hung)", "shell"],
    ["waiting 1s", "its rate limit (for 5m 00s more)"],
  ]);
});

test("in a narrow terminal the wait is shortened, and no row is wider than the terminal", () => {
  const attention = { for: "approval", text: `Bash: ${"make ".repeat(20)}`, until: null };
  const lines = table([session({ status: "waiting", statusForMs: 185_000, attention }), session({ status: "idle" })], { width: 60 });
  expect(lines).toEqual([
    "NAME   STATUS      WAITS FOR                 AGENT  ABOUT",
    "build  waiting 3m  approval: Bash: make ma…  shell  make all",
    "build  idle                                  shell  make all",
  ]);
});

test("an unknown value is a dash, and the exit follows the status", () => {
  const [, ...rows] = table([
    session({ status: "starting", durationMs: null, lastActivityAt: null, pid: null }),
    session({ status: "failed", exit: { code: 3, signal: null } }),
    session({ status: "failed", exit: { code: null, signal: "SIGSEGV" } }),
    session({ status: "failed", exit: { code: null, signal: null } }),
    session({ status: "stopped", exit: { code: 143, signal: null } }),
    session({ status: "stopped", exit: { code: null, signal: "SIGKILL" } }),
    session({ status: "done", exit: { code: 0, signal: null } }),
    session({ status: "lost" }),
  ]);
  expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual([
    "starting",
    "failed (3)",
    "failed (SIGSEGV)",
    "failed",
    "stopped",
    "stopped (SIGKILL)",
    "done",
    "lost",
  ]);
  expect(rows[0]?.split(/ {2,}/)).toEqual(["build", "starting", "shell", "–", "–", "make all", "/home/me/app"]);
});

test("columns are aligned whatever script the names use", () => {
  const lines = table(["build", "漢字", "🦭-seal", "cafe\u0301", "a-much-longer-name"].map((name) => session({ name })));
  const places = lines.map((line) => widthOf(line.slice(0, line.search(/STATUS|working/))));
  expect(new Set(places).size).toBe(1);
});

test.each([60, 80, 100, 120, 200])("no line is wider than a terminal of %d cells, except for required columns", (width) => {
  const lines = table(
    [session({ cwd: `/very/long/${"directory/".repeat(30)}end` }), session({ cwd: `/${"漢字/".repeat(60)}終` }), session()],
    { width, outputs: true },
  );
  const least = widthOf("build  working  shell  1m 05s  4s ago       make all  ") + 12;
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(width, least));
  expect(lines[1]).toMatch(/….*end$/);
});

test("the path of the recording is shown in full or not at all", () => {
  const path = session().outputPath ?? "";
  expect(table([session()], { width: 200, outputs: true })[1]).toContain(path);
  expect(table([session()], { width: 90, outputs: true }).join()).not.toContain("OUTPUT  /home");
  expect(table([session()], { outputs: true })[1]).toContain(path);
});

test("text of other programs cannot control the terminal", () => {
  const hostile = "\x1b[2J\x1b]0;title\x07\nnew line\u202e";
  const text = table([session({ name: hostile, agent: hostile, cwd: hostile, outputPath: hostile })], { outputs: true });
  expect(text).toHaveLength(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  expect(text.join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
});

test("only the home directory itself becomes a tilde", () => {
  vi.stubEnv("HOME", "/home/me");
  const [, ...rows] = table(["/home/me", "/home/me/app", "/home/menace"].map((cwd) => session({ cwd })));
  expect(rows.map((row) => row.split(/ {2,}/).at(-1))).toEqual(["~", "~/app", "/home/menace"]);
  vi.unstubAllEnvs();
});
