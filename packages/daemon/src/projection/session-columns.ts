/** How the sessions table keeps the attributes of a session: each in its own column, lists and objects as JSON. */
import { type RecordedSpec, SessionSpec, withAbsent } from "@holdfast/contract";

/** The attributes as the table has them: null stands for an absent one. */
export type SessionAttributes = {
  [K in keyof SessionSpec]-?: undefined extends SessionSpec[K] ? NonNullable<SessionSpec[K]> | null : SessionSpec[K];
};

/** Columns with a name of their own; the others are named like their attribute. */
const NAMES: Readonly<Record<string, string>> = { memoryLimitBytes: "memory_limit", recordingLimitBytes: "recording_limit" };

const COLUMNS = Object.entries(SessionSpec.shape).map(([key, schema]) => ({
  key: key as keyof SessionSpec,
  name: NAMES[key] ?? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  type: typeOf(schema),
}));

export const ATTRIBUTE_COLUMNS: readonly string[] = COLUMNS.map(({ name }) => name);

/** In the order of the columns. */
export function columnValues(spec: RecordedSpec): (string | number | null)[] {
  const attributes = withAbsent(spec);
  return COLUMNS.map(({ key, type }) => {
    const value = attributes[key] ?? null;
    if (type === "boolean") return value ? 1 : 0;
    if (value === null || (type !== "array" && type !== "object")) return value as string | number | null;
    return JSON.stringify(value);
  });
}

export function attributesIn(row: Record<string, unknown>): SessionAttributes {
  const values = COLUMNS.map(({ key, name, type }) => [key, read(row[name], type)]);
  return Object.fromEntries(values) as SessionAttributes;
}

function read(value: unknown, type: string): unknown {
  if (type === "boolean") return value === 1;
  return value !== null && (type === "array" || type === "object") ? JSON.parse(String(value)) : value;
}

/** The type of a value, whether it is optional or not. */
function typeOf(schema: { def: { type: string; innerType?: unknown } }): string {
  const { type, innerType } = schema.def;
  return innerType === undefined ? type : typeOf(innerType as typeof schema);
}
