/** Reads fields of an agent's messages, which are not validated (connection.ts). */

export type Fields = Readonly<Record<string, unknown>>;

/** Empty for anything but an object. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The objects of an array; empty for anything else. */
export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The first value that is a valid count. */
export function count(...values: unknown[]): number | null {
  const found = values.find((value) => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER);
  return found === undefined ? null : Math.round(found as number);
}
