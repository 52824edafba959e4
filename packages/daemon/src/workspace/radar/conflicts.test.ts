import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { askPairs, scratchPlaces } from "./conflicts.ts";

const NAME = `hf-conflicts-test-${process.pid}-`;

afterEach(() => {
  vi.unstubAllEnvs();
  for (const place of [...scratchPlaces(), tmpdir()]) expect(readdirSync(place).filter((name) => name.startsWith(NAME))).toEqual([]);
});

function ask(repository: ScratchRepository, ...pairs: [string, string][]) {
  return askPairs({
    repository: { path: repository.path, common: repository.common, bare: false },
    pairs: pairs.map(([ours, theirs]) => ({ ours, theirs })),
    scratchName: NAME,
  });
}

/** Branches `a`, `b` and `c`: the first two change the same line, in files with unusual names among others. */
function threeSides(): { repository: ScratchRepository; a: string; b: string; c: string } {
  const odd = ["one.txt", "with a\nline break.txt", "ünïcödé.txt"];
  const all = (text: string) => Object.fromEntries(odd.map((name) => [name, text]));
  const repository = new ScratchRepository({ ...all("line\n"), "two.txt": "two\n" });
  const a = repository.commit(all("a\n"), "a", repository.worktree("a", "a"));
  const b = repository.commit(all("b\n"), "b", repository.worktree("b", "side/b"));
  const c = repository.commit({ "two.txt": "c\n" }, "c", repository.worktree("c", "c"));
  return { repository, a, b, c };
}

const ODD = ["one.txt", "with a\nline break.txt", "ünïcödé.txt"];

/** Installs an older git: it runs `script` first, which may exit. */
function olderGit(repository: ScratchRepository, script: string): void {
  const bin = join(repository.root, "bin");
  mkdirSync(bin);
  const real = (process.env.PATH ?? "").split(delimiter).find((directory) => existsSync(join(directory, "git")));
  writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$*" >> "${repository.root}/calls"\n${script}\nexec "${real}/git" "$@"\n`);
  chmodSync(join(bin, "git"), 0o755);
  vi.stubEnv("PATH", `${bin}${delimiter}${process.env.PATH}`);
}

test("each of many pairs in one process gets its conflicting files", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const { a, b, c } = sides;
  expect(await ask(repository, [a, b], [a, c], [b, a], [b, c], [a, a])).toEqual([ODD, [], ODD, [], []]);
});

test("a check leaves nothing in the repository or a working tree", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const before = repository.git("count-objects", "-v");
  expect(await ask(repository, [sides.a, sides.b], [sides.a, sides.c])).toEqual([ODD, []]);
  expect(repository.git("count-objects", "-v")).toBe(before);
  expect(repository.git("status", "--porcelain")).toBe("");
});

test("a pair without a common ancestor, or with a missing commit, is undecidable; later pairs are decided", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const { a, b, c } = sides;
  repository.git("switch", "-q", "--orphan", "other");
  const unrelated = repository.commit({ "one.txt": "x\n" }, "a commit");
  const missing = "1".repeat(40);
  const pairs: [string, string][] = [
    [a, unrelated],
    [a, b],
    [b, unrelated],
    [missing, a],
    [a, c],
    [b, missing],
  ];
  expect(await ask(repository, ...pairs)).toEqual([null, ODD, null, null, [], null]);
});

test("a shallow clone is checked with the commits it has", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const clone = join(repository.root, "shallow");
  repository.gitIn(repository.root, "clone", "-q", "--depth", "1", "--no-single-branch", `file://${repository.path}`, clone);
  const of = (branch: string) => repository.gitIn(clone, "rev-parse", `origin/${branch}`);
  const shallow = { path: clone, common: join(clone, ".git"), bare: false };
  const ours = repository.commit({ "one.txt": "ours\n" }, "a commit", clone);
  repository.gitIn(clone, "switch", "-q", "-c", "x", "HEAD^");
  const theirs = repository.commit({ "one.txt": "theirs\n" }, "a commit", clone);
  const pairs = [
    { ours: of("a"), theirs: of("side/b") },
    { ours, theirs },
  ];
  expect(await askPairs({ repository: shallow, pairs, scratchName: NAME })).toEqual([null, ["one.txt"]]);
});

test("a bare repository whose path has colons, quotes and spaces is checked", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const odd = join(repository.root, 'a: "copy" \\ of it');
  repository.gitIn(repository.root, "clone", "-q", "--bare", repository.path, odd);
  const outcomes = await askPairs({
    repository: { path: odd, common: odd, bare: true },
    pairs: [{ ours: sides.a, theirs: sides.b }],
    scratchName: NAME,
  });
  expect(outcomes).toEqual([ODD]);
});

test("attributes of any directory apply, and a merge driver leaves the working tree clean", async () => {
  const attributes = { ".gitattributes": "TOP merge=union\ndriven merge=mine\n", "deep/er/.gitattributes": "LOG merge=union\n" };
  const files = (text: string) => ({ TOP: text, "deep/er/LOG": text, driven: text, plain: text });
  using repository = new ScratchRepository({ ...attributes, ...files("line\n") });
  vi.stubEnv("GIT_CONFIG_GLOBAL", join(repository.root, "user/.gitconfig"));
  repository.git("config", "--global", "merge.mine.driver", `pwd > ${repository.root}/where; cat %B > %A`);
  const a = repository.commit(files("a\n"), "a commit", repository.worktree("a", "a"));
  const b = repository.commit(files("b\n"), "a commit", repository.worktree("b", "b"));
  expect(await ask(repository, [a, b])).toEqual([["plain"]]);
  expect(readdirSync(repository.root)).toContain("where");
  expect(repository.git("status", "--porcelain")).toBe("");
});

test("a merge driver that writes beside its file does not reach the working tree", async () => {
  const files = (text: string) => ({ "deep/er/driven": text, "deep/er/LOG": text });
  const attributes = { "deep/er/.gitattributes": "driven merge=mine\nLOG merge=union\n" };
  using repository = new ScratchRepository({ ...attributes, ...files("line\n") });
  vi.stubEnv("GIT_CONFIG_GLOBAL", join(repository.root, "user/.gitconfig"));
  repository.git("config", "--global", "merge.mine.driver", "mkdir -p $(dirname %P); echo x > $(dirname %P)/written; cat %B > %A");
  const a = repository.commit(files("a\n"), "a commit", repository.worktree("a", "a"));
  const b = repository.commit(files("b\n"), "a commit", repository.worktree("b", "b"));
  expect(await ask(repository, [a, b])).toEqual([[]]);
  expect(readdirSync(join(repository.path, "deep/er")).sort()).toEqual([".gitattributes", "LOG", "driven"]);
});

test("attributes behind a link do not apply, and a pipe in their place is refused", async () => {
  const files = (text: string) => ({ "deep/plain": text });
  using repository = new ScratchRepository({ "deep/.gitattributes": "plain merge=union\n", ...files("line\n") });
  const a = repository.commit(files("a\n"), "a commit", repository.worktree("a", "a"));
  const b = repository.commit(files("b\n"), "a commit", repository.worktree("b", "b"));
  expect(await ask(repository, [a, b])).toEqual([[]]);
  renameSync(join(repository.path, "deep"), join(repository.root, "elsewhere"));
  symlinkSync(join(repository.root, "elsewhere"), join(repository.path, "deep"));
  expect(await ask(repository, [a, b])).toEqual([["deep/plain"]]);
  execFileSync("mkfifo", [join(repository.path, ".gitattributes")]);
  await expect(ask(repository, [a, b])).rejects.toThrow("named pipe");
});

test("a directory renamed to two places is a conflict, though no single file is", async () => {
  const files = Object.fromEntries(["1", "2", "3", "4"].map((name) => [`old/${name}`, `the text of ${name}\n`.repeat(9)]));
  using repository = new ScratchRepository(files);
  const one = repository.worktree("one", "one");
  for (const [name, into] of Object.entries({ "1": "x", "2": "x", "3": "y", "4": "y" })) {
    mkdirSync(join(one, into), { recursive: true });
    repository.gitIn(one, "mv", `old/${name}`, `${into}/${name}`);
  }
  const a = repository.commit({}, "a commit", one);
  const b = repository.commit({ "old/5": "new\n" }, "a commit", repository.worktree("two", "two"));
  const [outcome] = await ask(repository, [a, b]);
  expect(outcome?.length).toBeGreaterThan(0);
});

test("a git without --stdin checks each pair alone", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  olderGit(repository, 'case "$*" in *--stdin*) echo "usage" >&2; exit 129;; esac');
  const { a, b, c } = sides;
  expect(await ask(repository, [a, b], [a, c], [b, c])).toEqual([ODD, [], []]);
});

test("a git without merge-tree is refused with its version and the required one", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  olderGit(repository, 'case "$*" in *merge-tree*) echo "usage" >&2; exit 129;; version) echo "git version 2.30.2"; exit 0;; esac');
  await expect(ask(repository, [sides.a, sides.b])).rejects.toMatchObject({
    code: "git_failed",
    message: "git 2.30.2 cannot check whether two workspaces would merge",
    hint: "install git 2.38 or newer",
  });
});

test("a missing repository is an error, not a list of undecidable pairs", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  rmSync(repository.path, { recursive: true });
  await expect(ask(repository, [sides.a, sides.b])).rejects.toThrow(/not a git repository/);
});

test("without disk space for trial merges, no pair gets a result", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const full = 'echo "error: unable to write file x: No space left on device" >&2; exit 128';
  olderGit(repository, `case "$*" in *merge-tree*) ${full};; esac`);
  await expect(ask(repository, [sides.a, sides.b])).rejects.toThrow(/No space left/);
});

test("after git is killed midway, the check continues from there", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  const { a, b, c } = sides;
  const once = `[ -e "${repository.root}/killed" ]`;
  const cut = `touch "${repository.root}/killed"; printf '1\\0tree\\0\\0000\\0tree\\0one.t'; kill -9 $$`;
  olderGit(repository, `case "$*" in *--stdin*) ${once} || { ${cut}; };; esac`);
  expect(await ask(repository, [a, c], [a, b], [b, c])).toEqual([[], ODD, []]);
});

test("210 pairs take one process", async () => {
  const sides = threeSides();
  using repository = sides.repository;
  olderGit(repository, "");
  const pairs = Array.from({ length: 210 }, (_, index): [string, string] => [sides.a, index % 2 === 0 ? sides.b : sides.c]);
  const outcomes = await ask(repository, ...pairs);
  expect(outcomes.filter((files) => files?.length === 3).length).toBe(105);

  expect(readFileSync(join(repository.root, "calls"), "utf8").match(/ merge-tree /g)?.length).toBe(1);
});
