/** Whether a value travels as JSON as it is: a number that is none, or larger than JavaScript counts, would arrive as null. */
export function isJson(value: unknown): boolean {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "number" && !Number.isFinite(next)) return false;
    if (typeof next === "object" && next !== null) open.push(...Object.values(next));
  }
  return true;
}
