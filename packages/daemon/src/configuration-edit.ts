/** Sets one key of a TOML text. Comments and formatting stay; the result is parsed and compared before it is returned. */
import { isDeepStrictEqual } from "node:util";
import { parse as parseWithComments, patch } from "@decimalturn/toml-patch";
import { HoldfastError } from "@holdfast/contract";
import { parse, stringify } from "smol-toml";

type Values = Record<string, unknown>;

export function withValue(text: string, path: readonly string[], value: unknown): string {
  const wanted = changed(parse(text), path, value);
  const whole = () => patch(text, changed(parseWithComments(text) as Values, path, value));
  for (const attempt of [aboveTables, asNewTable, whole]) {
    const edited = attempt(text, path, value);
    if (edited !== undefined && isDeepStrictEqual(plain(parse(edited)), plain(wanted)))
      return edited.endsWith("\n") ? edited : `${edited}\n`;
  }
  throw new HoldfastError("file_unusable", `${path.join(".")} cannot be set without changing something else in the file`, {
    hint: "change it by hand: holdfast config edit",
  });
}

/** Puts a top-level key above the first table and that table's comment. */
function aboveTables(text: string, path: readonly string[], value: unknown): string | undefined {
  if (path.length > 1) return undefined;
  const lines = text.split("\n");
  let end = lines.findIndex((line) => /^\s*\[/.test(line));
  if (end < 0) return undefined;
  while (end > 0 && /^\s*#/.test(lines[end - 1] ?? "")) end--;
  const head = lines.slice(0, end).join("\n");
  try {
    const edited = patch(head, changed(parseWithComments(head) as Values, path, value));
    return `${edited.trimEnd()}\n\n${lines.slice(end).join("\n")}`;
  } catch {
    return undefined;
  }
}

/** Appends a table that the file lacks, under its own header. */
function asNewTable(text: string, path: readonly string[], value: unknown): string | undefined {
  const tables = path.slice(0, -1);
  let at: unknown = parse(text);
  for (const name of tables) at = (at as Values | undefined)?.[name];
  if (tables.length === 0 || at !== undefined) return undefined;
  const header = tables.map((name) => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name))).join(".");
  const line = stringify({ [path.at(-1) ?? ""]: value });
  return `${text.trim() === "" ? text : `${text.trimEnd()}\n\n`}[${header}]\n${line.trimEnd()}\n`;
}

function changed(values: Values, path: readonly string[], value: unknown): Values {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return { ...values, [first]: value };
  const inside = values[first] ?? {};
  if (typeof inside !== "object" || Array.isArray(inside)) {
    throw new HoldfastError("usage", `${first} is not a table in the file`, { hint: "change it by hand: holdfast config edit" });
  }
  return { ...values, [first]: changed(inside as Values, rest, value) };
}

/** Tables of different parsers have different prototypes. */
function plain(values: unknown): unknown {
  return JSON.parse(JSON.stringify(values));
}
