/** Number of insertions, deletions, changes and swaps of neighbours that turn one word into the other. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed, swapped));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** True if one word may be a mistake for the other: a typing error or two, a part of it, or the same beginning. */
export function isSimilar(a: string, b: string): boolean {
  const [short = "", long = ""] = [a.toLowerCase(), b.toLowerCase()].sort((x, y) => x.length - y.length);
  if (short === "") return false;
  if (short === long || (short.length > 2 && long.includes(short))) return true;
  const shared = [...short].findIndex((letter, index) => letter !== long[index]);
  if (shared >= LEAST_BEGINNING && shared * 2 > long.length) return true;
  return editDistance(short, long) <= Math.min(2, Math.floor(long.length / 3));
}

const LEAST_BEGINNING = 4;
