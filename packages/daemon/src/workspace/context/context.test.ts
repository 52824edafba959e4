import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { git } from "../git/git.ts";
import { contextPointer, contextRoot, makeContext, readContext, tryContext, writeContextFile } from "./context.ts";

let root: string;
const env = { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
const run = (directory: string, ...args: string[]) =>
  git(directory, ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { env, direct: args[0] === "worktree" });
const place = (...names: string[]) => join(root, ".holdfast", "context", ...names);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hf-context-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("a Working Context (CAVE-03 workspaces)", () => {
  test("consists of four files with a heading and one line each, reported as empty", () => {
    expect(readContext(root)).toMatchObject({ root, exists: false });
    expect(makeContext(root)).toEqual(["background.md", "plan.md", "working-log.md", "results-summary.md"]);
    const { exists, files } = readContext(root);
    expect(exists).toBe(true);
    for (const { text, state } of files) {
      expect(text).toMatch(/^# \S.*\n\n\S.*\n$/);
      expect(state).toBe("empty");
    }
    expect(readdirSync(place()).sort()).toEqual([".gitignore", "background.md", "plan.md", "results-summary.md", "working-log.md"]);
  });

  test("stays out of git in every working tree, while .holdfast/config.toml can be tracked", async () => {
    await run(root, "init", "-q", "-b", "main");
    await run(root, "commit", "-q", "--allow-empty", "-m", "first");
    const linked = join(root, "..", `${root.split("/").at(-1)}-linked`);
    try {
      await run(root, "worktree", "add", "-q", linked, "-b", "other");
      for (const tree of [root, linked]) {
        makeContext(tree);
        expect(await run(tree, "status", "--porcelain", "-uall")).toBe("");
      }
      writeFileSync(join(root, ".holdfast", "config.toml"), "");
      expect(await run(root, "status", "--porcelain", "-uall")).toBe("?? .holdfast/config.toml");
    } finally {
      rmSync(linked, { recursive: true, force: true });
    }
  });

  test("never overwrites existing files, and adds missing ones", () => {
    mkdirSync(place(), { recursive: true });
    writeFileSync(place("plan.md"), "mine");
    writeFileSync(place(".gitignore"), "none\n");
    expect(makeContext(root, { about: "anything" })).toEqual(["background.md", "working-log.md", "results-summary.md"]);
    expect(readFileSync(place("plan.md"), "utf8")).toBe("mine");
    expect(readFileSync(place(".gitignore"), "utf8")).toBe("none\n");
    expect(makeContext(root, { about: "something else" })).toEqual([]);
    expect(readFileSync(place("background.md"), "utf8")).toContain("anything");
  });

  test("puts the request word for word into a new background.md", () => {
    makeContext(root, { about: "  fix *this*\n\nand that\n" });
    const [background, plan] = readContext(root).files;
    expect(background?.text).toContain("\n\nfix *this*\n\nand that\n");
    expect([background?.state, plan?.state]).toEqual(["written", "empty"]);
  });

  test("is refused if a link or something else is in its place, and nothing is written through it", () => {
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    for (const link of [[".holdfast"], [".holdfast", "context"]]) {
      rmSync(join(root, ".holdfast"), { recursive: true, force: true });
      if (link.length === 2) mkdirSync(join(root, ".holdfast"));
      symlinkSync(elsewhere, join(root, ...link));
      for (const act of [() => makeContext(root), () => readContext(root), () => writeContextFile(root, "plan.md", { text: "x" })])
        expect(act).toThrow(/is a symbolic link/);
      expect(contextPointer(root, "go")).toBeNull();
      expect(tryContext(root, { umask: 0o022 })).toMatch(/no Working Context: .* is a symbolic link/);
    }
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(join(root, ".holdfast"), { recursive: true, force: true });
    writeFileSync(join(root, ".holdfast"), "");
    expect(() => makeContext(root)).toThrow(/is not a directory/);
  });

  test("does not follow a link in place of one of its files or its .gitignore", () => {
    makeContext(root);
    const secret = join(root, "secret");
    writeFileSync(secret, "secret");
    rmSync(place("plan.md"));
    symlinkSync(secret, place("plan.md"));
    expect(() => readContext(root)).toThrow(/plan\.md is a symbolic link/);
    expect(() => writeContextFile(root, "plan.md", { text: "x" })).toThrow(/plan\.md is a symbolic link/);
    rmSync(place("plan.md"));
    rmSync(place(".gitignore"));
    symlinkSync(join(root, "new"), place(".gitignore"));
    expect(() => makeContext(root)).toThrow(/\.gitignore is a symbolic link/);
    expect(existsSync(join(root, "new"))).toBe(false);
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });

  test("reports a read-only directory, and the start continues", () => {
    using _ = readOnly(root);
    expect(() => makeContext(root)).toThrow(/cannot write to .*: it is read-only/);
    expect(tryContext(root, { umask: 0o022 })).toMatch(/no Working Context: .*read-only/);
  });

  test("writes a file atomically, unless it changed since it was read or is too long", () => {
    writeContextFile(root, "plan.md", { text: "one", digest: null });
    const digest = readContext(root).files[1]?.digest;
    writeFileSync(place("plan.md"), "two");
    expect(() => writeContextFile(root, "plan.md", { text: "three", digest })).toThrow(/has changed since/);
    writeContextFile(root, "plan.md", { text: "three", digest: readContext(root).files[1]?.digest });
    expect(readContext(root).files[1]).toMatchObject({ text: "three", state: "written", bytes: 5, cut: false });
    expect(() => writeContextFile(root, "plan.md", { text: "é".repeat(500_001) })).toThrow(/at most 1 MB/);
    expect(readdirSync(place()).sort()).toEqual([".gitignore", "plan.md"]);
  });

  test("reads a limited part of a large file, and says so", () => {
    makeContext(root);
    writeFileSync(place("working-log.md"), "x".repeat(3_000_000));
    const log = readContext(root).files[2];
    expect(log).toMatchObject({ bytes: 3_000_000, cut: true, state: "written" });
    expect(log?.text.length).toBe(1_000_000);
  });

  test("is found from subdirectories within its repository, and never above it", () => {
    makeContext(root);
    const [below, repository] = [join(root, "a", "b"), join(root, "repository")];
    mkdirSync(below, { recursive: true });
    mkdirSync(join(repository, ".git"), { recursive: true });
    mkdirSync(join(repository, "src"));
    expect(contextRoot(root)).toBe(root);
    expect(contextRoot(below)).toBe(below);
    expect(contextRoot(join(repository, "src"))).toBe(repository);
    mkdirSync(join(root, ".git"));
    expect(contextRoot(below)).toBe(root);
    makeContext(below);
    expect(contextRoot(below)).toBe(below);
  });

  test("is pointed to in one paragraph that names each file, with an absolute path from subdirectories", () => {
    expect(contextPointer(root, "go")).toBeNull();
    makeContext(root);
    mkdirSync(join(root, ".git"));
    mkdirSync(join(root, "src"));
    const pointer = contextPointer(root, "go") ?? "";
    expect(pointer).not.toContain("\n");
    for (const name of [".holdfast/context/", "background.md", "plan.md", "working-log.md", "results-summary.md"])
      expect(pointer).toContain(name);
    expect(pointer).not.toContain(root);
    for (const command of ["/review", "!ls", "# remember this"]) expect(contextPointer(root, command)).toBeNull();
    expect(contextPointer(join(root, "src"), "go")).toContain(place(""));
  });
});

/** Root can write whatever the mode, so for root the file system must refuse. */
function readOnly(directory: string): Disposable {
  if (process.getuid?.() === 0) {
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", directory]);
    return { [Symbol.dispose]: () => void execFileSync("umount", [directory]) };
  }
  chmodSync(directory, 0o555);
  return { [Symbol.dispose]: () => chmodSync(directory, 0o755) };
}
