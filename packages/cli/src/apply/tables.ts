/** The tables of a TOML file, with the line of each key, which the parser does not report. */
import { HoldfastError } from "@holdfast/contract/errors";
import { editDistance } from "@holdfast/platform/edit-distance";
import type { TomlTable, TomlValue } from "smol-toml";

export type Table = Readonly<Record<string, unknown>>;

export class Tables {
  readonly #file: string;
  readonly #lines: readonly string[];
  readonly root: Table;

  private constructor(file: string, text: string, root: Table) {
    this.#file = file;
    this.#lines = text.split(/\r?\n/);
    this.root = root;
  }

  static async read(file: string, text: string): Promise<Tables> {
    const { parse, TomlError } = await import("smol-toml");
    try {
      return new Tables(file, text, asJson(parse(text)) as Table);
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const what = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "not valid TOML";
      throw new HoldfastError("plan_invalid", `${file}:${error.line}: ${what}`, { hint: "see: holdfast apply --help", cause: error });
    }
  }

  /** Line of the key, or else of the closest table that would hold it. */
  lineOf(...path: readonly string[]): number {
    for (let length = path.length; length > 0; length--) {
      const line = this.#find(path.slice(0, length));
      if (line !== undefined) return line;
    }
    return 1;
  }

  wrong(path: readonly string[], what: string, hint?: string, candidates: readonly string[] = []): HoldfastError {
    return new HoldfastError("plan_invalid", `${this.#file}:${this.lineOf(...path)}: ${what}`, {
      ...(hint === undefined ? {} : { hint }),
      ...(candidates.length > 0 ? { candidates: [...candidates] } : {}),
    });
  }

  /** Refuses unknown keys, which are most likely typos. */
  checkKeys(table: Table, path: readonly string[], known: readonly string[]): void {
    const odd = Object.keys(table).find((key) => !known.includes(key));
    if (odd === undefined) return;
    const alike = known.filter((key) => editDistance(key, odd) <= 2 || key.startsWith(odd) || odd.startsWith(key));
    const where = path.length === 0 ? "the file" : `[${path.join(".")}]`;
    throw this.wrong([...path, odd], `${where} has no key ${JSON.stringify(odd)}`, `its keys are: ${known.join(", ")}`, alike);
  }

  table(value: unknown, path: readonly string[]): Table {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
    throw this.wrong(path, `${path.join(".")} is not a table`, `for example: [${path.join(".")}]`);
  }

  text(table: Table, path: readonly string[], key: string): string | undefined {
    const value = table[key];
    if (value === undefined) return undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
    throw this.wrong([...path, key], `${key} is ${value === "" ? "empty" : "not a text"}`, `for example: ${key} = "…"`);
  }

  flag(table: Table, path: readonly string[], key: string): boolean | undefined {
    const value = table[key];
    if (value === undefined || typeof value === "boolean") return value;
    throw this.wrong([...path, key], `${key} must be true or false, not ${JSON.stringify(value)}`);
  }

  texts(table: Table, path: readonly string[], key: string): string[] | undefined {
    const value = table[key];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value as string[];
    throw this.wrong([...path, key], `${key} is not a list of texts`, `for example: ${key} = ["…", "…"]`);
  }

  oneOf<T extends string>(table: Table, path: readonly string[], { key, words }: { key: string; words: readonly T[] }): T | undefined {
    const value = table[key];
    const word = words.find((known) => known === value);
    if (value === undefined || word !== undefined) return word;
    throw this.wrong([...path, key], `${key} does not take ${JSON.stringify(value)}`, undefined, words);
  }

  /** Finds a key by its header, or below the header of its table, inline or dotted. */
  #find(path: readonly string[]): number | undefined {
    const header = this.#lines.findIndex((line) => isHeader(line, path));
    if (header !== -1) return header + 1;
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const at = depth === 0 ? -1 : this.#lines.findIndex((line) => isHeader(line, path.slice(0, depth)));
      if (depth > 0 && at === -1) continue;
      const [key = ""] = path.slice(depth);
      for (let index = at + 1; index < this.#lines.length && !/^\s*\[/.test(this.#lines[index] ?? ""); index++) {
        const [, bare, quoted] = /^\s*(?:([\w-]+)|["']([^"']*)["'])\s*[.=]/.exec(this.#lines[index] ?? "") ?? [];
        if ((bare ?? quoted) === key) return index + 1;
      }
    }
    return undefined;
  }
}

function isHeader(line: string, path: readonly string[]): boolean {
  // Each character belongs to one part of the pattern only: others take forever on a long line of blanks.
  const name = /^\[\[?([^\]]*)\]/.exec(line.trim())?.[1];
  const parts = name?.match(/"[^"]*"|'[^']*'|[^.\s]+/g)?.map((part) => part.replace(/^(["'])(.*)\1$/, "$2"));
  return parts !== undefined && parts.length === path.length && parts.every((part, index) => part === path[index]);
}

/** Converts dates, and integers too large for JavaScript, to text. */
function asJson(value: TomlValue | TomlTable): unknown {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asJson(each)]));
}
