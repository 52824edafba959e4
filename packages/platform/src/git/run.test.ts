import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { inspect } from "../process.ts";
import { runGit } from "./command.ts";
import { runCommand } from "./run.ts";

function repository() {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  execFileSync("git", ["init", "--quiet", directory.path]);
  return directory;
}

test("git and its children are ended when none of them makes progress (mend 3)", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  const pids = join(directory.path, "pids");
  const script = `sh -c 'trap "" TERM; echo $$ >> ${pids}; exec sleep 1000' & echo $$ >> ${pids}; wait`;
  const command = { program: "/bin/sh", args: ["-c", script], env: { PATH: process.env.PATH ?? "" } };
  const running = runCommand(directory.path, command, { patience: { lookMs: 100, stalledMs: 500 } });
  await expect(running).rejects.toThrow(/made no progress/);
  const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
  expect(started).toHaveLength(2);
  await vi.waitFor(() => expect(started.filter((pid) => inspect(pid)?.zombie === false)).toEqual([]), 60_000);
});

test("git is not started where it would block on a pipe or a device (mend 3)", async () => {
  using directory = repository();
  const attributes = join(directory.path, ".git/info/attributes");
  mkdirSync(join(directory.path, ".git/info"), { recursive: true });
  for (const [make, said] of [
    [() => execFileSync("mkfifo", [attributes]), "is a named pipe"],
    [() => symlinkSync("/dev/zero", attributes), "is a device"],
  ] as const) {
    make();
    await expect(runGit(directory.path, ["status"])).rejects.toThrow(`${attributes} ${said}`);
    rmSync(attributes);
  }
  symlinkSync("/dev/null", attributes);
  expect((await runGit(directory.path, ["status"])).code).toBe(0);
});

test("an outside pipe named by the repository's configuration does not block (mend 3)", async () => {
  using directory = repository();
  using outside = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  const pipe = join(outside.path, "pipe");
  execFileSync("mkfifo", [pipe]);
  const config = (...words: string[]) => execFileSync("git", ["-C", directory.path, "config", ...words]);
  for (const key of ["core.excludesFile", "core.attributesFile"]) {
    config(key, pipe);
    await expect(runGit(directory.path, ["status"]), key).rejects.toThrow(`${pipe} is a named pipe`);
    config("--unset", key);
  }
  writeFileSync(join(outside.path, "more"), `[core]\nexcludesFile = ${pipe}\n`);
  config("include.path", join(outside.path, "more"));
  await expect(runGit(directory.path, ["status"])).rejects.toThrow(`${pipe} is a named pipe`);
  config("include.path", pipe);
  await expect(runGit(directory.path, ["worktree", "list"], { direct: true })).rejects.toThrow(/made no progress/);
});

test("a pipe that blocked git once is not waited for again until it is gone (mend 3)", async () => {
  using directory = repository();
  const pipe = join(directory.path, "deep/.gitignore");
  mkdirSync(join(directory.path, "deep"));
  execFileSync("mkfifo", [pipe]);
  writeFileSync(join(directory.path, "deep/a.txt"), "a\n");
  for (const _ of [1, 2]) await expect(runGit(directory.path, ["status"])).rejects.toThrow(`${pipe} is a named pipe`);
  rmSync(pipe);
  expect((await runGit(directory.path, ["status", "--porcelain"])).stdout).toBe("?? deep/\n");
  expect(existsSync(pipe)).toBe(false);
});
