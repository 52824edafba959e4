/**
 * A number of a value that does not travel as JSON as it is: one that is none, or a whole number beyond 2^53, of which nobody can tell any more whether it
 * is the one that was written.
 */
export function inexactNumber(value: unknown): number | undefined {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "number" && !(Number.isInteger(next) ? Number.isSafeInteger(next) : Number.isFinite(next))) return next;
    if (typeof next === "object" && next !== null) for (const each of Object.values(next)) open.push(each);
  }
  return undefined;
}
