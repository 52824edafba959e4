/** Builds input for `git merge-tree` and parses its output, for one pair of commits and for many. Pure functions. */
export interface Pair {
  readonly ours: string;
  readonly theirs: string;
}

/** The files in conflict; empty if the pair merges. Null if undecidable, without a common ancestor or with missing objects. */
export type Outcome = readonly string[] | null;

/** The output is temporary, so skip compression and fsync. */
const MERGE_TREE = ["-c", "core.looseCompression=0", "-c", "core.fsync=none", "merge-tree", "--write-tree", "--name-only", "-z"];

export function askOne({ ours, theirs }: Pair): string[] {
  return [...MERGE_TREE, "--end-of-options", ours, theirs];
}

/** Needs git 2.39. The pairs go to its standard input. */
export const ASK_MANY: readonly string[] = [...MERGE_TREE, "--no-messages", "--stdin"];

export function manyInput(pairs: readonly Pair[]): string {
  return pairs.map(({ ours, theirs }) => `${ours} ${theirs}\n`).join("");
}

/**
 * A record: `0` for conflicts or `1` for none, the tree, the files if there are conflicts, and an empty part. If git stops at a pair, that pair and
 * later ones have no record. Undefined: a conflict without files, described only in messages.
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
 * Exit code 0: merges. 1 with a tree: conflicts, their files, an empty part, and messages (number of paths, the paths, a kind, a sentence).
 * Anything else is undecidable. A directory renamed to two places is a conflict without files; then the messages name the paths.
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

  /** Every part ends with a NUL, so the last element is empty. */
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
