import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Scratch, scratchRepository } from "../../../test/scratch-repository.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";

function take(repository: Scratch, largeFile?: number): Promise<Snapshot> {
  return takeSnapshot(repository.path, { env: repository.env, message: "kept", ...(largeFile === undefined ? {} : { largeFile }) });
}

/** Maps paths to mode and contents. */
function files(repository: Scratch, commit: string): Record<string, string> {
  const list = execFileSync("git", ["ls-tree", "-r", "-z", commit], { cwd: repository.path, encoding: "latin1" })
    .split("\0")
    .filter(Boolean);
  return Object.fromEntries(
    list.map((line) => {
      const [, mode, type, object = "", path] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
      return [path, `${mode} ${type === "blob" ? repository.git("cat-file", "blob", object) : type}`];
    }),
  );
}

/** Everything that a snapshot must not change. */
function untouched(repository: Scratch): unknown {
  const git = join(repository.path, ".git");
  return {
    index: readFileSync(join(git, "index")).toString("base64"),
    indexTime: statSync(join(git, "index")).mtimeMs,
    refs: repository.git("for-each-ref"),
    head: readFileSync(join(git, "HEAD"), "utf8"),
    reflog: repository.git("reflog", "--all"),
    stash: repository.git("stash", "list"),
    status: repository.git("--no-optional-locks", "status", "--porcelain"),
    files: readdirSync(git).sort(),
  };
}

test("a snapshot has changes, deletions and new files but no ignored ones, and leaves branch, index and stash unchanged", async () => {
  using repository = scratchRepository();
  repository.write("kept.txt", "same\n");
  repository.write("changed.txt", "old\n");
  repository.write("gone.txt", "gone\n");
  repository.write("staged.txt", "old\n");
  repository.write(".gitignore", "*.log\n");
  const head = repository.commit("first");
  repository.write("stashed.txt", "x");
  repository.git("stash", "--include-untracked");
  repository.write("changed.txt", "new\n");
  repository.remove("gone.txt");
  repository.write("staged.txt", "staged\n");
  repository.git("add", "staged.txt");
  repository.write("staged.txt", "after\n");
  repository.write("deep/er/new.txt", "new file\n");
  repository.write("noise.log", "noise\n");
  const before = untouched(repository);

  const snapshot = await take(repository);

  expect(untouched(repository)).toEqual(before);
  expect(files(repository, snapshot.commit)).toEqual({
    "kept.txt": "100644 same",
    "changed.txt": "100644 new",
    "staged.txt": "100644 after",
    ".gitignore": "100644 *.log",
    "deep/er/new.txt": "100644 new file",
  });
  expect(snapshot).toMatchObject({ head, branch: "main", leftOut: [], tree: repository.git("rev-parse", `${snapshot.commit}^{tree}`) });
  expect(repository.git("log", "-1", "--format=%P|%an|%ce|%s", snapshot.commit)).toBe(`${head}|Holdfast|holdfast@localhost|kept`);
});

test("a file that changed at the moment the index was written is noticed", async () => {
  using repository = scratchRepository();
  const at = 1_700_000_000;
  const file = join(repository.path, "a.txt");
  const index = join(repository.path, ".git/index");
  repository.git("config", "core.trustctime", "false");
  repository.write("a.txt", "one\n");
  utimesSync(file, at, at);
  repository.commit("first");
  utimesSync(index, at, at);
  repository.write("a.txt", "two\n");
  utimesSync(file, at, at);
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({ "a.txt": "100644 two" });
});

test("unusual names, symbolic links and the executable bit are kept", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  repository.write('new\nline "quoted" \\ ü', "1");
  repository.write(":(exclude)magic", "2");
  repository.write("-dash", "3");
  writeFileSync(Buffer.concat([Buffer.from(`${repository.path}/`), Buffer.from([0x6e, 0xff, 0xfe])]), "4");
  repository.write("run.sh", "5");
  chmodSync(join(repository.path, "run.sh"), 0o755);
  symlinkSync("nowhere", join(repository.path, "link"));
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({
    [Buffer.from('new\nline "quoted" \\ ü').toString("latin1")]: "100644 1",
    ":(exclude)magic": "100644 2",
    "-dash": "100644 3",
    "n\u00ff\u00fe": "100644 4",
    "run.sh": "100755 5",
    link: "120000 nowhere",
  });
});

test("new files above the limit are left out and listed, whatever their names; tracked files of any size are kept", async () => {
  using repository = scratchRepository();
  repository.write("known.bin", "x");
  repository.commit("first");
  repository.write("known.bin", "y".repeat(200));
  repository.write("small.bin", "z");
  repository.write("*", "l".repeat(101));
  repository.write("deep/large\n.bin", "l".repeat(101));
  writeFileSync(Buffer.concat([Buffer.from(`${repository.path}/`), Buffer.from([0x6e, 0xff])]), "l".repeat(101));
  const snapshot = await take(repository, 100);
  expect(Object.keys(files(repository, snapshot.commit)).sort()).toEqual(["known.bin", "small.bin"]);
  expect(snapshot.leftOut.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
    { path: "*", why: "large" },
    { path: "deep/large\n.bin", why: "large" },
    { path: "n\ufffd", why: "large" },
  ]);
});

test("unreadable files are listed, and the rest is kept", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  repository.commit("first");
  repository.remove("a.txt");
  execFileSync("mkfifo", [join(repository.path, "a.txt"), join(repository.path, "new")]);
  repository.write("b.txt", "b");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({ "a.txt": "100644 a", "b.txt": "100644 b" });
  expect(snapshot.leftOut).toEqual([{ path: "a.txt", why: "unreadable" }]);
});

test("files marked assume-unchanged are checked anyway, and stay marked", async () => {
  using repository = scratchRepository();
  repository.write("local.ini", "theirs");
  repository.commit("first");
  repository.git("update-index", "--assume-unchanged", "local.ini");
  repository.write("local.ini", "mine");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({ "local.ini": "100644 mine" });
  expect(repository.git("ls-files", "-v")).toBe("h local.ini");
});

test("an agent's index.lock does not block a snapshot and stays", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  repository.commit("first");
  repository.write("b.txt", "b");
  repository.write(".git/index.lock", "");
  const snapshot = await take(repository);
  expect(Object.keys(files(repository, snapshot.commit))).toEqual(["a.txt", "b.txt"]);
  expect(existsSync(join(repository.path, ".git/index.lock"))).toBe(true);
});

test("a snapshot has no parent before the first commit, no branch with a detached head, and works without an index", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  const unborn = await take(repository);
  expect(unborn).toMatchObject({ head: null, branch: "main" });
  expect(files(repository, unborn.commit)).toEqual({ "a.txt": "100644 a" });
  expect(repository.git("log", "-1", "--format=%P", unborn.commit)).toBe("");

  repository.write(".gitignore", "a.txt\n");
  repository.git("add", "--force", "a.txt");
  const head = repository.commit("first");
  repository.git("checkout", "--quiet", "--detach");
  repository.remove(".git/index");
  const detached = await take(repository);
  expect(detached).toMatchObject({ head, branch: null });
  expect(files(repository, detached.commit)).toEqual({ "a.txt": "100644 a", ".gitignore": "100644 a.txt" });
  expect(existsSync(join(repository.path, ".git/index"))).toBe(false);
});

test("during a merge the files are kept with their conflict markers, and the merge can continue", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "base\n");
  repository.write("b.txt", "base\n");
  repository.commit("first");
  repository.git("checkout", "--quiet", "-b", "other");
  repository.write("a.txt", "other\n");
  repository.remove("b.txt");
  repository.commit("other");
  repository.git("checkout", "--quiet", "main");
  repository.write("a.txt", "main\n");
  repository.write("b.txt", "main\n");
  repository.commit("main");
  expect(() => repository.git("merge", "other")).toThrow();
  const before = untouched(repository);
  const snapshot = await take(repository);
  expect(untouched(repository)).toEqual(before);
  expect(files(repository, snapshot.commit)["a.txt"]).toContain("<<<<<<<");
  expect(files(repository, snapshot.commit)["b.txt"]).toBe("100644 main");
});

test("nested repositories, with and without a commit, and changes in submodules are left out and listed", async () => {
  using repository = scratchRepository();
  using library = scratchRepository();
  library.write("lib.txt", "1");
  library.commit("lib");
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.path, "sub mod");
  repository.commit("first");
  for (const name of ["clone", "empty"]) {
    mkdirSync(join(repository.path, name));
    execFileSync("git", ["init", "--quiet"], { cwd: join(repository.path, name), env: repository.env });
  }
  repository.write("clone/x.txt", "x");
  execFileSync("git", ["add", "."], { cwd: join(repository.path, "clone"), env: repository.env });
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "x"], {
    cwd: join(repository.path, "clone"),
    env: repository.env,
  });
  const clean = await take(repository);
  expect(clean.leftOut).toEqual([
    { path: "clone/", why: "repository" },
    { path: "empty/", why: "repository" },
  ]);
  repository.write("sub mod/lib.txt", "2");
  repository.write("beside.txt", "b");
  const snapshot = await take(repository);
  expect(snapshot.leftOut.at(-1)).toEqual({ path: "sub mod", why: "repository" });
  expect(Object.keys(files(repository, snapshot.commit)).sort()).toEqual([".gitmodules", "beside.txt", "sub mod"]);
});

test("if a configured filter is missing, the files are kept unfiltered", async () => {
  using repository = scratchRepository();
  repository.write(".gitattributes", "*.bin filter=lfs\n");
  repository.commit("first");
  repository.git("config", "--global", "filter.lfs.clean", "no-such-program clean -- %f");
  repository.git("config", "--global", "filter.lfs.process", "no-such-program filter-process");
  repository.git("config", "--global", "filter.lfs.required", "true");
  repository.write("large.bin", "contents");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({ ".gitattributes": "100644 *.bin filter=lfs", "large.bin": "100644 contents" });
});

test("a working filter is used as in any commit", async () => {
  using repository = scratchRepository();
  repository.write(".gitattributes", "*.txt filter=case\n");
  repository.commit("first");
  repository.git("config", "--global", "filter.case.clean", "tr a-z A-Z");
  repository.write("a.txt", "abc");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)["a.txt"]).toBe("100644 ABC");
});

test("mixed line endings are accepted, even if the repository's settings refuse them", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  repository.git("config", "core.autocrlf", "true");
  repository.git("config", "core.safecrlf", "true");
  repository.write("mixed.txt", "one\r\ntwo\n");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)["mixed.txt"]).toBe("100644 one\ntwo");
});

test("a snapshot runs no hook of the repository and needs no user name", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  repository.git("config", "--unset", "user.name");
  repository.git("config", "--unset", "user.email");
  repository.git("config", "user.useConfigOnly", "true");
  repository.git("config", "commit.gpgSign", "true");
  const said = join(repository.directory, "hooks-said");
  for (const hook of ["post-index-change", "reference-transaction", "pre-commit", "commit-msg", "fsmonitor"]) {
    repository.write(`.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> '${said}'\n`);
    chmodSync(join(repository.path, ".git/hooks", hook), 0o755);
  }
  repository.git("config", "core.fsmonitor", ".git/hooks/fsmonitor");
  repository.write("a.txt", "a");
  await take(repository);
  expect(existsSync(said)).toBe(false);
});

test("a linked worktree uses its own index and head, and the leftovers of a dead daemon are removed", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  repository.commit("first");
  const linked = join(repository.directory, "linked");
  repository.git("worktree", "add", "--quiet", "-b", "topic", linked);
  const left = join(repository.path, ".git/worktrees/linked/holdfast-index-left");
  mkdirSync(left);
  utimesSync(left, 1, 1);
  writeFileSync(join(linked, "b.txt"), "b");
  const snapshot = await takeSnapshot(linked, { env: repository.env, message: "kept" });
  expect(snapshot.branch).toBe("topic");
  expect(files(repository, snapshot.commit)).toEqual({ "a.txt": "100644 a", "b.txt": "100644 b" });
  expect(readdirSync(join(repository.path, ".git/worktrees/linked")).filter((name) => name.startsWith("holdfast"))).toEqual([]);
});

test("in a sparse checkout, absent files do not count as deleted, and files outside it are kept", async () => {
  using repository = scratchRepository();
  repository.write("in/a.txt", "a");
  repository.write("out/b.txt", "b");
  repository.commit("first");
  repository.git("sparse-checkout", "set", "in");
  expect(existsSync(join(repository.path, "out"))).toBe(false);
  repository.write("in/new.txt", "n");
  repository.write("out/new.txt", "n");
  const snapshot = await take(repository);
  expect(Object.keys(files(repository, snapshot.commit))).toEqual(["in/a.txt", "in/new.txt", "out/b.txt", "out/new.txt"]);
});

test.runIf(process.platform === "linux")("a submodule whose name is not UTF-8 stays as it was committed, and is listed", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  const script = `n=$(printf 'lib\\377') && mkdir "$n" && git -C "$n" init -q && git -C "$n" -c user.name=a -c user.email=a@b commit -q --allow-empty -m inner && git add "$n"`;
  execFileSync("sh", ["-ec", script], { cwd: repository.path, env: repository.env, stdio: "pipe" });
  repository.commit("first");
  const snapshot = await take(repository);
  expect(files(repository, snapshot.commit)).toEqual({ "a.txt": "100644 a", "lib\xff": "160000 commit" });
  expect(snapshot.leftOut).toEqual([{ path: "lib\ufffd", why: "repository" }]);
});
