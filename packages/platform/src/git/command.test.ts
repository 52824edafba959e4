import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitCommand } from "./command.ts";

test("git does not start with an unreadable repository configuration (mend 3)", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  execFileSync("git", ["init", "--quiet", directory.path]);
  // If git started without a view, somebody could repair the file right after the check, and git would run its programs.
  appendFileSync(join(directory.path, ".git/config"), "[filter");
  const command = await gitCommand(directory.path, ["status"]);
  expect(command).toMatchObject({ code: 128, stdout: "" });
  expect("stderr" in command && command.stderr).toMatch(/bad config line/);
});
