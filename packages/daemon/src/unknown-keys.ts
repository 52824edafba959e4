/** Finds unknown keys of config.toml: mostly typos, sometimes keys of a later version. They are reported and ignored. */
import { EACH, isSetting, type KnownKeys, type Setting } from "@holdfast/contract";
import { editDistance } from "@holdfast/platform";

export interface UnknownKey {
  /** Full name, with its tables: `prune.agee`. */
  key: string;
  line: number | null;
  /** The key that was most likely intended. */
  meant: string | null;
}

export function unknownKeys(values: Readonly<Record<string, unknown>>, known: KnownKeys, text: string): UnknownKey[] {
  return [...below(values, known, "")].map((path) => {
    const key = path.slice(path.lastIndexOf(".") + 1);
    const meant = nearest(key, namesAt(known, path));
    return { key: path, line: lineOf(text, path), meant };
  });
}

export function describeUnknown(file: string, { key, line, meant }: UnknownKey): string {
  const where = line === null ? file : `${file}, line ${line}`;
  return `${where}: there is no setting ${key}; it is ignored${meant === null ? "" : `; did you mean ${meant}?`}`;
}

function* below(values: unknown, known: KnownKeys | Setting, prefix: string): Generator<string> {
  if (isSetting(known) || typeof values !== "object" || values === null) return;
  if (Array.isArray(values)) {
    for (const value of values) yield* below(value, known, prefix);
    return;
  }
  for (const [key, value] of Object.entries(values)) {
    const inside = Object.hasOwn(known, key) ? known[key] : known[EACH];
    if (inside === undefined) yield prefix + key;
    else yield* below(value, inside, `${prefix}${key}.`);
  }
}

function namesAt(known: KnownKeys, path: string): string[] {
  let at: KnownKeys | Setting | undefined = known;
  for (const key of path.split(".").slice(0, -1))
    at = at === undefined || isSetting(at) ? undefined : Object.hasOwn(at, key) ? at[key] : at[EACH];
  return at === undefined || isSetting(at) ? [] : Object.keys(at).filter((name) => name !== EACH);
}

/**
 * The line of a key, found by the table above it or by its dotted name; null if it is written another way. `a.b[1].c` is in the second [[a.b]];
 * without a number, any of them matches.
 */
export function lineOf(text: string, path: string): number | null {
  const wanted = bare(path);
  const numbered = /\[\d+\]/.test(wanted);
  const isIt = (found: string) => (numbered ? found : found.replaceAll(/\[\d+\]/g, "")) === wanted;
  const lists = new Map<string, number>();
  let table = "";
  for (const [index, line] of text.split("\n").entries()) {
    const [, open, header] = /^\s*(\[{1,2})([^\]]*)\]/.exec(line) ?? [];
    if (header !== undefined && NAMES.test(header)) {
      const name = bare(header);
      if (open === "[[") lists.set(name, (lists.get(name) ?? -1) + 1);
      const full = withNumbers(name, lists);
      if (isIt(full)) return index + 1;
      table = `${full}.`;
      continue;
    }
    const key = line.slice(0, Math.max(0, line.indexOf("=")));
    if (NAMES.test(key) && isIt(table + bare(key))) return index + 1;
  }
  return null;
}

/** Names with dots between them. One class of characters: patterns with more structure take forever on some lines. */
const NAMES = /^[\w."'\s-]+$/;

/** `a.b.c` in the second [[a.b]] is `a.b[1].c`. */
function withNumbers(name: string, lists: ReadonlyMap<string, number>): string {
  const [list, number] =
    [...lists].filter(([list]) => name === list || name.startsWith(`${list}.`)).sort(([a], [b]) => b.length - a.length)[0] ?? [];
  return list === undefined ? name : `${list}[${number}]${name.slice(list.length)}`;
}

function bare(name: string): string {
  return name.replace(/["'\s]/g, "");
}

export function nearest(word: string, names: readonly string[]): string | null {
  const plain = (name: string) => name.toLowerCase().replace(/[-_]/g, "");
  const [best] = names.map((name) => ({ name, distance: editDistance(plain(word), plain(name)) })).sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.name : null;
}
