import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Checkpoint, CheckpointDiff, Session, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

/** Runs the command of `work COMMAND`, and is working until it reads `ready`. */
const DOER = `[agents.doer]
command = ["sh", "-c", "printf 'ready\\\\n'; while read -r line; do printf '\\\\033[2J\\\\033[H%s\\\\n' \\"$line\\"; case \\"$line\\" in work*) eval \\"\${line#work}\\";; esac; done"]

[[agents.doer.screen]]
name = "works"
line = "^work"
turn = "working"

[[agents.doer.screen]]
name = "rests"
line = "^ready"
turn = "idle"
`;

class Project extends TestHome {
  readonly repository: TestRepository;

  constructor() {
    super();
    const configuration = path.join(this.env.HOME ?? "", ".config", "holdfast");
    mkdirSync(configuration, { recursive: true });
    writeFileSync(path.join(configuration, "config.toml"), DOER);
    this.repository = new TestRepository(this, { "kept.txt": "one\n", ".gitignore": "*.log\n" });
  }

  git(directory: string, ...args: string[]): string {
    return this.repository.gitIn(directory, ...args).trim();
  }

  /** An idle agent in its own worktree, with the checkpoint of its start. */
  async doer(name: string): Promise<Session> {
    const session = await this.json<Session>(["spawn", "doer", "--name", name, "--worktree"], { cwd: this.repository.path });
    await this.until(name, ({ status }) => status === "idle");
    await this.checkpoint(name, ({ why }) => why === "start");
    return session;
  }

  /** A whole turn; returns the checkpoint at its end. */
  async turn(name: string, command: string): Promise<Checkpoint> {
    const { turns } = await this.session(name);
    await this.work(name, command);
    await this.rest(name);
    return await this.checkpoint(name, ({ turn }) => turn === (turns ?? 0) + 1);
  }

  async work(name: string, command: string): Promise<void> {
    await this.ok(["send", name, `work ${command}`, "--force"]);
    await this.until(name, ({ turn }) => turn === "working");
  }

  async rest(name: string): Promise<void> {
    await this.ok(["send", name, "ready", "--force"]);
    await this.until(name, ({ turn }) => turn === "idle");
  }

  checkpoint(ref: string, which: (checkpoint: Checkpoint) => boolean): Promise<Checkpoint> {
    return eventually(async () => (await this.checkpoints(ref)).find(which));
  }

  async checkpoints(ref: string): Promise<Checkpoint[]> {
    return JSON.parse(await this.ok(["checkpoint", "ls", ref, "--json"])) as Checkpoint[];
  }

  async workspace(ref: string): Promise<Workspace> {
    return JSON.parse(await this.ok(["workspace", "show", ref, "--json"])) as Workspace;
  }

  async rewind(ref: string, number: number, ...flags: string[]): Promise<{ to: Checkpoint; before: Checkpoint }> {
    return JSON.parse(await this.ok(["checkpoint", "rewind", ref, String(number), "--json", ...flags]));
  }
}

function filesIn(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter((name) => name !== ".git" && name !== ".gitignore" && name !== ".holdfast");
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(directory, name), "utf8")]));
}

test("each turn ends with a checkpoint of all the agent's changes, and leaves branch, index and stash untouched (NEW-12 workspaces)", async () => {
  await using home = new Project();
  const { id } = await home.doer("fix");
  const { path: tree } = await home.workspace("fix");
  const first = await home.turn("fix", "echo two > new.txt; echo x > noise.log; git add new.txt; echo three > new.txt; rm kept.txt");
  const keys = ["at", "branch", "commit", "files", "head", "leftOut", "note", "number", "rewoundTo", "session", "tree", "turn", "why"];
  expect(Object.keys(first).sort()).toEqual(keys);
  expect(first).toMatchObject({ number: 2, why: "turn", session: id, turn: 1, branch: "holdfast/fix", files: 2, leftOut: [] });
  expect(home.git(tree, "ls-tree", "--name-only", first.commit).split("\n")).toEqual([".gitignore", "new.txt"]);
  expect(home.git(tree, "show", `${first.commit}:new.txt`)).toBe("three");
  expect(home.git(tree, "status", "--porcelain").split("\n").sort()).toEqual(["AM new.txt", "D kept.txt"]);
  expect(home.git(tree, "log", "--format=%s", "holdfast/fix")).toBe("first");
  expect(home.git(tree, "stash", "list")).toBe("");

  const second = await home.turn("fix", "git commit -qam done");
  expect(second).toMatchObject({ number: 3, turn: 2, head: home.git(tree, "rev-parse", "HEAD"), files: 0 });
  const events = (await home.ok(["events", "--type", "checkpoint.created"]))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ session, data }) => [session, data.number, data.why])).toEqual([
    [id, 1, "start"],
    [id, 2, "turn"],
    [id, 3, "turn"],
  ]);
  const table = await home.cli(["checkpoint"], { cwd: tree });
  expect(table.stdout).toMatch(/^1 +\d+s ago +before the first turn of fix +0 +holdfast\/fix [0-9a-f]{10}$/m);
  expect(table.stdout).toMatch(/^2 +\d+s ago +turn 1 of fix +2 /m);
  expect(table.stderr).toBe("No changes since checkpoint 3.\n");
});

test("a rewind brings back files and branch, can be undone, and is refused during a turn (NEW-12 workspaces)", async () => {
  await using home = new Project();
  await home.doer("fix");
  const { path: tree } = await home.workspace("fix");
  await home.turn("fix", "echo two > new.txt; rm kept.txt; git add -A; git commit -qm turn-1; echo x > noise.log");
  const later = filesIn(tree);
  const tip = home.git(tree, "rev-parse", "HEAD");
  await home.work("fix", "echo three > third.txt");
  await eventually(() => existsSync(path.join(tree, "third.txt")));

  const refused = await home.cli(["checkpoint", "rewind", "fix", "1"]);
  expect(refused).toMatchObject({ code: 30, stderr: expect.stringContaining("fix is in a turn in fix; nothing was changed") });
  expect(filesIn(tree)).toEqual({ ...later, "third.txt": "three\n" });
  await home.rest("fix");
  const third = await home.checkpoint("fix", ({ turn }) => turn === 2);

  const back = await home.cli(["checkpoint", "rewind", "fix", "1"]);
  expect(back.stdout).toMatch(/^fix has the files of checkpoint 1; holdfast\/fix is checked out at [0-9a-f]{10}\.$/m);
  expect(back.stderr).toBe("The state before is checkpoint 4; undo: holdfast checkpoint rewind fix 4\n");
  expect(filesIn(tree)).toEqual({ "kept.txt": "one\n", "noise.log": "x\n" });
  expect(home.git(tree, "log", "--format=%s")).toBe("first");
  expect(home.git(tree, "status", "--porcelain")).toBe("");
  expect(home.git(tree, "reflog", "-1", "--format=%gs", "HEAD")).toBe("holdfast: rewind to checkpoint 1");

  await home.rewind("fix", 4);
  expect(filesIn(tree)).toEqual({ ...later, "third.txt": "three\n" });
  expect(home.git(tree, "rev-parse", "HEAD")).toBe(tip);
  await home.rewind("fix", 1, "--files-only");
  expect(home.git(tree, "rev-parse", "HEAD")).toBe(tip);
  expect(filesIn(tree)).toEqual({ "kept.txt": "one\n", "noise.log": "x\n" });

  await home.work("fix", "true");
  const forced = await home.rewind("fix", third.number, "--force");
  expect(forced.before).toMatchObject({ why: "rewind", rewoundTo: third.number });
  expect(filesIn(tree)).toMatchObject({ "third.txt": "three\n" });
  const events = (await home.ok(["events", "--type", "checkpoint.rewound"]))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).data);
  expect(events.map(({ number, filesOnly }) => [number, filesOnly])).toEqual([
    [1, false],
    [4, false],
    [1, true],
    [third.number, false],
  ]);
});

test("any two checkpoints can be compared, and a checkpoint with the current files (NEW-12 workspaces)", async () => {
  await using home = new Project();
  await home.doer("fix");
  const { path: tree } = await home.workspace("fix");
  await home.turn("fix", "echo two > new.txt");
  await home.turn("fix", "echo three >> kept.txt; git add -A; git commit -qm both");
  writeFileSync(path.join(tree, "mine.txt"), "by hand\n");

  expect(await home.ok(["checkpoint", "diff", "fix", "2", "3"])).toContain("@@ -1 +1,2 @@\n one\n+three\n");
  expect(await home.ok(["checkpoint", "diff", "3", "1", "--names"], { cwd: tree })).toBe("M\tkept.txt\nD\tnew.txt\n");
  expect(await home.ok(["checkpoint", "diff", "fix", "--stat"])).toBe(" mine.txt | 1 +\n 1 file changed, 1 insertion(+)\n");
  const json = JSON.parse(await home.ok(["checkpoint", "diff", "fix", "1", "--json"])) as CheckpointDiff;
  expect(json).toEqual({ from: 1, to: null, files: 3, insertions: 3, deletions: 0, diff: expect.stringMatching(/^diff --git /) });
  const { stderr } = await home.cli(["checkpoint", "ls", "fix"]);
  expect(stderr).toBe("1 file changed since checkpoint 3.\n");
  const nobody = await home.cli(["checkpoint", "diff", "fix", "9"]);
  expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining("there are 1 to 3") });
});

test("an agent without known turn ends gets checkpoints on request; a plain directory gets none", async () => {
  await using home = new Project();
  await home.ok(["run", "--name", "sh", "--worktree", "--", "sh", "-c", "echo made > made.txt; exec cat"], { cwd: home.repository.path });
  const { path: tree } = await home.workspace("sh");
  await eventually(() => existsSync(path.join(tree, "made.txt")));
  expect(await home.ok(["checkpoint", "ls", "sh"])).toBe("sh has no checkpoints. Create one: holdfast checkpoint create sh\n");
  expect(await home.ok(["checkpoint", "create", "sh", "--note", "by hand"])).toBe("Checkpoint 1: 1 file changed since the last one.\n");
  const [made] = await home.checkpoints("sh");
  expect(made).toMatchObject({ number: 1, why: "asked", session: null, turn: null, note: "by hand", files: 1 });
  await home.ok(["stop", "sh"]);
  expect(await home.checkpoints("sh")).toHaveLength(1);

  await home.run("exec cat", "--name", "beside");
  const beside = await home.cli(["checkpoint", "create", "beside"]);
  expect(beside).toMatchObject({ code: 3, stderr: expect.stringContaining("the session beside has no workspace of its own") });
  const nowhere = await home.cli(["checkpoint"], { cwd: home.repository.path });
  expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining(`${home.repository.path} is not in a workspace`) });

  const directory = path.join(home.root, "plain");
  mkdirSync(directory);
  await home.ok(["workspace", "create", "bare"], { cwd: directory });
  const refused = await home.cli(["checkpoint", "create", "bare"]);
  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining("bare is a plain directory") });
});

test("the next daemon makes the checkpoint of a turn that ended unobserved, and makes none twice", async () => {
  await using home = new Project();
  await home.doer("fix");
  const { id, path: tree } = await home.workspace("fix");
  await home.turn("fix", "echo two > new.txt");
  await home.killDaemon();
  // As if the daemon had died before it made the checkpoint.
  home.git(tree, "update-ref", "-d", `refs/holdfast/checkpoints/${id}/2`);
  await home.ok(["ls"]);
  const made = await home.checkpoint("fix", ({ turn }) => turn === 1);
  expect(made).toMatchObject({ number: 2, files: 1 });

  await home.work("fix", "echo three > third.txt");
  await home.killDaemon();
  await home.rest("fix");
  await home.checkpoint("fix", ({ turn }) => turn === 2);
  await home.killDaemon();
  await home.turn("fix", "true");
  expect((await home.checkpoints("fix")).map(({ turn }) => turn)).toEqual([null, 1, 2, 3]);
});

test("stopping a session in a turn makes a checkpoint; rm deletes all its checkpoints except the workspace's newest", async () => {
  await using home = new Project();
  await home.doer("fix");
  await home.turn("fix", "echo two > new.txt");
  await home.work("fix", "echo three > third.txt");
  const { id, path: tree } = await home.workspace("fix");
  await home.ok(["stop", "fix"]);
  await home.checkpoint("fix", ({ turn }) => turn === 2);
  await home.ok(["rm", "fix"]);
  const left = await eventually(async () => {
    const checkpoints = await home.checkpoints(id);
    return checkpoints.length === 1 && checkpoints;
  });
  expect(left).toMatchObject([{ number: 3, turn: 2 }]);
  expect(await home.ok(["checkpoint", "ls"], { cwd: tree })).toMatch(/turn 2 of [a-z2-7]{10}/);
});

test("removing a workspace removes its checkpoints, and a recovered workspace starts without any", async () => {
  await using home = new Project();
  await home.doer("fix");
  await home.turn("fix", "echo two > new.txt");
  await home.ok(["stop", "fix"]);
  await home.ok(["workspace", "rm", "fix", "--force"]);
  const refs = () => home.repository.git("for-each-ref", "--format=%(refname)", "refs/holdfast/checkpoints");
  await eventually(() => refs() === "");
  const refused = await home.cli(["checkpoint", "ls", "fix"]);
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("holdfast workspace recover fix") });
  await home.ok(["workspace", "recover", "fix"]);
  expect(await home.ok(["checkpoint", "create", "fix"])).toMatch(/^Checkpoint 1: /);
});
