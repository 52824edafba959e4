import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint, WorkspaceId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type Scratch, scratchRepository } from "../../../test/scratch-repository.ts";
import { createCheckpoint, listCheckpoints, type Place } from "./checkpoints.ts";
import { rewind } from "./rewind.ts";

const WORKSPACE = "workspaceq" as WorkspaceId;

function placeOf(repository: Scratch): Place {
  return { workspace: WORKSPACE, worktree: repository.path, env: repository.env };
}

const checkpoint = (repository: Scratch): Promise<Checkpoint> => createCheckpoint(placeOf(repository), { why: "asked" });

/** All files on disk except `.git`, with modes and contents. */
function onDisk(repository: Scratch): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(repository.path, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(repository.path.length + 1);
    if (name === ".git" || name.startsWith(".git/") || entry.isDirectory()) continue;
    found[name] = entry.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : `${(statSync(path).mode & 0o100) === 0 ? "" : "x "}${readFileSync(path, "latin1")}`;
  }
  return found;
}

function head(repository: Scratch): { branch: string; commit: string } {
  return { branch: repository.git("rev-parse", "--abbrev-ref", "HEAD"), commit: repository.git("rev-parse", "HEAD") };
}

const staged = (repository: Scratch) => repository.git("diff", "--cached", "--name-only");

/** An agent's turn with all kinds of changes, some of them committed. */
function work(repository: Scratch): void {
  repository.write("changed.txt", "later\n");
  repository.remove("gone.txt");
  repository.write("committed.txt", "c\n");
  repository.commit("an agent's commit");
  repository.write("new/deep.txt", "n\n");
  repository.write("becomes-file", "f\n");
  repository.remove("becomes-directory");
  repository.write("becomes-directory/inside.txt", "i\n");
  repository.remove("link");
  symlinkSync("elsewhere", join(repository.path, "link"));
  chmodSync(join(repository.path, "run.sh"), 0o644);
  repository.remove("untracked.txt");
  repository.write("noise.log", "later\n");
  repository.write("staged.txt", "s\n");
  repository.git("add", "staged.txt");
}

function begin(): Scratch {
  const repository = scratchRepository();
  repository.write(".gitignore", "*.log\n");
  repository.write("changed.txt", "committed\n");
  repository.write("gone.txt", "g\n");
  repository.write("becomes-directory", "was a file\n");
  repository.write("run.sh", "#!/bin/sh\n");
  chmodSync(join(repository.path, "run.sh"), 0o755);
  symlinkSync("nowhere", join(repository.path, "link"));
  repository.commit("first");
  repository.write("changed.txt", "uncommitted\n");
  repository.write("untracked.txt", "u\n");
  repository.write('odd "\n name', "o\n");
  repository.write("noise.log", "earlier\n");
  return repository;
}

test("a rewind restores files and branch exactly, leaves ignored files, stages nothing, and can be undone", async () => {
  using repository = begin();
  const wasThere = onDisk(repository);
  const wasHead = head(repository);
  const first = await checkpoint(repository);
  work(repository);
  const thenThere = onDisk(repository);
  const thenHead = head(repository);

  const before = await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ ...wasThere, "noise.log": "later\n" });
  expect(head(repository)).toEqual(wasHead);
  expect(staged(repository)).toBe("");
  expect(repository.git("reflog", "-1", "--format=%gs", "main")).toBe("holdfast: rewind to checkpoint 1");
  expect(repository.git("reflog", "-1", "--format=%gs", "HEAD")).toBe("holdfast: rewind to checkpoint 1");
  expect(repository.git("status", "--porcelain").split("\n")).toEqual([" M changed.txt", '?? "odd \\"\\n name"', "?? untracked.txt"]);
  expect(before).toMatchObject({ number: 2, why: "rewind", head: thenHead.commit, branch: "main" });

  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toEqual(thenThere);
  expect(head(repository)).toEqual(thenHead);
  expect(staged(repository)).toBe("");
});

test("with filesOnly the branch does not move", async () => {
  using repository = begin();
  const wasThere = onDisk(repository);
  const first = await checkpoint(repository);
  work(repository);
  const thenHead = head(repository);
  await rewind(placeOf(repository), first, { filesOnly: true });
  expect(onDisk(repository)).toEqual({ ...wasThere, "noise.log": "later\n" });
  expect(head(repository)).toEqual(thenHead);
  expect(staged(repository)).toBe("");
});

test("a rewind checks out the branch or detached head of that time, and loses no commit", async () => {
  using repository = begin();
  const onMain = await checkpoint(repository);
  repository.git("checkout", "--quiet", "--detach");
  const detached = await checkpoint(repository);
  repository.git("checkout", "--quiet", "main");
  const ahead = repository.commit("main goes on");
  repository.git("checkout", "--quiet", "-b", "topic", onMain.head ?? "");
  const topic = repository.commit("topic goes on");

  await rewind(placeOf(repository), onMain);
  expect(head(repository)).toEqual({ branch: "main", commit: onMain.head });
  expect(repository.git("rev-parse", "topic")).toBe(topic);
  repository.git("reflog", "expire", "--expire=now", "--all");
  repository.git("branch", "--quiet", "-D", "topic");
  repository.git("gc", "--quiet", "--prune=now");
  expect(repository.git("cat-file", "-t", ahead)).toBe("commit");
  expect(repository.git("cat-file", "-t", topic)).toBe("commit");

  await rewind(placeOf(repository), detached);
  expect(head(repository)).toEqual({ branch: "HEAD", commit: detached.head });
  await rewind(placeOf(repository), onMain);
  expect(head(repository)).toEqual({ branch: "main", commit: onMain.head });
});

test("a rewind to the oldest checkpoint works and keeps that checkpoint", async () => {
  using repository = begin();
  const first = await checkpoint(repository);
  const wasThere = onDisk(repository);
  work(repository);
  const before = await rewind(placeOf(repository), first, { keep: 1 });
  expect(onDisk(repository)).toEqual({ ...wasThere, "noise.log": "later\n" });
  const numbers = (await listCheckpoints(repository.path, WORKSPACE, repository.env)).map(({ number }) => number);
  expect(numbers).toEqual([first.number, before.number]);
});

test("a branch that cannot be moved is reported with a remedy", async () => {
  using repository = begin();
  const first = await checkpoint(repository);
  work(repository);
  repository.write(".git/refs/heads/main.lock", "");
  await expect(rewind(placeOf(repository), first)).rejects.toMatchObject({
    code: "git_failed",
    message: expect.stringContaining("the files are those of checkpoint 1"),
    hint: expect.stringContaining("checkpoint 2"),
  });
  repository.remove(".git/refs/heads/main.lock");
  await rewind(placeOf(repository), first);
  expect(head(repository).commit).toBe(first.head);
});

test("a rewind to before the first commit works, and so does the way forward", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  const unborn = await checkpoint(repository);
  const first = repository.commit("first");
  repository.write("b.txt", "b");
  const before = await rewind(placeOf(repository), unborn);
  expect(onDisk(repository)).toEqual({ "a.txt": "a" });
  expect(repository.git("status", "--porcelain=v2", "--branch")).toContain("branch.oid (initial)");
  expect(repository.git("status", "--porcelain")).toBe("?? a.txt");
  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toEqual({ "a.txt": "a", "b.txt": "b" });
  expect(head(repository)).toEqual({ branch: "main", commit: first });
  await rewind(placeOf(repository), unborn);
  await rewind(placeOf(repository), unborn);
  expect(onDisk(repository)).toEqual({ "a.txt": "a" });
});

test("now-ignored files in the place of the checkpoint's files are saved first", async () => {
  using repository = scratchRepository();
  repository.commit("first");
  repository.write("build/out.txt", "then");
  repository.write("was/directory.txt", "then");
  const first = await checkpoint(repository);
  repository.write(".gitignore", "build\nwas\n");
  repository.remove("was");
  repository.write("was", "a file now");
  repository.write("build/out.txt", "now");
  repository.write("build/other.txt", "ignored");
  const before = await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ "build/out.txt": "then", "was/directory.txt": "then", "build/other.txt": "ignored" });
  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toMatchObject({ "build/out.txt": "now", was: "a file now", "build/other.txt": "ignored" });
});

test("packages that a later turn installed and ignored survive the rewind and the way forward", async () => {
  using repository = scratchRepository();
  repository.write("app/main.js", "1");
  repository.commit("first");
  const first = await checkpoint(repository);
  repository.write("app/.gitignore", "node_modules/\n");
  repository.write("app/node_modules/x/index.js", "x");
  repository.write("app/new.js", "n");
  const before = await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ "app/main.js": "1", "app/node_modules/x/index.js": "x" });
  repository.write("app/other.js", "o");
  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toEqual({
    "app/main.js": "1",
    "app/node_modules/x/index.js": "x",
    "app/.gitignore": "node_modules/\n",
    "app/new.js": "n",
  });
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe("?? app/.gitignore\n?? app/new.js");
});

test("a file that a rewind brought is removed again on the way back, even if ignored there", async () => {
  using repository = scratchRepository();
  repository.write("c.log", "kept");
  repository.commit("first");
  const first = await checkpoint(repository);
  repository.remove("c.log");
  repository.write(".gitignore", "*.log\n");
  const there = onDisk(repository);
  const before = await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ "c.log": "kept" });
  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toEqual(there);
});

test("a committed file that was deleted at the checkpoint is removed again, even if ignored there", async () => {
  using repository = scratchRepository();
  repository.write("c.log", "committed");
  repository.commit("first");
  repository.remove("c.log");
  repository.write(".gitignore", "*.log\n");
  const first = await checkpoint(repository);
  repository.remove(".gitignore");
  repository.write("c.log", "back");
  await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ ".gitignore": "*.log\n" });
});

test("large new files and nested repositories stay, because no checkpoint has them", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  repository.commit("first");
  const first = await checkpoint(repository);
  repository.write("large.bin", "l".repeat(200));
  repository.write("small.bin", "s");
  mkdirSync(join(repository.path, "within"));
  spawnSync("git", ["init", "--quiet"], { cwd: join(repository.path, "within"), env: repository.env as Record<string, string> });
  repository.write("within/file.txt", "w");
  const before = await rewind(placeOf(repository), first, { largeFile: 100 });
  expect(before.leftOut.map(({ path }) => path)).toEqual(["large.bin", "within/"]);
  expect(existsSync(join(repository.path, "small.bin"))).toBe(false);
  expect(existsSync(join(repository.path, "large.bin"))).toBe(true);
  expect(existsSync(join(repository.path, "within/file.txt"))).toBe(true);
});

test("a directory of ignored files in the place of a checkpoint's file is refused, and nothing changes", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "a");
  repository.commit("first");
  symlinkSync("/nowhere", join(repository.path, "modules"));
  const first = await checkpoint(repository);
  repository.write(".gitignore", "modules/\n");
  repository.remove("modules");
  repository.write("modules/x.js", "x");
  repository.write("a.txt", "b");
  const there = onDisk(repository);
  await expect(rewind(placeOf(repository), first)).rejects.toMatchObject({
    code: "rewind_refused",
    message: expect.stringContaining("modules is a directory"),
  });
  expect(onDisk(repository)).toEqual(there);
});

test("a rewind is refused during a merge, while git runs, and if the branch is checked out elsewhere", async () => {
  using repository = begin();
  const first = await checkpoint(repository);
  const refused = async () => {
    const there = [onDisk(repository), repository.git("rev-parse", "--all")];
    await expect(rewind(placeOf(repository), first)).rejects.toMatchObject({ code: "rewind_refused", hint: expect.any(String) });
    expect([onDisk(repository), repository.git("rev-parse", "--all")]).toEqual(there);
  };
  repository.write(".git/index.lock", "");
  await refused();
  repository.remove(".git/index.lock");
  repository.commit("all");
  repository.git("checkout", "--quiet", "-b", "other", "HEAD~1");
  repository.write("changed.txt", "conflict\n");
  repository.commit("conflict");
  expect(() => repository.git("merge", "main")).toThrow();
  await refused();
  repository.git("merge", "--abort");
  repository.git("worktree", "add", "--quiet", join(repository.directory, "linked"), "main");
  await refused();
  await rewind(placeOf(repository), first, { filesOnly: true });
  expect(head(repository).branch).toBe("other");
});

test("a missing filter does not prevent a rewind", async () => {
  using repository = scratchRepository();
  repository.write(".gitattributes", "*.bin filter=lfs\n");
  for (const name of ["a.txt", "m.bin", "z.txt"]) repository.write(name, "then");
  repository.commit("first");
  const first = await checkpoint(repository);
  for (const name of ["a.txt", "m.bin", "z.txt"]) repository.write(name, "now");
  for (const what of ["clean", "smudge", "process"]) repository.git("config", "--global", `filter.lfs.${what}`, "no-such-program");
  repository.git("config", "--global", "filter.lfs.required", "true");
  const before = await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toMatchObject({ "a.txt": "then", "m.bin": "then", "z.txt": "then" });
  await rewind(placeOf(repository), before);
  expect(onDisk(repository)).toMatchObject({ "a.txt": "now", "m.bin": "now", "z.txt": "now" });
});

test("Windows line endings are restored where git makes them", async () => {
  using repository = scratchRepository();
  repository.git("config", "core.autocrlf", "true");
  repository.write("a.txt", "one\r\ntwo\r\n");
  repository.commit("first");
  repository.write("new.txt", "new\r\n");
  const first = await checkpoint(repository);
  repository.write("a.txt", "other\r\n");
  repository.remove("new.txt");
  await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ "a.txt": "one\r\ntwo\r\n", "new.txt": "new\r\n" });
  expect(repository.git("status", "--porcelain")).toBe("?? new.txt");
});

/** A git wrapper that kills its caller at the first command with these words, after the command or in the middle of it. */
function deadlyGit(repository: Scratch, { words, middle }: { words: string; middle?: string }): string {
  const directory = join(repository.directory, "deadly");
  mkdirSync(directory, { recursive: true });
  const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
  const script = `#!/bin/sh\ncase " $* " in *" ${words} "*) ${middle ?? `'${real}' "$@"`}; kill -9 $PPID; exit 1;; esac\nexec '${real}' "$@"\n`;
  writeFileSync(join(directory, "git"), script, { mode: 0o755 });
  return directory;
}

test.each([
  { step: "it wrote what was there", words: "commit-tree" },
  { step: "that was a checkpoint", words: `update-ref refs/holdfast/checkpoints/${WORKSPACE}/2` },
  { step: "some files were written", words: "read-tree -m -u", middle: "printf later > changed.txt; rm -rf becomes-directory new" },
  { step: "all files were written", words: "read-tree -m -u" },
  { step: "the branch was moved", words: "update-ref -m" },
  { step: "the branch was checked out", words: "symbolic-ref -m" },
  { step: "nothing was staged", words: "read-tree --reset" },
])("a rewind killed when $step is completed by a second rewind, and the earlier state can be restored", async (death) => {
  using repository = begin();
  const wasThere = onDisk(repository);
  const wasHead = head(repository);
  const first = await checkpoint(repository);
  work(repository);
  repository.git("checkout", "--quiet", "-b", "topic");
  const thenThere = onDisk(repository);
  const thenHead = head(repository);
  const program = `const { rewind } = await import(${JSON.stringify(join(import.meta.dirname, "rewind.ts"))}); await rewind(...JSON.parse(process.argv[1]));`;
  const env = { ...repository.env, PATH: `${deadlyGit(repository, death)}:${repository.env.PATH}` };
  const killed = spawnSync(process.execPath, [
    "--input-type=module",
    "-e",
    program,
    JSON.stringify([{ ...placeOf(repository), env }, first]),
  ]);
  expect(killed.signal, String(killed.stderr)).toBe("SIGKILL");

  await rewind(placeOf(repository), first);
  expect(onDisk(repository)).toEqual({ ...wasThere, "noise.log": "later\n" });
  expect(head(repository)).toEqual(wasHead);
  expect(staged(repository)).toBe("");
  const before = (await listCheckpoints(repository.path, WORKSPACE, repository.env)).find(({ why }) => why === "rewind");
  await rewind(placeOf(repository), before as Checkpoint);
  expect(onDisk(repository)).toEqual(thenThere);
  expect(head(repository)).toEqual(thenHead);
});

test("a commit made during a rewind stays on its branch and is reported; the next rewind moves the branch and keeps the commit", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "one\n");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "-m", "first");
  const first = await checkpoint(repository);
  repository.write("a.txt", "two\n");
  repository.git("commit", "--quiet", "--all", "-m", "second");
  // A git wrapper that makes one foreign commit right after the files are in place.
  const directory = join(repository.path, ".git", "wrapped");
  mkdirSync(directory);
  const real = spawnSync("sh", ["-c", "command -v git"], { env: repository.env, encoding: "utf8" }).stdout.trim();
  writeFileSync(join(directory, "once"), "");
  writeFileSync(
    join(directory, "git"),
    `#!/bin/sh\n${real} "$@" || exit\ncase "$*" in *"read-tree -m -u"*) rm ${directory}/once 2>/dev/null && env -u GIT_INDEX_FILE ${real} commit --quiet --allow-empty -m theirs;; esac\nexit 0\n`,
  );
  chmodSync(join(directory, "git"), 0o755);
  const place = { ...placeOf(repository), env: { ...repository.env, PATH: `${directory}:${repository.env.PATH}` } };
  await expect(rewind(place, first)).rejects.toThrow("another commit was made at the same moment");
  expect(repository.git("log", "-1", "--format=%s")).toBe("theirs");
  const theirs = head(repository).commit;
  const before = await rewind(placeOf(repository), first);
  expect(head(repository).commit).toBe(first.head);
  expect(repository.git("merge-base", theirs, before.commit)).toBe(theirs);
});
