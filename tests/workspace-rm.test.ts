import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, CollectOutcome, ErrorBody, Finding, RecoverOutcome, RemoveOutcome, Session, Workspace } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { killDaemon, wrappedGit } from "./git-wrapper.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

async function refusal(home: TestHome, args: string[]): Promise<{ code: number | null; error: ErrorBody }> {
  const { code, stderr } = await home.cli([...args, "--json"]);
  return { code, error: (JSON.parse(stderr) as { error: ErrorBody }).error };
}

const events = async (home: TestHome, type: string) =>
  (await home.ok(["events", "--json", "--type", type]))
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as AnyEvent).data);

const branches = (repository: TestRepository) => repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
const show = (home: TestHome, ref: string) => home.json<Workspace>(["workspace", "show", ref]);

describe("rm", () => {
  test("a merged workspace is removed with its branch, and stays in ls --all", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { id, path: tree } = await repository.workspace("fix");
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    await home.ok(["workspace", "merge", "fix"]);
    const [removed] = await home.json<RemoveOutcome[]>(["workspace", "rm", "fix"]);
    expect(removed).toMatchObject({ dryRun: false, losses: { files: [], commits: [], sessions: [] }, ref: `refs/holdfast/removed/${id}` });
    expect([existsSync(path.dirname(tree)), branches(repository)]).toEqual([false, ["main"]]);
    expect(repository.git("worktree", "list").split("\n")).toHaveLength(1);
    expect(await home.json<Workspace[]>(["workspace", "ls"])).toEqual([]);
    expect(await home.ok(["workspace", "ls", "--all"])).toMatch(/^fix .* removed/m);
    expect(await events(home, "workspace.removed")).toEqual([{ id, name: "fix", ref: `refs/holdfast/removed/${id}`, why: "asked" }]);
    expect(await refusal(home, ["workspace", "rm", "fix"])).toMatchObject({ code: 6, error: { code: "workspace_removed" } });
  });

  test("a workspace with uncommitted files or commits that are neither merged nor pushed is refused with their list, and nothing changes (CAVE-02 workspaces)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    const commit = repository.commit({ "b.txt": "b\n" }, "Mend it", tree);
    repository.write({ "a.txt": "changed\n", "dir/new.txt": "n\n" }, tree);
    const lost = [" M a.txt", "?? dir/new.txt", `${commit.slice(0, 7)} Mend it`];
    expect(await refusal(home, ["workspace", "rm", "fix"])).toMatchObject({
      code: 29,
      error: { code: "would_lose_work", candidates: lost },
    });
    const { stderr } = await home.cli(["workspace", "rm", "fix"]);
    expect(stderr).toMatch(
      /would lose 2 uncommitted files, 1 commit that is neither merged nor pushed\n {5}M a\.txt\n {4}\?\? dir\/new\.txt\n/,
    );
    const [dry] = await home.json<RemoveOutcome[]>(["workspace", "rm", "fix", "--dry-run", "--force"]);
    expect(dry).toMatchObject({ dryRun: true, losses: { files: lost.slice(0, 2), commits: lost.slice(2), sessions: [] } });
    expect(readFileSync(path.join(tree, "dir/new.txt"), "utf8")).toBe("n\n");
    expect((await show(home, "fix")).removedAt).toBeNull();
    // Pushed commits are safe.
    const remote = path.join(home.root, "remote.git");
    repository.git("init", "--quiet", "--bare", remote);
    repository.git("remote", "add", "origin", remote);
    repository.gitIn(tree, "push", "--quiet", "origin", "HEAD");
    expect((await refusal(home, ["workspace", "rm", "fix"])).error.candidates).toEqual(lost.slice(0, 2));
    repository.gitIn(tree, "stash", "--quiet", "--include-untracked");
    await home.ok(["workspace", "rm", "fix"]);
    expect(existsSync(tree)).toBe(false);
  });

  test("a workspace with a running session is refused; --force stops the session and keeps a ref for recovery (CAVE-02 workspaces)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const script = "echo mine > mine.txt; exec sleep 1000";
    const args = ["run", "--worktree", "--name", "agent", "--", "sh", "-c", script];
    const { cwd } = await home.json<Session>(args, { cwd: repository.path });
    await eventually(() => existsSync(path.join(cwd, "mine.txt")));
    expect(await refusal(home, ["workspace", "rm", "agent"])).toMatchObject({
      code: 29,
      error: { candidates: ["?? mine.txt", "session agent"] },
    });
    repository.commit({}, "committed", cwd);
    await home.ok(["workspace", "merge", "agent"]);
    expect(await refusal(home, ["workspace", "rm", "agent"])).toMatchObject({
      code: 6,
      error: { code: "workspace_lived_in", hint: expect.stringContaining("holdfast stop agent") },
    });
    repository.write({ "mine.txt": "changed\n", "more.txt": "more\n" }, cwd);
    await home.ok(["workspace", "rm", "agent", "--force"]);
    expect(await home.session("agent")).toMatchObject({ status: "stopped" });
    expect([existsSync(cwd), branches(repository)]).toEqual([false, ["main"]]);
    const { recoveryRef } = (await home.json<Workspace[]>(["workspace", "ls", "--all"]))[0] ?? {};
    expect(repository.git("show", `${recoveryRef}:more.txt`)).toBe("more");
    await home.ok(["workspace", "recover", "agent"]);
    expect(repository.gitIn(cwd, "status", "--porcelain")).toBe(" M mine.txt\n?? more.txt");
  });

  test("a workspace whose set-up is running is refused; --force ends the set-up too", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, { ".holdfast/config.toml": '[workspace]\nsetup = "touch began; sleep 1000"\n' });
    const making = home.cli(["workspace", "create", "fix", "--trust"], { cwd: repository.path });
    const tree = await eventually(async () => (await home.json<Workspace[]>(["workspace", "ls"]))[0]?.path);
    await eventually(() => existsSync(path.join(tree, "began")));
    expect(await refusal(home, ["workspace", "rm", "fix"])).toMatchObject({
      code: 6,
      error: { code: "workspace_lived_in", message: expect.stringMatching(/set-up of fix is still running/) },
    });
    await home.ok(["workspace", "rm", "fix", "--force"]);
    expect(existsSync(path.dirname(tree))).toBe(false);
    expect((await making).code).not.toBe(0);
  });

  test("a rewind during a removal waits, and recover brings every file back", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    await home.ok(["checkpoint", "create", "fix"]);
    repository.write({ "new.txt": "new\n" }, tree);
    // A rewind starts during the removal and waits a few seconds.
    const out = path.join(home.root, "rewound");
    const env = wrappedGit(home, {
      command: "update-ref refs/holdfast/removed/",
      before: `PATH=${home.env.PATH} timeout 3 ${HOLDFAST} checkpoint rewind fix 1 > /dev/null 2>&1; echo $? > ${out}`,
    });
    await home.ok(["workspace", "rm", "fix", "--force"], { env });
    expect(readFileSync(out, "utf8")).toBe("124\n");
    await home.ok(["workspace", "recover", "fix"]);
    expect(readFileSync(path.join(tree, "new.txt"), "utf8")).toBe("new\n");
  });

  test("if the repository was moved away, every verb says so and nothing is lost; after it is moved back, all is as before", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    repository.write({ "new.txt": "new\n" }, tree);
    await home.ok(["run", "--workspace", "fix", "--name", "inside", "--", "sleep", "1000"]);
    renameSync(repository.path, `${repository.path}-moved`);
    const gone = `the repository of fix is gone: ${repository.path}`;
    for (const verb of [["diff"], ["merge", "--commit", "all"], ["pr"]] as const)
      expect((await refusal(home, ["workspace", verb[0], "fix", ...verb.slice(1)])).error.message).toBe(gone);
    const { error } = await refusal(home, ["workspace", "rm", "fix"]);
    expect([error.code, error.message]).toEqual(["would_lose_work", expect.stringContaining("fix cannot be recovered")]);
    expect(error.hint).toContain("--force");
    expect((await show(home, "fix")).sessions).toEqual(["inside"]);
    renameSync(`${repository.path}-moved`, repository.path);
    expect(await show(home, "fix")).toMatchObject({ dirty: true, changes: 1 });
  });

  test("a workspace whose repository is gone is removed with --force, and its files are set aside (mend 24)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { id, path: tree } = await repository.workspace("fix");
    repository.write({ "new.txt": "new\n" }, tree);
    rmSync(repository.path, { recursive: true });
    expect((await refusal(home, ["workspace", "rm", "fix"])).error).toMatchObject({ code: "would_lose_work" });
    expect((await home.cli(["workspace", "gc", "--yes"])).stdout).toContain("holdfast workspace rm fix --force");
    const [removed] = await home.json<RemoveOutcome[]>(["workspace", "rm", "fix", "--force"]);
    expect(removed?.losses.files).toEqual([`(all of it: its repository is gone (${repository.path}))`]);
    const aside = path.join(home.path, "damaged", `workspace-fix-${id}`);
    expect(removed?.notes).toEqual([expect.stringContaining(aside)]);
    expect(readFileSync(path.join(aside, "new.txt"), "utf8")).toBe("new\n");
    expect(existsSync(path.dirname(tree))).toBe(false);
    expect(await home.json<Workspace[]>(["workspace", "ls"])).toEqual([]);
  });

  test("doctor names sessions and workspaces whose project is gone, with the commands that clean up (SYM-19 mend)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    await repository.workspace("fix");
    await home.json<Session>(["run", "--name", "ended", "--", "true"], { cwd: repository.path });
    await home.ended("ended");
    const finding = async () => (await home.json<Finding[]>(["doctor"])).find(({ id }) => id === "projects");
    expect((await finding())?.level).toBe("ok");
    rmSync(repository.path, { recursive: true });
    const { level, what, remedy } = (await finding()) ?? {};
    expect([level, what]).toEqual(["warning", expect.stringMatching(/workspace fix .*session ended/)]);
    expect(remedy).toMatch(/holdfast workspace rm fix --force; holdfast rm ended/);
    await home.ok(["workspace", "rm", "fix", "--force"]);
    await home.lookAt("ended");
    await home.ok(["rm", "ended"]);
    expect((await finding())?.level).toBe("ok");
  });

  test("a branch that existed before the workspace stays, and so does a plain directory", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    repository.git("branch", "mine");
    const { path: tree } = await repository.workspace("fix", "--branch", "mine");
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    expect((await home.cli(["workspace", "rm", "fix"])).stderr).toMatch(/the branch mine stays: it existed before the workspace/);
    expect(repository.git("log", "-1", "--format=%s", "mine")).toBe("second");
    const directory = path.join(home.root, "plain");
    mkdirSync(directory);
    writeFileSync(path.join(directory, "f"), "");
    await home.ok(["workspace", "create", "plain"], { cwd: directory });
    await home.ok(["workspace", "rm", "plain"]);
    expect(existsSync(path.join(directory, "f"))).toBe(true);
    expect(await home.json<Workspace[]>(["workspace", "ls"])).toEqual([]);
  });

  test("a workspace with submodules is removed too, and recover brings back their files", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const library = new TestRepository(home, { "l.txt": "l\n" }, "library");
    repository.git("config", "--global", "protocol.file.allow", "always");
    repository.git("submodule", "--quiet", "add", library.path, "lib");
    repository.commit({}, "with a library");
    const { path: tree } = await repository.workspace("fix");
    const lib = path.join(tree, "lib");
    repository.write({ "l.txt": "changed\n" }, lib);
    expect((await refusal(home, ["workspace", "rm", "fix"])).error.candidates).toEqual([" M lib", " M lib/l.txt"]);
    await home.ok(["workspace", "rm", "fix", "--force"]);
    expect(existsSync(tree)).toBe(false);
    await home.ok(["workspace", "recover", "fix"]);
    expect(readFileSync(path.join(lib, "l.txt"), "utf8")).toBe("changed\n");
  });

  test("the next daemon completes a removal that a daemon kill interrupted, and first saves later changes", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { id, path: tree } = await repository.workspace("fix");
    repository.write({ "new.txt": "one\n" }, tree);
    // Killed before the event: nothing is removed.
    const early = wrappedGit(home, { command: "update-ref refs/holdfast/removed/", after: killDaemon(home) });
    expect((await home.cli(["workspace", "rm", "fix", "--force"], { env: early })).code).not.toBe(0);
    expect(await show(home, "fix")).toMatchObject({ removedAt: null, dirty: true });
    // Killed after the event: the next daemon completes the removal.
    const late = wrappedGit(home, { command: "worktree remove", before: killDaemon(home) });
    expect((await home.cli(["workspace", "rm", "fix", "--force"], { env: late })).code).not.toBe(0);
    expect((await show(home, "fix")).removedAt).not.toBeNull();
    await eventually(() => !existsSync(path.dirname(tree)));
    expect(branches(repository)).toEqual(["main"]);
    expect(repository.git("show", `refs/holdfast/removed/${id}:new.txt`)).toBe("one");

    // The directory is still complete, and has changed since it was saved.
    const spec = (await home.json<RecoverOutcome>(["workspace", "recover", "fix"])).workspace;
    const file = readFileSync(path.join(path.dirname(tree), "workspace.json"), "utf8");
    await home.ok(["workspace", "rm", "fix", "--force"]);
    await home.ok(["down"]);
    repository.git("worktree", "add", "--quiet", "-b", spec.branch ?? "", tree, "main");
    writeFileSync(path.join(path.dirname(tree), "workspace.json"), file);
    repository.write({ "new.txt": "two\n" }, tree);
    await home.ok(["workspace", "ls"]);
    await eventually(() => !existsSync(path.dirname(tree)));
    await home.ok(["workspace", "recover", "fix"]);
    expect(readFileSync(path.join(tree, "new.txt"), "utf8")).toBe("two\n");
  });
});

describe("recover", () => {
  test("recover restores the branch, staged and unstaged changes, new files and copied files, and notes that ignored files are not kept (CAVE-02 workspaces)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, { "a.txt": "one\n", ".gitignore": ".env\n*.log\n" });
    repository.write({ ".env": "KEY=1\n" });
    const { id, path: tree, portBase } = await repository.workspace("fix");
    repository.commit({ "b.txt": "b\n" }, "second", tree);
    repository.write({ "a.txt": "staged\n" }, tree);
    repository.gitIn(tree, "add", "a.txt");
    repository.write({ "b.txt": "unstaged\n", "new.txt": "n\n", "x.log": "l\n" }, tree);
    const before = repository.gitIn(tree, "status", "--porcelain", "--branch");
    await home.ok(["workspace", "rm", "fix", "--force"]);
    const { stdout, stderr } = await home.cli(["workspace", "recover", "fix"]);
    expect([stdout, stderr]).toEqual([`${tree}\n`, expect.stringMatching(/^note: files that git ignores are not kept/)]);
    expect(repository.gitIn(tree, "status", "--porcelain", "--branch")).toBe(before);
    expect(readFileSync(path.join(tree, ".env"), "utf8")).toBe("KEY=1\n");
    expect(existsSync(path.join(tree, "x.log"))).toBe(false);
    expect(await show(home, "fix")).toMatchObject({ id, branch: "holdfast/fix", portBase, removedAt: null, recoveryRef: null, ahead: 1 });
    expect(await events(home, "workspace.recovered")).toMatchObject([{ id, name: "fix", branch: "holdfast/fix", path: tree }]);
    // The recovered workspace works like any other: it survives a daemon kill, takes sessions and can be removed again.
    await home.killDaemon();
    const inside = await home.json<Session>(["run", "--workspace", "fix", "--", "true"]);
    expect(inside.cwd).toBe(tree);
    await home.ok(["workspace", "rm", "fix", "--force"]);
    await home.ok(["workspace", "recover", id]);
    expect(repository.gitIn(tree, "status", "--porcelain", "--branch")).toBe(before);
  });

  test("recover reports that the name or branch is taken, and uses another one", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { id, path: tree, portBase } = await repository.workspace("fix");
    const tip = repository.commit({ "b.txt": "b\n" }, "second", tree);
    await home.ok(["workspace", "rm", "fix", "--force"]);
    await repository.workspace("fix");
    for (const ref of ["fix", id]) {
      const { code, error } = await refusal(home, ["workspace", "recover", ref]);
      expect([code, error.code, error.hint]).toEqual([5, "name_taken", expect.stringContaining(`recover ${id} --name`)]);
    }
    const { workspace, notes } = await home.json<RecoverOutcome>(["workspace", "recover", id, "--name", "fix-again"]);
    expect(workspace).toMatchObject({ id, name: "fix-again", branch: "holdfast/fix-recovered", ownBranch: true });
    expect(workspace.portBase).not.toBe(portBase);
    expect(notes[0]).toMatch(/its branch is holdfast\/fix-recovered: holdfast\/fix is checked out in/);
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(tip);
  });

  test("a workspace whose directory was deleted is recovered from its branch; an existing one is left alone", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    const tip = repository.commit({ "b.txt": "b\n" }, "second", tree);
    expect(await refusal(home, ["workspace", "recover", "fix"])).toMatchObject({
      code: 5,
      error: { message: expect.stringContaining("exists") },
    });
    rmSync(tree, { recursive: true });
    await home.ok(["workspace", "recover", "fix"]);
    expect(repository.gitIn(tree, "rev-parse", "HEAD")).toBe(tip);
    expect(repository.gitIn(tree, "status", "--porcelain", "--branch")).toBe("## holdfast/fix");
  });

  test("after a daemon kill during recover the workspace is still removed, and the next recover succeeds", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    repository.write({ "new.txt": "n\n" }, tree);
    await home.ok(["workspace", "rm", "fix", "--force"]);
    const env = wrappedGit(home, { command: "read-tree --reset", before: killDaemon(home) });
    expect((await home.cli(["workspace", "recover", "fix"], { env })).code).not.toBe(0);
    expect((await show(home, "fix")).removedAt).not.toBeNull();
    await eventually(() => !existsSync(path.dirname(tree)));
    expect(branches(repository)).toEqual(["main"]);
    await home.ok(["workspace", "recover", "fix"]);
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("?? new.txt");
  });
});

describe("gc", () => {
  test("finds merged, orphaned and old workspaces with reasons; removes nothing without --yes, and none with a session or unsaved work", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const names = ["merged", "squashed", "dirty", "lived", "unmerged", "fresh", "gone", "gone-with-work", "old"];
    const trees = new Map<string, string>();
    for (const name of names) trees.set(name, (await repository.workspace(name)).path);
    const tree = (name: string) => trees.get(name) ?? "";
    for (const name of ["merged", "squashed", "dirty", "lived", "unmerged", "gone-with-work"]) {
      repository.commit({ [`${name}.txt`]: "1\n" }, `${name} 1`, tree(name));
      repository.commit({ [`${name}.txt`]: "2\n" }, `${name} 2`, tree(name));
    }
    for (const name of ["merged", "squashed", "dirty", "lived"]) await home.ok(["workspace", "merge", name, "--squash"]);
    repository.write({ "left.txt": "x\n" }, tree("dirty"));
    await home.ok(["run", "--workspace", "lived", "--name", "inside", "--", "sleep", "1000"]);
    for (const name of ["gone", "gone-with-work"]) rmSync(tree(name), { recursive: true });
    await home.ok(["workspace", "rm", "old"]);
    const unknown = path.join(home.path, "workspaces/nobodys");
    mkdirSync(unknown);
    mkdirSync(path.join(home.path, "workspaces/precious"));
    writeFileSync(path.join(home.path, "workspaces/precious/notes.txt"), "");

    const refs = () => repository.git("for-each-ref");
    const before = refs();
    const found = await home.json<CollectOutcome>(["workspace", "gc", "--older-than", "0s"]);
    const pairs = (some: CollectOutcome["removed"]) => some.map(({ kind, what }) => `${kind} ${path.basename(what)}`).toSorted();
    const old = (await show(home, "old")).id;
    const going = ["gone gone", "merged merged", "merged squashed", `recovery ${old}`, "unknown nobodys"];
    expect(found.dryRun).toBe(true);
    expect(pairs(found.removed)).toEqual(going);
    expect(pairs(found.kept)).toEqual(["gone gone-with-work", "merged dirty", "merged lived", "unknown precious"]);
    expect(refs()).toBe(before);
    const text = await home.ok(["workspace", "gc"]);
    expect(text).toMatch(/ {2}merged: main has all of its commits\n/);
    expect(text).toMatch(/Kept:\n[\s\S]* {2}lived: .* but it has 1 session in it: inside\n/);

    const done = await home.json<CollectOutcome>(["workspace", "gc", "--older-than", "0s", "--yes"]);
    expect(pairs(done.removed)).toEqual(going);
    const left = (await home.json<Workspace[]>(["workspace", "ls"])).map(({ name }) => name);
    expect(left).toEqual(["dirty", "lived", "unmerged", "fresh", "gone-with-work"]);
    expect([existsSync(unknown), existsSync(path.join(home.path, "workspaces/precious/notes.txt"))]).toEqual([false, true]);
    expect(repository.git("log", "-1", "--format=%s", "holdfast/gone-with-work")).toBe("gone-with-work 2");
    // A workspace removed now can be recovered; an old one cannot, and the error says so.
    await home.ok(["workspace", "recover", "merged"]);
    expect((await refusal(home, ["workspace", "recover", "old"])).error.message).toBe("nothing of old is left to recover");
    expect(await events(home, "workspace.forgotten")).toMatchObject([{ name: "old" }]);
  });

  test("keeps a workspace that is being created, and an unknown directory with a Working Context", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { id, path: tree } = await repository.workspace("fix");
    const directory = path.dirname(tree);
    const stray = (name: string) => path.join(path.dirname(directory), name);
    for (const name of ["making2ab", "written2ab", "empty2ab"]) {
      repository.git("worktree", "add", "--quiet", "--detach", path.join(stray(name), "app"));
    }
    const spec = readFileSync(path.join(directory, "workspace.json"), "utf8").replaceAll(id, "making2abc");
    renameSync(stray("making2ab"), stray("making2abc"));
    writeFileSync(path.join(stray("making2abc"), "workspace.json"), spec.replace('"making": false', '"making": true'));
    repository.git("worktree", "repair", path.join(stray("making2abc"), "app"));
    await home.ok(["context", "edit", "plan"], {
      cwd: path.join(stray("written2ab"), "app"),
      env: { EDITOR: `sh -c 'echo step >> "$0"'` },
    });
    const { removed, kept } = await home.json<CollectOutcome>(["workspace", "gc", "--yes"]);
    expect(removed).toMatchObject([{ kind: "unknown", what: stray("empty2ab") }]);
    expect(kept.map(({ what, why }) => [what, why])).toEqual([
      [stray("making2abc"), expect.stringContaining("is being created")],
      [stray("written2ab"), expect.stringContaining("Working Context")],
    ]);
    expect(existsSync(path.join(stray("making2abc"), "app/a.txt"))).toBe(true);
  });

  test("removes git's entries of Holdfast's missing worktrees, and no others", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    const stray = path.join(path.dirname(path.dirname(tree)), "stray/app-stray");
    const own = path.join(home.root, "own");
    for (const each of [stray, own]) {
      repository.git("worktree", "add", "--quiet", "--detach", each);
      rmSync(path.dirname(each) === home.root ? each : path.dirname(each), { recursive: true });
    }
    const { removed } = await home.json<CollectOutcome>(["workspace", "gc", "--yes"]);
    expect(removed).toMatchObject([{ kind: "entry", what: stray }]);
    const listed = repository.git("worktree", "list");
    expect([listed.includes(stray), listed.includes(own), listed.includes(tree)]).toEqual([false, true, true]);
  });
});
