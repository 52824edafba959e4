import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Checkpoint, Fork, Session, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

/** A demo agent after one turn. */
async function told(home: TestHome, name: string, cwd: string, ...flags: string[]): Promise<Session> {
  await home.ok(["spawn", "demo", "--name", name, "--prompt", "speak of the tides", "--no-context", ...flags, "--", "--fast"], { cwd });
  const session = await home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
  // Waits for the checkpoint, so that later changes do not belong to that turn.
  const checkpoints = () => home.json<Checkpoint[]>(["checkpoint", "ls", name]);
  if (flags.includes("--worktree")) await eventually(async () => (await checkpoints()).some(({ turn }) => turn === 1));
  return session;
}

/** Starts a turn at once, which lasts until the test has seen it. */
const AGENT = `echo "words: $*"
echo "esc to cancel"
until [ -e "$HOME/seen-$HOLDFAST_RUN" ]; do sleep 0.02; done
printf '\\033[2J\\033[Hwords: %s\\nready>' "$*"
exec sleep 1000`;

/** The user's own agents, with the given fork arguments. */
function configure(home: TestHome, agents: Readonly<Record<string, { command: readonly string[]; fork?: readonly string[] }>>): void {
  home.env.XDG_CONFIG_HOME = path.join(home.root, "configuration");
  mkdirSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast"), { recursive: true });
  const tables = Object.entries(agents).map(
    ([name, { command, fork }]) => `[agents.${name}]
command = ${JSON.stringify(command)}
session_id = ["--id", "{id}"]
resume = ["--resume", "{id}"]
${fork ? `fork = ${JSON.stringify(fork)}` : ""}
[[agents.${name}.screen]]
line = "esc to cancel"
turn = "working"
[[agents.${name}.screen]]
line = "^ready>"
turn = "idle"
`,
  );
  writeFileSync(path.join(home.env.XDG_CONFIG_HOME, "holdfast/config.toml"), tables.join("\n"));
}

/** Waits for the end of the first turn of such an agent. */
async function firstTurn(home: TestHome, name: string): Promise<Session> {
  const { id, runs } = await home.until(name, ({ status }) => status === "working");
  writeFileSync(path.join(home.env.HOME ?? "", `seen-${id}-${runs}`), "");
  return idle(home, name, 1);
}

const idle = (home: TestHome, name: string, turns = 0) => home.until(name, (now) => now.status === "idle" && now.turns === turns);

test("a fork continues a copy of the conversation in its own workspace, and neither gets the other's turns (NEW-13 resume)", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  const api = await told(home, "api", app.path, "--worktree");
  app.write({ "a.txt": "changed\n", "new/b.txt": "new\n" }, api.cwd);
  const fork = await home.json<Fork>(["fork", "api", "--prompt", "speak of the moon"]);
  expect(fork).toMatchObject({ name: "api-fork", agent: "demo", files: "checkpoint", workspace: { branch: "holdfast/api-fork" } });
  expect(fork.forkedFrom).toEqual({ session: api.id, name: "api", conversation: api.conversation, checkpoint: 3 });
  expect(fork.conversation).not.toBe(api.conversation);
  expect(fork.notes).toEqual([]);
  expect(readFileSync(path.join(fork.cwd, "a.txt"), "utf8")).toBe("changed\n");
  expect(readFileSync(path.join(fork.cwd, "new/b.txt"), "utf8")).toBe("new\n");
  expect(app.gitIn(fork.cwd, "status", "--short")).toBe(" M a.txt\n?? new/");
  await idle(home, "api-fork", 1);
  const answer = await home.json<{ reply: string }>(["send", "api", "speak of the sun", "--wait"]);
  expect(answer.reply).toContain("Turn 2:");
  const [original, copy] = [await home.ok(["screen", "api"]), await home.ok(["screen", "api-fork"])];
  expect([original.includes("tides"), original.includes("sun"), original.includes("moon")]).toEqual([true, true, false]);
  expect([copy.includes("tides"), copy.includes("sun"), copy.includes("moon")]).toEqual([true, false, true]);
  expect(await home.session("api")).toMatchObject({ conversation: api.conversation, runs: 1, forkedFrom: null });
  expect(app.gitIn(api.cwd, "status", "--short")).toBe(" M a.txt\n?? new/");
  expect(await home.ok(["show", "api-fork"])).toMatch(new RegExp(`forked from +api \\(${api.id}\\), .* checkpoint 3`));
});

test("the fork's agent is told its new directory, because it remembers the old one", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  const api = await told(home, "api", app.path, "--worktree");
  const fork = await home.json<Fork>(["fork", "api", "--prompt", "speak of the moon"]);
  await idle(home, "api-fork", 1);
  const said = (await home.ok(["screen", "api-fork"])).replaceAll("\n", "");
  expect(said).toContain(`You now work in ${fork.cwd}`);
  expect(said).toContain(`in ${api.cwd}, where the original session continues`);
});

test("with --checkpoint the fork has the files of that checkpoint, and its branch starts at that commit", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  const api = await told(home, "api", app.path, "--worktree");
  const first = app.gitIn(api.cwd, "rev-parse", "HEAD");
  app.commit({ "a.txt": "later\n" }, "later", api.cwd);
  const now = await home.json<Fork>(["fork", "api", "--name", "now"]);
  expect(app.gitIn(now.cwd, "log", "--format=%s")).toBe("later\nfirst");
  const then = await home.json<Fork>(["fork", "api", "--name", "then", "--checkpoint", "1"]);
  expect(then.forkedFrom?.checkpoint).toBe(1);
  expect(app.gitIn(then.cwd, "rev-parse", "HEAD")).toBe(first);
  expect(readFileSync(path.join(then.cwd, "a.txt"), "utf8")).toBe("one\n");
  const merged = await home.json<Workspace>(["workspace", "show", "now"]);
  expect(merged).toMatchObject({ base: "main", ahead: 1 });
});

test("a fork makes a checkpoint only if something changed since the last one", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  const api = await told(home, "api", app.path, "--worktree");
  const count = async () => (await home.json<unknown[]>(["checkpoint", "ls", "api"])).length;
  const before = await count();
  await home.ok(["fork", "api"]);
  expect(await count()).toBe(before);
  app.write({ "a.txt": "changed\n" }, api.cwd);
  const fork = await home.json<Fork>(["fork", "api"]);
  expect([fork.name, await count()]).toEqual(["api-fork-2", before + 1]);
});

test("a fork of a session in a repository's own directory gets its checkout and uncommitted files", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home, { "a.txt": "one\n", "sub/c.txt": "c\n", ".gitignore": "*.log\n" });
  const sub = path.join(app.path, "sub");
  await told(home, "api", sub);
  app.write({ "a.txt": "changed\n", "b.txt": "new\n", "c.log": "ignored\n" });
  const fork = await home.json<Fork>(["fork", "api"]);
  expect(fork).toMatchObject({ files: "copied", forkedFrom: { checkpoint: null } });
  const tree = path.dirname(fork.cwd);
  expect(path.basename(fork.cwd)).toBe("sub");
  expect(app.gitIn(tree, "status", "--short")).toBe(" M a.txt\n?? b.txt");
  expect(existsSync(path.join(tree, "c.log"))).toBe(false);
  expect(app.git("status", "--short")).toBe(" M a.txt\n?? b.txt");
  expect((await home.cli(["fork", "api", "--checkpoint", "1"])).stderr).toContain("has no checkpoints");
});

test("fork reports a nested repository, which it does not copy", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  const api = await told(home, "api", app.path, "--worktree");
  mkdirSync(path.join(api.cwd, "within"));
  app.gitIn(path.join(api.cwd, "within"), "init", "--quiet");
  expect((await home.cli(["fork", "api"])).stderr).toContain("note: not copied: within/ (a nested repository)");
});

test("outside of a repository a fork works in the same directory, and says so", async () => {
  await using home = new TestHome();
  await told(home, "api", home.root);
  expect(await home.ok(["fork", "api"])).toContain(`in the same directory, ${home.root}: it is not a git repository`);
  expect((await idle(home, "api-fork")).cwd).toBe(home.root);
  expect(await home.ok(["screen", "api-fork"])).toContain("tides");
});

test("a fork takes the Working Context of the original with it", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  await home.ok(["spawn", "demo", "--name", "api", "--worktree", "--prompt", "say hello", "--", "--fast"], { cwd: app.path });
  const api = await idle(home, "api", 1);
  const log = ".holdfast/context/working-log.md";
  writeFileSync(path.join(api.cwd, log), "the tides come twice a day\n");
  const fork = await home.json<Fork>(["fork", "api"]);
  expect(readFileSync(path.join(fork.cwd, log), "utf8")).toBe("the tides come twice a day\n");
});

test("a fork that ended before its first turn still continues the copy, and its own turns resume as usual", async () => {
  await using home = new TestHome();
  const api = await told(home, "api", home.root);
  await home.ok(["fork", "api"]);
  await idle(home, "api-fork");
  await home.ok(["stop", "api-fork"]);
  expect(await home.json(["resume", "api-fork"])).toMatchObject({ resumed: "conversation", runs: 2 });
  await idle(home, "api-fork");
  expect(await home.ok(["screen", "api-fork"])).toContain("tides");
  const { reply } = await home.json<{ reply: string }>(["send", "api-fork", "speak of the moon", "--wait"]);
  expect(reply).toContain("Turn 2:");
  const own = (await home.session("api-fork")).conversation;
  await home.ok(["stop", "api-fork"]);
  expect(await home.json(["resume", "api-fork"])).toMatchObject({ resumed: "conversation", conversation: own, runs: 3 });
  expect(own).not.toBe(api.conversation);
  await home.ok(["stop", "api-fork"]);
  await home.ok(["resume", "api-fork", "--fresh"]);
  await idle(home, "api-fork", 1);
  expect(await home.ok(["screen", "api-fork"])).not.toContain("tides");
});

test("a fork of a fork without turns knows the first conversation; a removed original keeps its name in the record", async () => {
  await using home = new TestHome();
  await told(home, "api", home.root);
  await home.ok(["fork", "api", "--name", "second"]);
  await home.ok(["fork", "second", "--name", "third"]);
  await idle(home, "third");
  expect(await home.ok(["screen", "third"])).toContain("tides");
  await home.ok(["stop", "api"]);
  await home.ok(["rm", "api"]);
  expect((await home.session("second")).forkedFrom?.name).toBe("api");
});

test("an impossible fork is refused before anything is created", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home);
  await home.ok(["run", "--name", "build", "--", "sleep", "1000"]);
  await home.ok(["spawn", "demo", "--name", "new"]);
  await told(home, "api", app.path, "--worktree");
  await home.ok(["spawn", "demo", "--name", "own", "--prompt", "say x", "--", "--fast", "--session-id", "mine"]);
  await idle(home, "own", 1);
  const refused = async (...args: string[]) => {
    const { code, stderr } = await home.cli(["fork", ...args]);
    return [code, stderr.split("\n")[0]];
  };
  expect(await refused("build")).toEqual([6, "holdfast: build is a shell and has no conversation to copy"]);
  expect(await refused("new")).toEqual([6, "holdfast: new has had no turn yet: there is nothing to copy"]);
  expect(await refused("own")).toEqual([6, expect.stringContaining("arguments that choose its conversation")]);
  expect(await refused("api", "--name", "build")).toEqual([5, expect.stringContaining("there is a session named")]);
  expect(await refused("api", "--checkpoint", "9")).toEqual([3, "holdfast: there is no checkpoint 9"]);
  expect(await refused("api", "--checkpoint", "x")).toEqual([2, expect.stringContaining("--checkpoint takes a number")]);
  expect(await refused("api", "--checkpoint", "1", "--cwd", ".")).toEqual([2, expect.stringContaining("in a directory, in a workspace")]);
  expect((await home.json<Workspace[]>(["workspace", "ls"])).map(({ name }) => name)).toEqual(["api"]);
  expect(app.git("branch", "--format=%(refname:short)")).toBe("holdfast/api\nmain");
});

test("a user's own agent forks with its configured arguments; without them it is refused", async () => {
  await using home = new TestHome();
  const command = ["sh", "-c", AGENT, "mine"];
  configure(home, { one: { command, fork: ["--copy", "{from}", "--to={id}", "--in", "{directory}"] }, none: { command } });
  await home.ok(["spawn", "none", "--name", "none"]);
  await home.ok(["spawn", "one", "--name", "one"]);
  const one = await firstTurn(home, "one");
  expect((await home.cli(["fork", "none"])).stderr).toContain("none cannot continue a copy of a conversation");
  const fork = await home.json<Fork>(["fork", "one"]);
  await firstTurn(home, "one-fork");
  const screen = (await home.ok(["screen", "one-fork"])).replaceAll("\n", "");
  expect(screen).toContain(`words: --copy ${one.conversation} --to=${fork.conversation} --in ${home.root}`);
});

test("when the new session cannot start, its workspace and branch are removed, and the name is free", async () => {
  await using home = new TestHome();
  const app = new TestRepository(home, { "a.txt": "one\n", ".gitignore": "agent\n" });
  writeFileSync(path.join(app.path, "agent"), `#!/bin/sh\n${AGENT.replaceAll("\\\\", "\\")}\n`, { mode: 0o755 });
  configure(home, { mine: { command: ["./agent"], fork: ["--copy", "{from}"] } });
  await home.ok(["spawn", "mine", "--name", "api"], { cwd: app.path });
  await firstTurn(home, "api");
  const { code, stderr } = await home.cli(["fork", "api"]);
  expect([code, stderr]).toEqual([7, expect.stringContaining('cannot find the program "./agent"')]);
  expect(readdirSync(path.join(home.path, "workspaces"))).toEqual([]);
  expect(readdirSync(path.join(home.path, "sessions"))).toHaveLength(1);
  expect(app.git("branch", "--format=%(refname:short)")).toBe("main");
  expect(app.git("worktree", "list").split("\n")).toHaveLength(1);
  app.commit({ ".gitignore": "" }, "the agent too");
  expect(await home.json<Fork>(["fork", "api"])).toMatchObject({ name: "api-fork", conversation: null, files: "copied" });
});
