/** Records submodule commits in an index. Git is kept out of submodules, because it would use the configuration found there. */
import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isCheckedOut, isDirty } from "./dirty-submodules.ts";
import { type Environment, parts, tryGit } from "./git.ts";
import type { PrivateIndex } from "./private-index.ts";

/** Paths in `latin1`. */
export async function gitLinksIn(index: Pick<PrivateIndex, "git">): Promise<string[]> {
  const staged = parts(await index.git(["ls-files", "--stage", "-z"], { encoding: "latin1" }));
  return [...new Set(staged.filter((line) => line.startsWith("160000 ")).map((line) => line.slice(line.indexOf("\t") + 1)))];
}

/** Stages the checked-out commit of each submodule, as `git add` does. Returns submodules with uncommitted files, which no outer commit can hold. */
export async function addLinks(
  index: Pick<PrivateIndex, "git">,
  { worktree, links, env }: { worktree: string; links: readonly string[]; env: Environment | undefined },
): Promise<string[]> {
  const entries: string[] = [];
  const gone: string[] = [];
  const replaced: string[] = [];
  const dirty: string[] = [];
  for (const link of links) {
    const name = Buffer.from(link, "latin1");
    const directory = join(worktree, name.toString());
    const stat = lstatSync(Buffer.concat([Buffer.from(`${worktree}/`), name]), { throwIfNoEntry: false });
    if (!stat?.isDirectory()) (stat ? replaced : gone).push(link);
    // No program can be started in a directory whose name is not UTF-8. The index keeps the commit it has.
    else if (!isUtf8(name)) dirty.push(link);
    else if (isCheckedOut(worktree, name)) {
      const head = await tryGit(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { env });
      if (head.code === 0) entries.push(`160000 ${head.stdout.trim()}\t${link}`);
      if (await isDirty(directory, { env })) dirty.push(link);
    }
  }
  const update = (how: string, lines: readonly string[]) =>
    lines.length === 0
      ? undefined
      : index.git(["update-index", "-z", ...(how === "--index-info" ? [how] : [how, "--stdin"])], { input: bytesOf(lines) });
  await update("--force-remove", [...gone, ...replaced]);
  await update("--add", replaced);
  await update("--index-info", entries);
  return dirty;
}

/** Encodes lines for `-z --stdin`. */
export function bytesOf(latin1: Iterable<string>): Buffer {
  return Buffer.from([...latin1].map((line) => `${line}\0`).join(""), "latin1");
}
