import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Files } from "./files.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "hf-files-"));
  for (const file of ["src/login.ts", "src/deep/log.ts", "README.md", "node_modules/x/index.js", ".hidden", "secret.log"]) {
    mkdirSync(path.join(directory, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(directory, file), "");
  }
});

afterEach(() => rmSync(directory, { recursive: true }));

test("files in a repository are tracked and untracked ones, without ignored files", async () => {
  const env = { ...process.env, HOME: directory, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", ["init", "-q"], { cwd: directory, env });
  writeFileSync(path.join(directory, ".gitignore"), "node_modules\n*.log\n");
  execFileSync("git", ["add", "README.md"], { cwd: directory, env });
  expect(await new Files(directory).matching("")).toEqual([".hidden", "README.md", ".gitignore", "src/login.ts", "src/deep/log.ts"]);
});

test("files outside a repository exclude hidden files and node_modules", async () => {
  expect(await new Files(directory).matching("")).toEqual(["README.md", "secret.log", "src/login.ts", "src/deep/log.ts"]);
});

test("paths that begin with the text come first, then file names that do, then paths that contain it", async () => {
  const files = new Files(directory);
  expect(await files.matching("src/")).toEqual(["src/login.ts", "src/deep/log.ts"]);
  expect(await files.matching("log")).toEqual(["src/login.ts", "src/deep/log.ts", "secret.log"]);
  expect(await files.matching("deep")).toEqual(["src/deep/log.ts"]);
  expect(await files.matching("nothing")).toEqual([]);
  expect(await files.matching("", 1)).toEqual(["README.md"]);
});

test("a missing directory has no files", async () => {
  expect(await new Files(path.join(directory, "gone")).matching("")).toEqual([]);
});
