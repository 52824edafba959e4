import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Home } from "@holdfast/platform/home";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ScriptedDaemon } from "../../../test/task-daemon.ts";
import { command } from "./run.ts";

let directory: string;
let file: string;
let daemon: ScriptedDaemon;
let out: string;
let err: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(realpathSync(tmpdir()), "holdfast-task-"));
  file = path.join(directory, "tasks.md");
  daemon = new ScriptedDaemon();
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  rmSync(directory, { recursive: true, force: true });
});

/** The exit code, or the thrown error. */
async function run(text: string, ...words: string[]): Promise<number | HoldfastError | undefined> {
  if (text !== "") writeFileSync(file, text);
  const values = new Map(words.map((word): [string, string | undefined] => [word.split("=")[0] ?? "", word.split("=")[1]]));
  const flags = { text: (name: string) => values.get(name), has: (name: string) => values.has(name), list: () => [] };
  const context = { args: [file], rest: [], flags, json: values.has("json"), home: {} as Home, client: daemon.client };
  return command.run(context).catch((error: unknown) => error as HoldfastError);
}

function onTerminal(): void {
  const stdout = Object.create(process.stdout, {
    isTTY: { value: true },
    columns: { value: 60 },
    rows: { value: 20 },
    write: { value: process.stdout.write },
  });
  vi.spyOn(process, "stdout", "get").mockReturnValue(stdout);
}

test("each change of an item is one line, and a finished file has nothing left to do", async () => {
  expect(await run("- [ ] 1. a\n- [x] 2. b\n", "agent=demo")).toBe(0);
  expect(out.replace(/in \d+s/, "in time")).toBe(
    "1 started: a (demo, session tasks-1)\n1 done in time\n1 of 2 items done (1 done before).\n",
  );
  expect(readFileSync(file, "utf8")).toBe("- [x] 1. a\n- [x] 2. b\n");
  out = "";
  expect(await run("", "agent=demo")).toBe(0);
  expect(out).toBe(`Nothing is left to do in ${file}.\n`);
});

test("progress bars on a terminal are redrawn as they grow", async () => {
  onTerminal();
  await run("- [ ] 1. a\n- [x] 2. b\n- [x] 3. c\n", "agent=demo");
  expect(out).toContain("tasks.md █████████████░░░░░░░ 2 of 3 done");
  expect(out).toContain("tasks.md ████████████████████ 3 of 3 done");
  expect(out).toContain("\x1b[4A\r\x1b[J");
  expect(out).toContain("1 of 3 items done (2 done before).");
});

test("items that were not done are an error with the line of each", async () => {
  daemon.answer = (message) => Object.assign(message, { state: "failed", why: "no key", endedAt: "now" });
  const error = await run("- [ ] 1. a\n- [ ] 2. b <!-- after: 1 -->\n", "agent=demo");
  expect(error).toMatchObject({
    code: "task_failed",
    message: `${file}:1: 1 was not done: no key\n${file}:2: 2 was not done: it depends on 1, which is not done`,
  });
});

test("--json prints one report", async () => {
  expect(await run("- [ ] 1. a\n  Turn 1: x\n  Turn 2: y\n- [x] 2. b\n", "agent=demo", "json")).toBe(0);
  expect(JSON.parse(out)).toEqual({
    file,
    items: [
      {
        label: "1",
        line: 1,
        title: "a",
        outcome: "done",
        before: false,
        session: "tasks-1",
        turns: 2,
        turnsDone: 2,
        durationMs: expect.any(Number),
        why: null,
      },
      {
        label: "2",
        line: 4,
        title: "b",
        outcome: "done",
        before: true,
        session: null,
        turns: 1,
        turnsDone: 0,
        durationMs: null,
        why: null,
      },
    ],
  });
});

test.each([
  ["1 (session tasks-1) keeps running", "1"],
  ["1 (session tasks-1), 2 (session tasks-2) keep running", "2"],
])("Ctrl+C reports that %s", async (told, parallel) => {
  daemon.answer = () => {
    if (daemon.messages.length === Number(parallel)) process.emit("SIGINT", "SIGINT");
  };
  expect(await run("- [ ] a\n- [ ] b\n", "agent=demo", `parallel=${parallel}`)).toBe(130);
  expect(err).toContain(`holdfast: ${told}; run the command again to continue\n  stop them: holdfast stop tasks-1`);
  expect(readFileSync(file, "utf8")).toBe("- [ ] a\n- [ ] b\n");
});

test("the end of the daemon reports which sessions keep running and how to continue", async () => {
  daemon.fails.set("getMessage", new HoldfastError("daemon_ended", "the daemon has been ended", { hint: "holdfast up starts it again" }));
  expect(await run("- [ ] a\n", "agent=demo")).toMatchObject({
    code: "daemon_ended",
    message: "the daemon has been ended; 1 (session tasks-1) keeps running",
    hint: `holdfast up starts it again; run the remaining items: holdfast task run ${file}`,
  });
  expect(daemon.session("tasks-1").endedAt).toBe(null);
  expect(daemon.tasks).toMatchObject([{ outcome: null }]);
});

test("Ctrl+C before an item has started reports that nothing is running", async () => {
  daemon.fails.set("spawn", new HoldfastError("host_failed", "no"));
  const { call } = daemon.client;
  vi.spyOn(daemon, "client", "get").mockReturnValue({
    call: async (name: never, input: never) => {
      if (name === "spawn") process.emit("SIGINT", "SIGINT");
      return call(name, input);
    },
  } as never);
  expect(await run("- [ ] a\n", "agent=demo")).toBe(130);
  expect(err).toContain("nothing is running; run the command again");
});

test("a dry run shows the plan as text and as JSON, and starts nothing", async () => {
  daemon.personas = [{ name: "reviewer", agent: "demo", shadowedBy: null }];
  const text = "- [ ] 1. a <!-- after: 2 -->\n- [ ] 2. b <!-- agent: reviewer --> <!-- turns: 2 -->\n";
  await run(text, "agent=demo", "dry-run");
  expect(out).toBe("First:\n  2 b (demo as reviewer, 2 turns)\nThen:\n  1 a (demo, 1 turn, after 2)\n");
  out = "";
  await run(text, "agent=demo", "dry-run", "json");
  expect(JSON.parse(out)).toMatchObject([
    { wave: 1, persona: "reviewer" },
    { wave: 2, persona: null, after: ["2"] },
  ]);
  out = "";
  await run("- [x] a\n", "dry-run");
  expect(out).toBe("Nothing is left to do.\n");
  expect(daemon.sessions).toEqual([]);
});

test("invalid arguments are refused", async () => {
  expect(await run("- [ ] a\n", "agent=demo", "parallel=many")).toMatchObject({ code: "usage" });
  expect(await run("- [ ] a\n")).toMatchObject({ code: "task_file_invalid", message: expect.stringContaining("the item has no agent") });
  const none = { args: [], rest: [], flags: {}, json: false, client: daemon.client } as never;
  await expect(command.run(none)).rejects.toMatchObject({ code: "usage" });
});
