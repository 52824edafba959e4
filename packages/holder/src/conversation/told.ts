/** What an agent told, taken for what it should be: nothing of it was validated (connection.ts). */

export type Fields = Readonly<Record<string, unknown>>;

/** Of what is no object there are none. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** Those of an array that are objects; of anything else none. */
export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The first of them that can be a count. */
export function count(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
  return found === undefined ? null : Math.round(found as number);
}
