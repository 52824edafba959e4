/** What is asked of `git merge-tree`, and what it answers: pure text, for one pair of commits and for many. */
export interface Pair {
  readonly ours: string;
  readonly theirs: string;
}

/** The files that would not merge; none: all would. Null: it cannot be told, for want of a common ancestor or of objects. */
export type Outcome = readonly string[] | null;

/** Nobody keeps what is written: neither packed tightly nor waited for until it is on the disk. */
const MERGE_TREE = ["-c", "core.looseCompression=0", "-c", "core.fsync=none", "merge-tree", "--write-tree", "--name-only", "-z"];

export function askOne({ ours, theirs }: Pair): string[] {
  return [...MERGE_TREE, "--end-of-options", ours, theirs];
}

/** Git 2.39 and later; the pairs are its input. */
export const ASK_MANY: readonly string[] = [...MERGE_TREE, "--no-messages", "--stdin"];

export function manyInput(pairs: readonly Pair[]): string {
  return pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
}

/**
 * A record: `0` for conflicts or `1` for none, the tree, the files if there are conflicts, and an empty part. Where git gave up at a pair,
 * there is none for it nor for those after it. Undefined: a conflict of no file, which only messages tell of.
 */
export function readMany(text: string): (Outcome | undefined)[] {
  const reader = new Parts(text);
  const outcomes: (Outcome | undefined)[] = [];
  while (reader.more) {
    const status = reader.next();
    reader.next();
    const files = reader.untilEmpty();
    if (status === "0") outcomes.push(files.length > 0 ? sorted(files) : undefined);
    else outcomes.push(status === "1" ? [] : null);
  }
  return outcomes;
}

/**
 * Exit code 0: merges. 1 with a tree: conflicts, their files, an empty part, and messages: how many paths, the paths, a kind, a sentence. All
 * else: it cannot be told. A directory that was renamed to two places is a conflict of no file; then the messages name what it is about.
 */
export function readOne({ code, stdout }: { code: number; stdout: string }): Outcome {
  if (code === 0) return [];
  if (code !== 1 || stdout === "") return null;
  const reader = new Parts(stdout);
  reader.next();
  const files = reader.untilEmpty();
  if (files.length > 0) return sorted(files);
  const named: string[] = [];
  while (reader.more) {
    const paths = Array.from({ length: Number(reader.next()) }, () => reader.next());
    if (reader.next().startsWith("CONFLICT")) named.push(...paths);
    reader.next();
  }
  return sorted(named);
}

function sorted(files: readonly string[]): string[] {
  return [...new Set(files)].sort();
}

class Parts {
  readonly #parts: readonly string[];
  #place = 0;

  constructor(text: string) {
    this.#parts = text.split("\0");
  }

  /** Every part ends with a NUL, so that the last one is what comes after it: nothing. */
  get more(): boolean {
    return this.#place < this.#parts.length - 1;
  }

  next(): string {
    return this.#parts[this.#place++] ?? "";
  }

  untilEmpty(): string[] {
    const found: string[] = [];
    for (let part = this.next(); part !== ""; part = this.next()) found.push(part);
    return found;
  }
}
