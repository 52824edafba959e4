/** Keys of config.toml that mean nothing: most often a slip, now and then of a later version. They are told, and passed over. */
import { editDistance } from "@holdfast/platform";

export interface UnknownKey {
  /** With the tables it is in: `prune.agee`. */
  key: string;
  line: number | null;
  /** What it most likely was to be. */
  meant: string | null;
}

/** The keys of a table and, below them, of its tables; `each` stands for tables with names of a person's own. */
export interface KnownKeys {
  [key: string]: KnownKeys | true;
}

export const EACH = "*";

export function unknownKeys(values: Readonly<Record<string, unknown>>, known: KnownKeys, text: string): UnknownKey[] {
  return [...below(values, known, "")].map((path) => {
    const key = path.slice(path.lastIndexOf(".") + 1);
    const meant = nearest(key, namesAt(known, path));
    return { key: path, line: lineOf(text, path), meant };
  });
}

export function describeUnknown(file: string, { key, line, meant }: UnknownKey): string {
  const where = line === null ? file : `${file}, line ${line}`;
  return `${where}: nothing is called ${key}, and it is passed over${meant === null ? "" : `; did you mean ${meant}?`}`;
}

function* below(values: unknown, known: KnownKeys | true, prefix: string): Generator<string> {
  if (known === true || typeof values !== "object" || values === null) return;
  if (Array.isArray(values)) {
    for (const value of values) yield* below(value, known, prefix);
    return;
  }
  for (const [key, value] of Object.entries(values)) {
    const inside = known[key] ?? known[EACH];
    if (inside === undefined) yield prefix + key;
    else yield* below(value, inside, `${prefix}${key}.`);
  }
}

function namesAt(known: KnownKeys, path: string): string[] {
  let at: KnownKeys | true | undefined = known;
  for (const key of path.split(".").slice(0, -1)) at = at === true ? true : (at?.[key] ?? at?.[EACH]);
  return at === undefined || at === true ? [] : Object.keys(at).filter((name) => name !== EACH);
}

/** By the name of the table above it, or by its dotted name; null where it is written in another way. */
export function lineOf(text: string, path: string): number | null {
  let table = "";
  for (const [index, line] of text.split("\n").entries()) {
    const header = /^\s*\[{1,2}\s*([\w."' -]+?)\s*\]{1,2}/.exec(line)?.[1];
    if (header !== undefined) table = `${bare(header)}.`;
    const key = header === undefined ? /^\s*([\w."'-]+(?:\s*\.\s*[\w"'-]+)*)\s*=/.exec(line)?.[1] : undefined;
    if ((key !== undefined && table + bare(key) === path) || (header !== undefined && bare(header) === path)) return index + 1;
  }
  return null;
}

function bare(name: string): string {
  return name.replace(/["'\s]/g, "");
}

function nearest(word: string, names: readonly string[]): string | null {
  const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, "");
  const [best] = names.map((name) => ({ name, distance: editDistance(plain(word), plain(name)) })).sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.name : null;
}
