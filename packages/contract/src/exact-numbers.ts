/** Finds a number that JSON does not preserve: NaN, an infinity, or an integer beyond 2^53, which may have been rounded. */
export function inexactNumber(value: unknown): number | undefined {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "number" && !(Number.isInteger(next) ? Number.isSafeInteger(next) : Number.isFinite(next))) return next;
    if (typeof next === "object" && next !== null) for (const each of Object.values(next)) open.push(each);
  }
  return undefined;
}
