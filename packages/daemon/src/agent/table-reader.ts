/** Reads the tables of config.toml about agents. */
import { WrongSetting } from "@holdfast/platform";

type Table = Record<string, unknown>;

/** Reads values, or throws an error that names the file and the invalid key. */
export class TableReader {
  readonly file: string;
  readonly path: string;

  constructor(file: string, path: string) {
    this.file = file;
    this.path = path;
  }

  under(key: string): TableReader {
    return new TableReader(this.file, `${this.path}.${key}`);
  }

  wrong(key: string, what: string, hint: string): WrongSetting {
    return new WrongSetting({ file: this.file, key: `${this.path}.${key}`, what, hint });
  }

  refusal(what: string, hint: string): WrongSetting {
    return new WrongSetting({ file: this.file, key: this.path, what: what.trimStart(), hint });
  }

  table(value: unknown): Table {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
    throw this.refusal(" is not a table", `for example: [${this.path}]`);
  }

  list(value: unknown, key: string): unknown[] {
    if (Array.isArray(value)) return value;
    throw this.wrong(key, "is not a list of tables", `for example: [[${this.path}.${key}]]`);
  }

  /** A whole number, of at least `least`. */
  count(value: unknown, key: string, least: number): number | undefined {
    if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value >= least)) return value;
    throw this.wrong(key, `is not a whole number of at least ${least}`, `for example: ${key} = ${Math.max(least, 10)}`);
  }

  words(value: unknown, key: string): string[] {
    if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")) return value;
    throw this.wrong(key, "is not a list of words", `for example: ${key} = ["--flag", "value"]`);
  }

  text(value: unknown, key: string): string | undefined {
    if (value === undefined || typeof value === "string") return value;
    throw this.wrong(key, "is not text", `for example: ${key} = "words"`);
  }

  pattern(value: unknown, key: string): RegExp | undefined {
    const text = this.text(value, key);
    if (text === undefined) return undefined;
    try {
      return new RegExp(text, "u");
    } catch (error) {
      throw this.wrong(key, `is not a regular expression: ${(error as Error).message}`, "write a backslash twice, or use '…'");
    }
  }

  oneOf<T extends string>(value: unknown, key: string, words: readonly T[]): T | undefined {
    const word = words.find((known) => known === value);
    if (value === undefined || word) return word;
    throw this.wrong(key, `${JSON.stringify(value)} is not one of ${words.join(", ")}`, `for example: ${key} = "${words[0]}"`);
  }
}
