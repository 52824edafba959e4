import { mkdirSync, mkdtempDisposableSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { namesAnother } from "./worktree-trust.ts";

test("trust in the worktrees does not answer a dialog about another folder (mend 17)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const root = realpathSync(directory.path);
  const worktree = join(root, "fix");
  mkdirSync(join(worktree, "a folder"), { recursive: true });
  mkdirSync(join(root, "fix-2"));
  symlinkSync(join(root, "fix-2"), join(worktree, "link"));
  const dialog = (...folder: string[]) => ["Accessing workspace:", ...folder, "Is this a project you trust?", "No, exit"].join("\n");
  const half = worktree.length - 2;
  expect(namesAnother(dialog(worktree), worktree)).toBe(false);
  expect(namesAnother(dialog(join(worktree, "a folder")), worktree)).toBe(false);
  expect(namesAnother(dialog(worktree.slice(0, half), worktree.slice(half)), worktree)).toBe(false);
  expect(namesAnother(dialog(join(worktree, "a"), "folder"), worktree)).toBe(false);
  // Some agents show no path.
  expect(namesAnother(dialog(), worktree)).toBe(false);
  for (const other of [root, `${worktree}-2`, "/", "~/code", join(worktree, "link"), join(root, "nowhere")])
    expect(namesAnother(dialog(other), worktree), other).toBe(true);
});
