/** Task files as users see them: a checklist, the command, and agents that do the items. */
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Digest, Message, Session, Task } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

interface Report {
  file: string;
  items: { label: string; outcome: string; before: boolean; session: string | null; turnsDone: number; why: string | null }[];
}

function write(home: TestHome, text: string, name = "tasks.md"): string {
  const file = path.join(home.root, name);
  writeFileSync(file, text);
  return file;
}

const read = (file: string) => readFileSync(file, "utf8");
const prompts = async (home: TestHome, name: string) => (await home.json<Message[]>(["messages", name])).map(({ text }) => text);

test("items run after their dependencies, their turns share one conversation, and each done item is ticked (TURN-04 conversations)", async () => {
  await using home = new TestHome();
  const text =
    "# Plan\r\n\r\n- [ ] 1. Look around\r\n  <!-- agent: demo -->\r\n  <!-- turns: 2 -->\r\n  Turn 1: remember blue\r\n  Turn 2: recall\r\n- [x] 2. Old\r\n- [ ] 3. say three <!-- after: 1,2 -->";
  const file = write(home, text);
  const lines = (await home.ok(["task", "run", "tasks.md", "--agent", "demo", "--parallel", "2"])).trim().split("\n");
  expect(lines.map((line) => line.replace(/in \d+s$/, "in time"))).toEqual([
    "1 started: Look around (demo, session tasks-1)",
    "1 turn 1 of 2 done",
    "1 turn 2 of 2 done",
    "1 done in time",
    "3 started: say three (demo, session tasks-3)",
    "3 done in time",
    "2 of 3 items done (1 done before).",
  ]);
  expect(read(file)).toBe(text.replaceAll("- [ ]", "- [x]"));
  expect(await prompts(home, "tasks-1")).toEqual(["Look around\n\nremember blue", "recall"]);
  expect((await home.json<Message[]>(["messages", "tasks-1"])).at(-1)?.reply).toBe("I remember: blue.");
  expect(await home.ok(["task", "run", "tasks.md", "--agent", "demo"])).toBe("Nothing is left to do in tasks.md.\n");
  expect(await home.json<Session[]>(["ls"])).toEqual([]);
});

test("a session's record counts its completed tasks, even after a daemon restart, and the digest shows them (SYM-03 conversations, SYM-07 conversations)", async () => {
  await using home = new TestHome();
  const file = write(home, "- [ ] Write the tests\n  Turn 1: say done\n- [ ] Deploy it\n  Turn 1: fail no key\n");
  expect((await home.cli(["task", "run", file, "--agent", "demo"])).code).toBe(35);
  await home.ok(["down"]);
  const [one, two] = [await home.session("tasks-1"), await home.session("tasks-2")];
  expect([one.tasksCompleted, two.tasksCompleted]).toEqual([1, 0]);
  expect(await home.ok(["show", "tasks-1"])).toMatch(/^tasks done +1$/m);
  const { tasks } = await home.json<Digest>(["digest", "tasks-1"]);
  expect(tasks).toMatchObject([
    { title: "Write the tests", file, label: "1", turns: 1, outcome: "done", why: null } satisfies Partial<Task>,
  ]);
  expect(await home.ok(["digest", "tasks-1"])).toContain("task done: Write the tests");
  expect(await home.ok(["digest", "tasks-2"])).toContain("task failed: Deploy it (Internal error: no key");
});

test("items after a failed one are blocked, the others are done, and a rerun does the rest (TURN-04 conversations)", async () => {
  await using home = new TestHome();
  const file = write(home, "- [ ] 1. fail for now\n- [ ] 2. say two <!-- after: 1 -->\n- [ ] 3. say three\n");
  const first = await home.cli(["task", "run", "tasks.md", "--agent", "demo", "--json"]);
  expect(first.code).toBe(35);
  expect((JSON.parse(first.stdout) as Report).items.map(({ label, outcome, why }) => [label, outcome, why])).toEqual([
    ["1", "failed", expect.stringContaining("for now")],
    ["2", "blocked", "it depends on 1, which is not done"],
    ["3", "done", null],
  ]);
  expect(JSON.parse(first.stderr)).toMatchObject({
    error: { code: "task_failed", message: expect.stringContaining("tasks.md:1: 1 was not done") },
  });
  writeFileSync(file, read(file).replace("fail for now", "say better"));
  const { items } = JSON.parse(await home.ok(["task", "run", "tasks.md", "--agent", "demo", "--json"])) as Report;
  expect(items.map(({ outcome, before }) => [outcome, before])).toEqual([
    ["done", false],
    ["done", false],
    ["done", true],
  ]);
  expect(read(file)).toBe("- [x] 1. say better\n- [x] 2. say two <!-- after: 1 -->\n- [x] 3. say three\n");
});

test("Ctrl+C names the sessions that keep running, and a rerun continues them, even after a kill", async () => {
  await using home = new TestHome();
  const file = write(home, "- [ ] Talk\n  Turn 1: say one\n  Turn 2: tool shell true\n  Turn 3: say three\n- [ ] say last\n");
  const run = ["task", "run", "tasks.md", "--agent", "demo"];
  const asks = () => home.session("tasks-1").then(({ status }) => status === "waiting");
  const first = home.start(run);
  let told = "";
  first.stderr.setEncoding("utf8").on("data", (chunk) => {
    told += chunk;
  });
  const [said] = (await once(first.stdout.setEncoding("utf8"), "data")) as [string];
  expect(said).toContain("1 started: Talk (demo, session tasks-1)");
  await eventually(asks);
  first.kill("SIGINT");
  expect((await once(first, "close"))[0]).toBe(130);
  expect(told).toContain("1 (session tasks-1) keeps running; run the command again to continue");
  expect(await asks()).toBe(true);

  const second = home.start(run);
  await once(second.stdout, "data");
  second.kill("SIGKILL");
  await once(second, "close");

  const third = home.cli(run);
  await home.ok(["approvals", "allow", "tasks-1"]);
  const { code, stdout } = await third;
  expect(code).toBe(0);
  expect(stdout).toContain("1 continues: Talk (demo, session tasks-1)");
  expect(await prompts(home, "tasks-1")).toEqual(["Talk\n\nsay one", "tool shell true", "say three"]);
  expect(read(file)).toContain("- [x] Talk");
  expect(read(file)).toContain("- [x] say last");
});

test("a task run survives a daemon kill, and no prompt is sent twice", async () => {
  await using home = new TestHome();
  const file = write(home, "- [ ] Talk\n  Turn 1: tool shell true\n  Turn 2: say two\n");
  const running = home.cli(["task", "run", "tasks.md", "--agent", "demo"]);
  await eventually(async () => (await home.json<Session[]>(["ls"])).some(({ status }) => status === "waiting"));
  await home.killDaemon();
  await home.ok(["approvals", "allow", "tasks-1"]);
  const { code, stdout, stderr } = await running;
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("1 of 1 items done.");
  expect(await prompts(home, "tasks-1")).toEqual(["Talk\n\ntool shell true", "say two"]);
  expect(read(file)).toContain("- [x] Talk");
});

test("an item whose session was removed starts again; an item that is already ticked ends its session", async () => {
  await using home = new TestHome();
  const file = write(home, "- [ ] a\n  Turn 1: wait 60s\n- [ ] b\n  Turn 1: wait 60s\n");
  const first = home.start(["task", "run", "tasks.md", "--agent", "demo", "--parallel", "2"]);
  await eventually(async () => (await home.json<Session[]>(["ls"])).filter(({ status }) => status === "working").length === 2);
  first.kill("SIGKILL");
  await once(first, "close");
  await home.ok(["stop", "tasks-1"]);
  await home.ok(["rm", "tasks-1"]);
  // The file after a run that died between ticking the box and recording the end.
  writeFileSync(file, "- [ ] a\n  Turn 1: say again\n- [x] b\n  Turn 1: wait 60s\n");
  const lines = await home.ok(["task", "run", "tasks.md", "--agent", "demo"]);
  expect(lines).toContain("1 started: a (demo, session tasks-1)");
  expect(await home.session("tasks-2")).toMatchObject({ status: "stopped", tasksCompleted: 1 });
});

test("an invalid file is refused with all its errors, and nothing starts", async () => {
  await using home = new TestHome();
  write(home, "- [] a\n- [ ] b <!-- after: 9 -->\n");
  const { code, stderr } = await home.cli(["task", "run", "tasks.md", "--agent", "demo"]);
  expect(code).toBe(2);
  expect(stderr).toContain("tasks.md:1: not a valid checkbox; expected - [ ]");
  expect(stderr).toContain("tasks.md:2: there is no item 9; expected the number of another item");
  write(home, "- [ ] a\n- [ ] b <!-- agent: clawed -->\n");
  expect((await home.cli(["task", "run", "tasks.md", "--agent", "demo"])).stderr).toMatch(
    /tasks\.md:2: clawed is not an agent .* expected one of .*demo/,
  );
  expect((await home.cli(["task", "run", "nowhere.md"])).stderr).toContain("nowhere.md: there is no such file");
  expect((await home.cli(["task", "run", "tasks.md", "--agent", "demo", "--parallel", "0"])).code).toBe(2);
  expect((await home.cli(["task", "run"])).code).toBe(2);
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
});

test("a dry run shows the order, agents and personas of all items", async () => {
  await using home = new TestHome();
  const personas = path.join(home.root, ".holdfast/personas");
  mkdirSync(personas, { recursive: true });
  writeFileSync(path.join(personas, "r.md"), "---\nname: reviewer\ndescription: x\nagent: demo\n---\nYou review.\n");
  const file = write(
    home,
    "<!-- agent: demo -->\n- [ ] 1. Write it <!-- after: 2 -->\n- [ ] 2. Read it\n  <!-- agent: reviewer -->\n  <!-- turns: 2 -->\n",
  );
  expect(await home.ok(["task", "run", "tasks.md", "--dry-run"])).toBe(
    "First:\n  2 Read it (demo as reviewer, 2 turns)\nThen:\n  1 Write it (demo, 1 turn, after 2)\n",
  );
  expect(JSON.parse(await home.ok(["task", "run", "tasks.md", "--dry-run", "--json"]))).toMatchObject([
    { wave: 1, label: "2", agent: "demo", persona: "reviewer", turns: ["Read it", "Continue. This is turn 2 of 2."], after: [] },
    { wave: 2, label: "1", agent: "demo", persona: null, after: ["2"] },
  ]);
  expect(read(file)).not.toContain("[x]");
  await home.ok(["task", "run", "tasks.md"]);
  expect(await home.session("tasks-2")).toMatchObject({ role: "reviewer", objective: "Read it" });
});

test("with --worktree each item has its own worktree, several items run at once, and a budget applies", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const file = path.join(repository.path, "tasks.md");
  writeFileSync(file, "- [ ] 1. run pwd > where\n- [ ] 2. run pwd > where\n- [ ] 3. Talk on <!-- budget: turns=1 --> <!-- turns: 3 -->\n");
  const { code, stderr } = await home.cli(["task", "run", "tasks.md", "--agent", "demo", "--worktree", "--parallel", "3"], {
    cwd: repository.path,
  });
  expect(code).toBe(35);
  expect(stderr).toMatch(/tasks\.md:3: 3 was not done: .*(budget|turn)/);
  const [one, two] = [await home.session("tasks-1"), await home.session("tasks-2")];
  expect(new Set([one.workspace?.branch, two.workspace?.branch]).size).toBe(2);
  expect(readFileSync(path.join(one.cwd, "where"), "utf8").trim()).toBe(one.cwd);
  expect(readFileSync(path.join(two.cwd, "where"), "utf8").trim()).toBe(two.cwd);
  expect(read(file).match(/\[x\]/g)).toHaveLength(2);
});
