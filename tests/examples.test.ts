/** The programs of examples/ as a user runs them: copied beside the installed package, each in a throw-away home with scripted agents. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { VERSION } from "@holdfast/contract";
import { beforeAll, expect, test } from "vitest";
import { startModel } from "../agents/src/model/server.ts";
import { type CliResult, eventually, ROOT, TestHome } from "./home.ts";
import { packed } from "./installed.ts";
import { TestRepository } from "./repository.ts";

const EXAMPLES = readdirSync(path.join(ROOT, "examples")).filter((name) => name.endsWith(".ts"));

/** The package without the installation of its one dependency, which package.test.ts tests. */
let project: string;
beforeAll(() => {
  project = realpathSync(mkdtempSync(path.join(tmpdir(), "hfe-")));
  const modules = path.join(project, "node_modules");
  mkdirSync(modules);
  execFileSync("tar", ["xf", packed(VERSION), "-C", modules]);
  cpSync(path.join(modules, "package"), path.join(modules, "holdfast"), { recursive: true });
  symlinkSync(path.join(ROOT, "node_modules/@lydell"), path.join(modules, "@lydell"));
  cpSync(path.join(ROOT, "examples"), project, { recursive: true });
  return () => rmSync(project, { recursive: true });
});

interface Running {
  child: ChildProcess;
  printed(): string;
  done: Promise<CliResult>;
}

function start(home: TestHome, name: string, args: readonly string[] = [], env: Record<string, string> = {}): Running {
  const cwd = path.join(home.root, "work");
  mkdirSync(cwd, { recursive: true });
  const PATH = `${path.dirname(process.execPath)}:${home.env.PATH}`;
  const child = spawn(process.execPath, [path.join(project, name), ...args], { cwd, env: { ...home.env, PATH, AGENT: "demo", ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const done = new Promise<CliResult>((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
  return { child, printed: () => stdout, done };
}

async function run(home: TestHome, name: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<CliResult> {
  return start(home, name, args, env).done;
}

/** The scripted model, with configured prices. */
async function model(home: TestHome) {
  const started = await startModel();
  Object.assign(home.env, { OPENAI_BASE_URL: `${started.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" });
  return started;
}

test("ask.ts reports progress and result; Ctrl+C leaves nothing behind", async () => {
  await using home = new TestHome();
  const told = await run(home, "ask.ts", ["say the answer is 42\nwrite notes.md hello\nusage 100 20"]);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout).toContain("the answer is 42");
  expect(told.stdout).toMatch(/\[edit\] .*notes\.md/);
  expect(told.stdout).toMatch(/completed in \d+ ms; 100 tokens in, 20 out; .*\nchanged: notes\.md\n$/);
  const running = start(home, "ask.ts", ["say begun\nsleep 60000"]);
  await eventually(() => running.printed().includes("begun"));
  running.child.kill("SIGINT");
  expect(await running.done).toMatchObject({ code: 130, stdout: expect.stringContaining("nothing of it is left") });
  expect(await home.json(["ls", "--all"])).toEqual([]);
});

test("fan-out.ts changes many repositories, each in its own worktree", async () => {
  await using home = new TestHome();
  const repositories = ["api", "web", "docs", "site"].map((name) => new TestRepository(home, { "a.txt": "one\n" }, name));
  const told = await run(home, "fan-out.ts", ["write CHANGED.md yes", ...repositories.map((repository) => repository.path)]);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  for (const name of ["api", "web", "docs", "site"]) expect(told.stdout).toContain(`${name}: 1 files (CHANGED.md)`);
  // The checkouts themselves are unchanged.
  for (const repository of repositories) expect(existsSync(path.join(repository.path, "CHANGED.md"))).toBe(false);
});

test("review-loop.ts runs until the reviewer approves, and keeps neither session", async () => {
  await using home = new TestHome();
  // The reviewer approves on its second look.
  const told = await run(home, "review-loop.ts", ["write draft.txt text", "run test -f seen && echo APPROVED || touch seen"]);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout).toMatch(/^round 1: .*\nround 2: approved\n$/);
});

test("approval-bot.ts allows, denies and skips by its policy, under its own name", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const { token } = await home.json<{ token: string }>(["token", "create", "--scope", "approver", "--name", "bot"]);
  const bot = start(home, "approval-bot.ts", [], { HOLDFAST_TOKEN: token });
  await eventually(() => bot.printed().includes("answering as token:bot"));
  await home.ok(["spawn", "--chat", "demo", "--name", "asks", "--prompt", "tool shell sudo reboot\ntool shell make"]);
  await eventually(() => /make.*: leave$/m.test(bot.printed()));
  bot.child.kill("SIGTERM");
  expect(await bot.done).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("denied 1, left to people 1") });
  const audit = await home.ok(["audit", "--actor", "token:bot"]);
  expect(audit).toContain("denied");
  expect(await home.json(["approvals"])).toMatchObject([{ name: "asks" }]);
});

test("cost-report.ts sums costs by model and session", async () => {
  await using home = new TestHome();
  await using _model = await model(home);
  for (const prompt of ["usage 1000 100\nsay one", "usage 500 50\nsay two"])
    expect(await run(home, "ask.ts", [prompt], { AGENT: "model" })).toMatchObject({ code: 0 });
  const told = await run(home, "cost-report.ts");
  expect(told.code).toBe(0);
  expect(told.stdout.split("\n")).toEqual([
    "by,what,turns,input,output,cache read,cache write,dollars",
    '"model","scripted",2,1500,150,0,0,',
    expect.stringMatching(/^"session","query-\w+",1,1000,100,/),
    expect.stringMatching(/^"session","query-\w+",1,500,50,/),
    "",
  ]);
  expect(told.stderr).toContain("no price for scripted");
});

test("retry.ts retries temporary failures and explains the others", async () => {
  await using home = new TestHome();
  await using _model = await model(home);
  const env = { AGENT: "model", PAUSE_MS: "10" };
  const passing = await run(home, "retry.ts", ["error 429 x1 retry-after 3600\nsay at last"], env);
  expect(passing).toMatchObject({ code: 0, stdout: "at last\n", stderr: expect.stringMatching(/^try 1: RateLimited: /) });
  const refused = await run(home, "retry.ts", ["error 401"], env);
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^try 1: Unauthenticated: .*\nlog in with/) });
});

test("watch.ts reports events since its last run, and none twice", async () => {
  await using home = new TestHome();
  await home.ok(["run", "--name", "first", "--", "true"]);
  await home.ended("first");
  const first = await run(home, "watch.ts", ["cursor.txt", "--once"]);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^first was started by user:.*\nfirst has ended: 0\n$/) });
  await home.ok(["run", "--name", "second", "--", "false"]);
  await home.ended("second");
  expect((await run(home, "watch.ts", ["cursor.txt", "--once"])).stdout).toMatch(/^second was started by .*\nsecond has ended: 1\n$/);
  expect((await run(home, "watch.ts", ["cursor.txt", "--once"])).stdout).toBe("");
  const running = start(home, "watch.ts", ["cursor.txt"]);
  await home.ok(["run", "--name", "third", "--", "true"]);
  await eventually(() => running.printed().includes("third has ended: 0"));
  running.child.kill("SIGKILL");
  await running.done;
});

test("team.ts: workers take items from a shared list, none twice", async () => {
  await using home = new TestHome();
  const told = await run(home, "team.ts", ["3", "write %s.done x", "a", "b", "c", "d", "e", "f"]);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout).toMatch(/3 workers, 6 turns/);
  const work = path.join(home.root, "work");
  expect(readdirSync(work).sort()).toEqual(["a", "b", "c", "d", "e", "f"].map((name) => `${name}.done`));
  expect(await home.json(["ls", "--all"])).toEqual([]);
});

test("there are eight examples, each is run here, and the list of them is complete", () => {
  expect(EXAMPLES).toHaveLength(8);
  const readme = readFileSync(path.join(ROOT, "examples/README.md"), "utf8");
  for (const name of EXAMPLES) expect(readme).toContain(`](${name})`);
  const here = readFileSync(import.meta.filename, "utf8");
  for (const name of EXAMPLES) expect(here).toMatch(new RegExp(`(run|start)\\(home, "${name}"`));
});
