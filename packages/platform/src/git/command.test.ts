import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitCommand } from "./command.ts";

test("git does not start with an unreadable repository configuration (mend 3)", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-git-"));
  execFileSync("git", ["init", "--quiet", directory.path]);
  // Whoever mends the file right after this look has a program run by whatever is started without a view.
  appendFileSync(join(directory.path, ".git/config"), "[filter");
  const command = await gitCommand(directory.path, ["status"]);
  expect(command).toMatchObject({ code: 128, stdout: "" });
  expect("stderr" in command && command.stderr).toMatch(/bad config line/);
});
