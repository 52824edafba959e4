import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import path from "node:path";
import type { AnyEvent, Session, Workspace } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";
import { Terminal } from "./terminal.ts";

async function spawnShell(home: TestHome, repository: TestRepository, name: string, script: string, ...flags: string[]): Promise<Session> {
  const args = ["run", "--name", name, ...flags, "--", "sh", "-c", `${script}; exec sleep 1000`];
  return home.json<Session>(args, { cwd: repository.path });
}

test("two sessions in two worktrees each have a branch, and never see each other's uncommitted files (CAVE-01 workspaces)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const one = await spawnShell(home, repository, "one", "echo mine > mine.txt; echo changed > a.txt; touch done", "--worktree");
  const two = await spawnShell(home, repository, "two", "touch done", "--worktree", "feature/two");
  for (const { cwd } of [one, two]) await eventually(() => existsSync(path.join(cwd, "done")));
  expect(readFileSync(path.join(two.cwd, "a.txt"), "utf8")).toBe("one\n");
  expect(existsSync(path.join(two.cwd, "mine.txt"))).toBe(false);
  expect(existsSync(path.join(repository.path, "mine.txt"))).toBe(false);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads")).toBe("feature/two\nholdfast/one\nmain");
  expect(one.cwd.startsWith(`${home.path}/workspaces/`)).toBe(true);
  const listed = await home.json<Workspace[]>(["workspace", "ls"]);
  expect(listed).toMatchObject([
    {
      name: "one",
      branch: "holdfast/one",
      base: "main",
      path: one.cwd,
      repo: repository.path,
      sessions: ["one"],
      dirty: true,
      changes: 3,
      ahead: 0,
    },
    { name: "two", branch: "feature/two", base: "main", path: two.cwd, sessions: ["two"], dirty: true, ahead: 0, conflicts: [] },
  ]);
  repository.commit({}, "work", one.cwd);
  expect((await home.json<Workspace[]>(["workspace", "ls"]))[0]).toMatchObject({ dirty: false, ahead: 1, behind: 0 });
});

test("a session's record names its workspace, even after a daemon kill and a lost database (SYM-03 workspaces)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { id } = await repository.workspace("cave");
  const session = await home.json<Session>(["spawn", "shell", "--workspace", "cave", "--name", "inside"]);
  const workspace = { id, name: "cave", branch: "holdfast/cave" };
  expect(session).toMatchObject({ workspace, cwd: (await home.json<Workspace>(["workspace", "show", "cave"])).path });
  await home.killDaemon();
  expect(await home.session("inside")).toMatchObject({ workspace });
  const pid = await home.daemonPid();
  await home.ok(["down"]);
  await eventually(() => !existsSync(`/proc/${pid}`));
  for (const file of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"]) rmSync(path.join(home.path, file), { force: true });
  rmSync(path.join(home.path, "backups"), { recursive: true, force: true });
  expect(await home.session("inside")).toMatchObject({ workspace });
  expect(await home.json<Workspace[]>(["workspace", "ls"])).toMatchObject([
    { id, name: "cave", branch: "holdfast/cave", base: "main", sessions: ["inside"] },
  ]);
});

test("a session started inside a workspace belongs to it, and starts in its caller's directory", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { "src/deep/a.txt": "one\n" });
  const below = path.join(repository.path, "src/deep");
  const made = await home.json<Session>(["run", "--worktree", "--name", "deep", "--", "sleep", "1000"], { cwd: below });
  expect(made.cwd).toBe(path.join(made.cwd.slice(0, made.cwd.indexOf("/src")), "src/deep"));
  const beside = await home.json<Session>(["run", "--name", "beside", "--", "sleep", "1000"], { cwd: made.cwd });
  expect(beside.workspace).toEqual(made.workspace);
  const shown = await home.json<Workspace>(["workspace", "show"], { cwd: made.cwd });
  expect(shown).toMatchObject({ name: "deep", sessions: ["deep", "beside"] });
  expect((await home.ok(["workspace", "path", "beside"])).trim()).toBe(shown.path);
});

test("untracked files are copied by rule, but never over tracked ones, and the set-up runs with its own ports", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, {
    ".gitignore": ".env\nnode_modules\nconf/local\n",
    "sub/tracked.txt": "",
    "a.txt": "one\n",
    ".holdfast/config.toml":
      '[workspace]\ncopy = [".env", "node_modules", "conf/local/*.json", "a.txt"]\nsetup = "echo base $HOLDFAST_PORT_BASE; cat .env; pwd > where; echo in $HOLDFAST_REPO >&2"\nports = 5\n',
  });
  repository.write({
    ".env": "A=1\n",
    "sub/.env": "B=2\n",
    "node_modules/x/index.js": "x",
    "node_modules/.env": "no",
    "conf/local/a.json": "{}",
    "conf/local/b.txt": "b",
  });
  symlinkSync("index.js", path.join(repository.path, "node_modules/x/link.js"));
  execFileSync("chmod", ["755", path.join(repository.path, "node_modules/x/index.js")]);
  repository.write({ "a.txt": "changed\n" });
  const workspace = await repository.workspace("cave");
  const has = (file: string) => existsSync(path.join(workspace.path, file));
  expect([".env", "sub/.env", "node_modules/x/link.js", "conf/local/a.json", "conf/local/b.txt"].map(has)).toEqual([
    true,
    true,
    true,
    true,
    false,
  ]);
  expect(statSync(path.join(workspace.path, "node_modules/x/index.js")).mode & 0o111).not.toBe(0);
  expect(readFileSync(path.join(workspace.path, "a.txt"), "utf8")).toBe("one\n");
  expect(readFileSync(path.join(workspace.path, "where"), "utf8").trim()).toBe(workspace.path);
  expect(workspace.setup).toMatchObject({ state: "done", exitCode: 0 });
  expect(readFileSync(workspace.setup?.log ?? "", "utf8")).toBe(`base ${workspace.portBase}\nA=1\nin ${repository.path}\n`);
  expect(workspace.notes).toEqual([expect.stringContaining("1 uncommitted change of ")]);
  const other = await repository.workspace("other");
  expect(other.portBase).toBeGreaterThanOrEqual(workspace.portBase + 5);
  const { id } = await home.json<Session>([
    "run",
    "--workspace",
    "cave",
    "--name",
    "env",
    "--",
    "sh",
    "-c",
    "echo $HOLDFAST_PORT_BASE $HOLDFAST_WORKSPACE",
  ]);
  await home.ended(id);
  expect((await home.ok(["logs", "env"])).trim()).toBe(`${workspace.portBase} ${workspace.id}`);
});

function listening(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
      .once("error", () => resolve(undefined))
      .listen(port, "127.0.0.1", () => resolve(server));
  });
}

test("files in a workspace and in the user's checkout have the user's umask, even after a daemon kill (mend 19)", async () => {
  await using home = new TestHome();
  const config = '[workspace]\ncopy = ["conf/*"]\nsetup = "mkdir made && touch made/file"\n';
  const repository = new TestRepository(home, { "a.txt": "one\n", ".gitignore": "conf\n", ".holdfast/config.toml": config });
  repository.write({ "conf/local": "x\n" });
  const under = (umask: string, ...args: string[]) => {
    const command = ["-c", 'umask "$1"; shift; exec "$@"', "sh", umask, HOLDFAST, ...args];
    return execFileSync("sh", command, { cwd: repository.path, env: home.env, encoding: "utf8" });
  };
  const modes = (...names: string[]) => names.map((name) => (statSync(name).mode & 0o777).toString(8));
  const { path: tree } = JSON.parse(under("027", "workspace", "create", "one", "--trust", "--json")) as Workspace;
  const inTree = (...names: string[]) => modes(...names.map((name) => path.join(tree, name)));
  expect(inTree("", "a.txt", ".holdfast", ".holdfast/context/plan.md", "made", "made/file", "conf", "conf/local")).toEqual([
    ...["750", "640", "750", "640", "750", "640"],
    // The same modes as in the original.
    ...modes(path.join(repository.path, "conf"), path.join(repository.path, "conf/local")),
  ]);
  repository.write({ "a.txt": "two\n", "dir/new.txt": "new\n" }, tree);
  under("027", "checkpoint", "create", "one");
  rmSync(path.join(tree, "dir"), { recursive: true });
  await home.killDaemon();
  // The modes are those of the workspace's creator, not of the caller.
  under("077", "checkpoint", "rewind", "one", "1");
  expect(inTree("a.txt", "dir", "dir/new.txt")).toEqual(["640", "750", "640"]);
  under("002", "workspace", "merge", "one", "--commit", "all");
  expect(modes(...["a.txt", "dir", "dir/new.txt"].map((name) => path.join(repository.path, name)))).toEqual(["664", "775", "664"]);
  expect(modes(path.join(repository.path, ".git/refs/heads/main"), path.join(repository.path, ".git/logs/refs/heads/main"))).toEqual([
    "664",
    "644",
  ]);
  under("027", "workspace", "rm", "one", "--force");
  under("022", "workspace", "recover", "one");
  expect(inTree("", "a.txt", "dir", "dir/new.txt")).toEqual(["755", "644", "755", "644"]);
});

test("ports in use are not assigned", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const first = await repository.workspace("first");
  // Checking a port occupies it for a moment, and another daemon may be checking.
  const taken = first.portBase + first.ports + 3;
  const server = await eventually(() => listening(taken));
  try {
    expect((await repository.workspace("second")).portBase).toBeGreaterThan(taken);
  } finally {
    server.close();
  }
});

test("a failed set-up is reported with its output, starts no session, and leaves a usable workspace", async () => {
  await using home = new TestHome();
  const config = '[workspace]\nsetup = "echo one; echo it is broken; exit 7"\n';
  const repository = new TestRepository(home, { ".holdfast/config.toml": config });
  const failed = await home.cli(["run", "--worktree", "--trust", "--name", "never", "--", "sleep", "1000"], { cwd: repository.path });
  expect(failed).toMatchObject({ code: 31, stderr: expect.stringContaining("failed with exit code 7:\n  one\n  it is broken\n") });
  expect((await home.cli(["show", "never"])).code).toBe(3);
  expect(await home.json<Workspace>(["workspace", "show", "never"])).toMatchObject({
    setup: { state: "failed", exitCode: 7 },
    sessions: [],
  });
  await home.json(["run", "--workspace", "never", "--name", "after", "--", "sleep", "1000"]);
  const without = await home.json<Workspace>(["workspace", "create", "without", "--no-setup"], { cwd: repository.path });
  expect(without.setup).toBeNull();
});

test("a set-up survives a daemon kill, and the next daemon records its exit", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, {
    ".holdfast/config.toml": '[workspace]\nsetup = "while ! [ -e go ]; do sleep 0.05; done; exit 3"\n',
  });
  const creating = home.cli(["workspace", "create", "cave", "--trust"], { cwd: repository.path });
  const running = await eventually(async () =>
    (await home.json<Workspace[]>(["workspace", "ls"])).find(({ setup }) => setup?.state === "running"),
  );
  await home.killDaemon();
  expect((await creating).code).not.toBe(0);
  expect(await home.json<Workspace>(["workspace", "show", "cave"])).toMatchObject({ setup: { state: "running" } });
  repository.write({ go: "" }, running.path);
  await eventually(async () => (await home.json<Workspace>(["workspace", "show", "cave"])).setup?.state === "failed");
});

test("a session that cannot start after its set-up leaves the workspace to another session that works there", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, {
    ".holdfast/config.toml": '[workspace]\nsetup = "while ! [ -e go ]; do sleep 0.05; done"\n',
  });
  const starting = home.cli(["run", "--worktree", "--trust", "--name", "cave", "--", "true"], { cwd: repository.path });
  const { path: tree } = await eventually(async () =>
    (await home.json<Workspace[]>(["workspace", "ls"])).find(({ setup }) => setup?.state === "running"),
  );
  await home.ok(["run", "--workspace", "cave", "--name", "other", "--", "sh", "-c", "echo work > work.txt; exec sleep 1000"]);
  await eventually(() => existsSync(path.join(tree, "work.txt")));
  await home.ok(["run", "--name", "cave", "--", "sleep", "1000"]);
  repository.write({ go: "" }, tree);
  expect((await starting).stderr).toContain("cave");
  expect((await starting).code).toBe(5);
  expect(readFileSync(path.join(tree, "work.txt"), "utf8")).toBe("work\n");
});

test("Ctrl+C during a set-up says that the set-up continues, and workspace rm ends it before a session starts", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { ".holdfast/config.toml": '[workspace]\nsetup = "exec sleep 1000"\n' });
  const waiting = home.start(["run", "--worktree", "--trust", "--name", "cave", "--", "true"], { cwd: repository.path });
  const said = waiting.stderr.setEncoding("utf8").toArray();
  const left = new Promise((resolve) => waiting.once("close", resolve));
  await eventually(async () => (await home.json<Workspace[]>(["workspace", "ls"])).some(({ setup }) => setup?.state === "running"));
  waiting.kill("SIGINT");
  expect(await left).toBe(130);
  expect((await said).join("")).toContain("the setup continues in the background");
  await home.ok(["workspace", "rm", "cave", "--force"]);
  expect(await home.json<Session[]>(["ls", "--all"])).toEqual([]);
});

test("the next daemon removes a partly created worktree, unless it has commits", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const kept = await repository.workspace("kept");
  const gone = await repository.workspace("gone");
  const worked = await repository.workspace("worked");
  repository.commit({ "b.txt": "work\n" }, "work", worked.path);
  await home.ok(["down"]);
  for (const { path: tree } of [gone, worked]) {
    const file = path.join(path.dirname(tree), "workspace.json");
    const spec = JSON.parse(readFileSync(file, "utf8")) as object;
    repository.write({ "workspace.json": JSON.stringify({ ...spec, making: true }) }, path.dirname(tree));
  }
  const database = path.join(home.path, "holdfast.db");
  execFileSync(process.execPath, [
    "-e",
    `const db = new (require("node:sqlite").DatabaseSync)(${JSON.stringify(database)}); for (const id of ["${gone.id}", "${worked.id}"]) { db.prepare("DELETE FROM workspaces WHERE id = ?").run(id); db.prepare("DELETE FROM events WHERE type = 'workspace.created' AND instr(data, ?) > 0").run(id); } db.close()`,
  ]);
  const listed = await home.json<Workspace[]>(["workspace", "ls"]);
  expect(listed.map(({ name }) => name).sort()).toEqual(["kept", "worked"]);
  expect([kept, gone, worked].map(({ path: tree }) => existsSync(tree))).toEqual([true, false, true]);
  expect(repository.git("branch", "--list", "holdfast/gone")).toBe("");
  expect(repository.git("worktree", "list")).not.toContain("gone");
});

describe("a workspace that cannot be created is refused, and nothing is left behind", () => {
  test.each<[string, (repository: TestRepository) => string[], string]>([
    ["a missing base", () => ["--base", "nowhere"], 'there is no branch or commit "nowhere"'],
    ["a branch checked out elsewhere", () => ["--branch", "main"], "the branch main is checked out in "],
    ["an invalid branch name", () => ["--branch", "a..b"], '"a..b" is not a valid branch name'],
    ["a branch below another", () => ["--branch", "main/x"], "the branch main/x cannot be created: the branch main exists"],
  ])("%s", async (_, flags, message) => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const before = repository.git("for-each-ref");
    const refused = await home.cli(["workspace", "create", "cave", ...flags(repository)], { cwd: repository.path });
    expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining(message) });
    expect([repository.git("for-each-ref"), repository.git("worktree", "list").split("\n").length]).toEqual([before, 1]);
    expect(await home.json(["workspace", "ls", "--all"])).toEqual([]);
  });

  test("a repository without a commit", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, {});
    const refused = await home.cli(["run", "--worktree", "--", "true"], { cwd: repository.path });
    expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining("has no commits, and") });
    expect(refused.stderr).toContain("git commit --allow-empty");
  });

  test("a missing program", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    expect((await home.cli(["run", "--worktree", "--", "no-such-program"], { cwd: repository.path })).code).toBe(7);
    expect((await home.cli(["run", "--worktree", "--", "./no-such-program"], { cwd: repository.path })).code).toBe(7);
    expect(await home.json(["workspace", "ls"])).toEqual([]);
    expect(repository.git("branch", "--list")).toBe("* main");
  });

  test("an invalid configuration, with its key", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, { ".holdfast/config.toml": '[workspace]\ncopy = ["../secret"]\n' });
    const refused = await home.cli(["workspace", "create"], { cwd: repository.path });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("workspace.copy is not a list of paths below the project") });
  });
});

describe("kinds of repositories", () => {
  test("a workspace of a detached head starts from that commit", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const first = repository.git("rev-parse", "HEAD");
    repository.commit({ "a.txt": "two\n" }, "second");
    repository.git("checkout", "--quiet", "--detach", first);
    expect(await repository.workspace("cave")).toMatchObject({ base: first, baseCommit: first, ahead: 0, behind: 0 });
  });

  test("a workspace of a bare repository starts from its branch", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const bare = path.join(home.root, "central.git");
    repository.git("clone", "--quiet", "--bare", ".", bare);
    const workspace = await home.json<Workspace>(["workspace", "create", "cave"], { cwd: bare });
    expect(workspace).toMatchObject({ repo: bare, base: "main", branch: "holdfast/cave" });
    expect(path.basename(workspace.path)).toBe("central-cave");
    expect(readFileSync(path.join(workspace.path, "a.txt"), "utf8")).toBe("one\n");
  });

  test("a workspace of a shallow clone can use a branch that exists only on the remote", async () => {
    await using home = new TestHome();
    const origin = new TestRepository(home);
    origin.commit({ "a.txt": "two\n" }, "second");
    origin.git("branch", "topic");
    const clone = path.join(home.root, "clone");
    origin.git("clone", "--quiet", "--depth=1", "--no-single-branch", `file://${origin.path}`, clone);
    const workspace = await home.json<Workspace>(["workspace", "create", "cave", "--branch", "topic"], { cwd: clone });
    expect(workspace).toMatchObject({ branch: "topic", repo: clone, ahead: 0 });
    expect(origin.gitIn(workspace.path, "rev-parse", "--abbrev-ref", "topic@{upstream}")).toBe("origin/topic");
  });

  test("submodules are checked out from the repository's own copy, without its remote", async () => {
    await using home = new TestHome();
    const library = new TestRepository(home, { "lib.txt": "library\n" }, "library");
    const repository = new TestRepository(home);
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.path, "vendor/library");
    repository.commit({}, "with a library");
    rmSync(library.path, { recursive: true });
    const workspace = await repository.workspace("cave");
    expect(workspace.notes).toEqual([]);
    expect(readFileSync(path.join(workspace.path, "vendor/library/lib.txt"), "utf8")).toBe("library\n");
    expect(workspace.dirty).toBe(false);
    expect(repository.git("config", "submodule.vendor/library.url")).toBe(library.path);
  });

  test("LFS pointers are noted, also if git-lfs is configured but missing", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, {
      ".gitattributes": "*.bin filter=lfs\n",
      "big.bin": "version https://git-lfs.github.com/spec/v1\n",
    });
    const one = await repository.workspace("one");
    expect(one.notes).toEqual(["1 file is an LFS pointer: git-lfs is not set up in your global configuration"]);
    for (const [key, value] of [
      ["process", "no-git-lfs filter-process"],
      ["smudge", "no-git-lfs smudge %f"],
      ["required", "true"],
    ] as const)
      repository.git("config", "--global", `filter.lfs.${key}`, value);
    const two = await repository.workspace("two");
    expect(two.notes).toEqual(["1 file is an LFS pointer: git-lfs is configured, but cannot be run"]);
    expect(readFileSync(path.join(two.path, "big.bin"), "utf8")).toContain("git-lfs.github.com");
  });

  test("a directory outside of a repository is a plain workspace, with a note", async () => {
    await using home = new TestHome();
    const plain = path.join(home.root, "notes");
    mkdirSync(plain);
    const session = await home.json<Session>(["run", "--worktree", "--name", "cave", "--", "sleep", "1000"], { cwd: plain });
    expect(session).toMatchObject({ cwd: plain, workspace: { name: "cave", branch: null } });
    expect(await home.json<Workspace>(["workspace", "show", "cave"])).toMatchObject({
      kind: "plain",
      path: plain,
      repo: null,
      dirty: null,
      notes: [expect.stringContaining("not a git repository")],
    });
    expect(session).toMatchObject({ notes: [expect.stringContaining("not a git repository")] });
    expect((await home.cli(["workspace", "diff", "cave"])).code).toBe(7);
    const more = path.join(home.root, "more");
    mkdirSync(more);
    const { stderr } = await home.cli(["run", "--worktree", "--", "true"], { cwd: more });
    expect(stderr).toBe("note: not a git repository: sessions work in the directory itself, without a branch and without merging\n");
  });
});

test("diff shows commits, uncommitted changes and new files since the base commit, and changes nothing (CAVE-02 workspaces)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { "a.txt": "one\n", "b.txt": "b\n" });
  const { path: tree } = await repository.workspace("cave");
  repository.commit({ "a.txt": "committed\n" }, "work", tree);
  repository.write({ "b.txt": "uncommitted\n", "dir/new file.txt": "new\n" }, tree);
  repository.commit({ "base.txt": "later\n" }, "on the base");
  const before = repository.gitIn(tree, "status", "--porcelain");
  const { diff, files, insertions } = await home.json<{ diff: string; files: number; insertions: number }>(["workspace", "diff", "cave"]);
  expect([files, insertions]).toEqual([3, 3]);
  for (const line of ["+committed", "+uncommitted", "+new"]) expect(diff).toContain(line);
  expect(diff).not.toContain("base.txt");
  expect(repository.gitIn(tree, "status", "--porcelain")).toBe(before);
  expect(await home.ok(["workspace", "diff", "cave", "--names"])).toBe("M\ta.txt\nM\tb.txt\nA\tdir/new file.txt\n");
});

test("git itself cannot remove a workspace's worktree, and unknown workspaces and verbs are refused by name", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { path: tree } = await repository.workspace("cave");
  expect(() => repository.git("worktree", "remove", tree)).toThrow("locked");
  const unknown = await home.cli(["workspace", "show", "cage"]);
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining("cave") });
  expect((await home.cli(["workspace", "frobnicate"])).stderr).toContain('workspace has no verb "frobnicate"');
  const created = (await home.ok(["events", "--type", "workspace.created"])).trim();
  expect(JSON.parse(created) as AnyEvent).toMatchObject({ actor: expect.stringMatching(/^user:/), data: { name: "cave" } });
  expect(await home.ok(["workspace", "--help"])).toContain("diff [NAME]");
  expect(await home.ok(["workspace", "create", "--help"])).toContain("holdfast workspace create fix-login");
  expect((await home.ok(["__complete", "workspace", "sh"])).trim()).toBe("show");
  expect((await home.ok(["__complete", "workspace", "show", "c"])).trim()).toBe("cave");
});

test("a session can use its own workspaces and no others", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await repository.workspace("other");
  const script =
    "holdfast workspace ls --json; holdfast workspace show other; echo code $?; holdfast workspace create child --json > /dev/null; holdfast workspace ls --json";
  const env = { PATH: `${path.join(import.meta.dirname, "..", "bin")}:${home.env.PATH}` };
  const args = ["run", "--name", "inner", "--worktree", "--", "sh", "-c", script];
  await home.json<Session>(args, { cwd: repository.path, env });
  await home.ended("inner");
  const said = await home.ok(["logs", "inner", "--width", "10000"]).catch(() => home.ok(["logs", "inner"]));
  const text = said.replaceAll("\n", "");
  expect(text).toContain('"name":"inner"');
  expect(text).not.toContain('"name":"other"');
  expect(text).toContain("code 20");
  expect(text).toContain('"name":"child"');
});

test("a session cannot start a child in a foreign workspace, by name or directory, or remove one where others work", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const other = await repository.workspace("other");
  const shared = await repository.workspace("shared");
  await home.json<Session>(["run", "--name", "mate", "--workspace", "shared", "--", "sleep", "1000"]);
  const script = [
    "holdfast run --name one --workspace other -- true; echo one $?",
    `holdfast run --name two --cwd ${other.path} -- true; echo two $?`,
    "holdfast workspace rm shared --force; echo three $?",
    "holdfast run --name child --workspace shared -- true; echo four $?",
    "holdfast run --name here -- true; echo five $?",
    "holdfast fork inner --workspace other; echo six $?",
    `holdfast fork inner --cwd ${other.path}; echo seven $?`,
  ].join("; ");
  const env = { PATH: `${path.join(import.meta.dirname, "..", "bin")}:${home.env.PATH}` };
  await home.json<Session>(["run", "--name", "inner", "--workspace", "shared", "--", "sh", "-c", script], { env });
  await home.ended("inner");
  const said = await home.ok(["logs", "inner"]);
  for (const line of ["one 20", "two 20", "three 20", "four 0", "five 0", "six 20", "seven 20"]) expect(said).toContain(line);
  expect(await home.session("mate")).toMatchObject({ status: expect.not.stringMatching(/stopped|exited/) });
  expect(existsSync(shared.path)).toBe(true);
});

test("a repository's commands and copies run only after a person has trusted exactly them, and a session cannot trust them (mend 5)", async () => {
  await using home = new TestHome();
  const configure = (text: string) => repository.commit({ ".holdfast/config.toml": `[workspace]\n${text}` }, "configure");
  const repository = new TestRepository(home);
  configure('setup = "touch ran"\n');
  const create = (name: string, ...flags: string[]) => home.cli(["workspace", "create", name, ...flags], { cwd: repository.path });
  const refused = await create("one", "--json");
  expect(refused).toMatchObject({ code: 48, stdout: "" });
  const { error } = JSON.parse(refused.stderr) as { error: { code: string; hint: string; details: { hash: string } } };
  expect(error).toMatchObject({ code: "not_trusted", details: { directory: repository.path, setup: "touch ran", copy: [] } });
  expect(error.hint).toContain(`holdfast trust add ${repository.path}`);
  expect((await home.cli(["run", "--worktree", "--", "true"], { cwd: repository.path })).stderr).toContain("run   touch ran");
  const tournament = ["spawn", "demo", "--best-of", "2", "--prompt", "fix it"];
  expect(await home.cli(tournament, { cwd: repository.path })).toMatchObject({ code: 48, stdout: "" });
  expect(await home.json(["workspace", "ls"])).toEqual([]);
  expect(repository.git("branch", "--list")).toBe("* main");

  // An agent can neither trust the configuration nor claim that a person does.
  const agent = await home.json<Session>(["run", "--name", "agent", "--", "sleep", "1000"]);
  using inside = await clientAs(home, agent.name);
  const hash = error.details.hash;
  await expect(inside.call("addTrust", { body: { cwd: repository.path, hash } })).rejects.toMatchObject({ code: "forbidden" });
  const worktree = { setup: true };
  const spawning = inside.call("spawn", { body: { agent: "shell", command: ["true"], cwd: repository.path, env: home.env, worktree } });
  await expect(spawning).rejects.toMatchObject({ code: "not_trusted", details: { setup: "touch ran" } });
  expect((await home.cli(["trust", "add", repository.path])).code).toBe(15);

  // On a terminal the configuration is shown, and the question is asked once.
  using terminal = new Terminal({ env: home.env });
  await terminal.command(`cd ${repository.path}; clear; ${HOLDFAST} workspace create one`);
  const asked = await terminal.shows("[y/N]");
  expect(asked).toMatch(/to run +touch ran[\s\S]*Scripts that the command starts are not checked/);
  terminal.line("n");
  await terminal.shows("nobody has trusted yet");
  expect(await home.json(["workspace", "ls"])).toEqual([]);
  await terminal.command(`clear; ${HOLDFAST} workspace create one`);
  await terminal.shows("[y/N]");
  terminal.line("y");
  const { path: tree } = await eventually(async () =>
    (await home.json<Workspace[]>(["workspace", "ls"])).find(({ setup }) => setup?.state === "done"),
  );
  expect(existsSync(path.join(tree, "ran"))).toBe(true);
  expect((await create("two")).code).toBe(0);
  // Also from a worktree with the same configuration.
  expect((await home.cli(["workspace", "create", "three"], { cwd: tree })).code).toBe(0);

  configure('setup = "touch ran"\ncopy = ["a.txt"]\n');
  expect((await create("four")).code).toBe(48);
  expect((await create("four", "--trust")).code).toBe(0);
  const trusted = await home.json<{ directory: string; hash: string; by: string }[]>(["trust", "ls"]);
  expect(trusted).toMatchObject([
    { directory: repository.path, setup: "touch ran", copy: [], by: expect.stringMatching(/^user:/) },
    { directory: repository.path, setup: "touch ran", copy: ["a.txt"] },
  ]);
  expect(Object.keys(trusted[0] ?? {}).sort()).toEqual(["at", "by", "copy", "directory", "hash", "setup"]);
  expect(await home.ok(["audit"])).toContain(`trusted ${repository.path}: run touch ran; copy a.txt`);
  expect(await home.ok(["__complete", "trust", "revoke", ""])).toBe(`${repository.path}\n`);

  // Trust outlives the daemon, and is revoked by its hash.
  await home.killDaemon();
  expect((await create("five")).code).toBe(0);
  expect(await home.ok(["trust", "revoke", trusted[1]?.hash ?? ""])).toContain("is no longer trusted");
  expect((await create("six")).code).toBe(48);
  expect((await create("six", "--no-setup")).code).toBe(48);
  expect(await home.json(["trust", "add", "--yes"], { cwd: repository.path })).toMatchObject({ copy: ["a.txt"] });
  expect((await create("six")).code).toBe(0);
});
