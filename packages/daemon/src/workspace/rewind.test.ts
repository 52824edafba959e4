import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint, WorkspaceId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { createCheckpoint, listCheckpoints, type Place } from "./checkpoints.ts";
import { rewind } from "./rewind.ts";
import { type Scratch, scratchRepository } from "./scratch-repository.ts";

const WORKSPACE = "workspaceq" as WorkspaceId;

function placeOf(repository: Scratch): Place {
  return { workspace: WORKSPACE, worktree: repository.path, env: repository.env };
}

const checkpoint = (repository: Scratch): Promise<Checkpoint> => createCheckpoint(placeOf(repository), { why: "asked" });

/** Everything on disk but `.git`, with modes and contents. */
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

/** A turn of an agent that changes all kinds of things, and commits some of them. */
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

test("the files and the branch are exactly as they were, ignored ones are left alone, nothing is staged, and it can be undone", async () => {
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

test("with the files only, the branch stays where it is", async () => {
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

test("another branch, a detached head and none at all are left for what was checked out then, and no commit is lost by it", async () => {
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

test("the oldest that is kept can be gone back to, and is still there afterwards", async () => {
  using repository = begin();
  const first = await checkpoint(repository);
  const wasThere = onDisk(repository);
  work(repository);
  const before = await rewind(placeOf(repository), first, { keep: 1 });
  expect(onDisk(repository)).toEqual({ ...wasThere, "noise.log": "later\n" });
  const numbers = (await listCheckpoints(repository.path, WORKSPACE, repository.env)).map(({ number }) => number);
  expect(numbers).toEqual([first.number, before.number]);
});

test("where a branch cannot be moved, that is said with what mends it", async () => {
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

test("back to before the first commit, and forward again", async () => {
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

test("what is ignored by now and stands where a file of the checkpoint goes is kept first", async () => {
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

test("what a later turn installed and ignored stays on the way back, and again on the way forth", async () => {
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

test("a file that a rewind brought, and that was not there before, goes again on the way back, though it is ignored there", async () => {
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

test("a file of the commit that was deleted at the checkpoint goes again, though it is ignored there", async () => {
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

test("large new files and repositories within stay, for no checkpoint has them", async () => {
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

test("a directory of ignored files where the checkpoint has a file is in the way: refused, and nothing is changed", async () => {
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

test("refused while a merge is under way, while git is at work, and where the branch is checked out elsewhere", async () => {
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

test("a filter that is missing keeps no rewind from ending", async () => {
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

test("Windows line ends come back as they were where git makes them", async () => {
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

/** A git in front of the real one: at the first command with these words it kills whoever called it, when the command is done or in the middle of it. */
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
])("killed when $step, it is mended by a second rewind, and what was there can be brought back", async (death) => {
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

test("what is committed while it goes back stays on its branch, and it is said; the next rewind moves that too and keeps it", async () => {
  using repository = scratchRepository();
  repository.write("a.txt", "one\n");
  repository.git("add", "--all");
  repository.git("commit", "--quiet", "-m", "first");
  const first = await checkpoint(repository);
  repository.write("a.txt", "two\n");
  repository.git("commit", "--quiet", "--all", "-m", "second");
  // A git that lets somebody else commit once, right after the files are put in place.
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
