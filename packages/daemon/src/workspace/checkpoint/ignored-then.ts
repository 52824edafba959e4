/**
 * A checkpoint does not contain the files that its own rules ignore, and a rewind must not delete them. Example: a later turn installs packages and
 * ignores them. After a rewind to before that turn they remain, no longer ignored, and rewinding forward again must not treat them as new files.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parts } from "../git/git.ts";
import { bytesOf } from "../git/links.ts";
import type { PrivateIndex } from "../git/private-index.ts";

export interface Trees {
  now: string;
  goal: string;
  /** Trees whose files `goal` contains if they existed at that time, ignored or not. */
  others: readonly string[];
}

/** Returns `goal` plus the files of `now` that `goal` lacks and its rules ignore. */
export async function withIgnoredThen(index: PrivateIndex, { now, goal, others }: Trees): Promise<string> {
  const rules = (await names(index, "AMT", now, goal)).filter((path) => /(?:^|\/)\.gitignore$/.test(path));
  const gone = rules.length === 0 ? [] : await names(index, "D", now, goal);
  if (gone.length === 0) return goal;
  const directory = await mkdtemp(join(tmpdir(), "holdfast-rules-"));
  try {
    const all = await namesIn(index, goal);
    const aside = { GIT_WORK_TREE: join(directory, "tree"), GIT_INDEX_FILE: join(directory, "index") };
    await mkdir(aside.GIT_WORK_TREE);
    await index.git(["read-tree", goal], { with: aside });
    const input = bytesOf(all.filter((path) => /(?:^|\/)\.gitignore$/.test(path)));
    await index.git(["checkout-index", "-z", "--stdin"], { with: aside, input });
    const asked = await index.tryGit(["check-ignore", "--no-index", "-z", "--stdin"], {
      with: aside,
      input: bytesOf(gone),
      encoding: "latin1",
    });
    const files = new Set(all);
    const notThere = new Set((await Promise.all(others.map((other) => namesIn(index, other)))).flat());
    const stay = new Set(parts(asked.stdout).filter((path) => !notThere.has(path) && !parentsOf(path).some((parent) => files.has(parent))));
    if (stay.size === 0) return goal;
    const entries = parts(await index.git(["ls-tree", "-r", "-z", now], { encoding: "latin1" })).filter((line) =>
      stay.has(line.slice(line.indexOf("\t") + 1)),
    );
    await index.git(["update-index", "-z", "--index-info"], { with: aside, input: bytesOf(entries) });
    return await index.git(["write-tree"], { with: aside });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function namesIn(index: PrivateIndex, tree: string): Promise<string[]> {
  return parts(await index.git(["ls-tree", "-r", "-z", "--name-only", tree], { encoding: "latin1" }));
}

function parentsOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Returns paths, in `latin1`, that were added (`A`), deleted (`D`) or changed between two trees. */
export async function names(index: PrivateIndex, filter: string, from: string, to: string): Promise<string[]> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", `--diff-filter=${filter}`, "--name-only", from, to];
  return parts(await index.git(args, { encoding: "latin1" }));
}
