import { HoldfastError } from "@holdfast/contract/errors";

/** An invalid value in a configuration file. `key` is its path: `agents.mine.screen[1].line`, `prices."my.model".input`. */
export class WrongSetting extends HoldfastError {
  readonly key: string;
  /** The message without the file, the line and the key. */
  readonly what: string;

  /** `called`: name of the key in the message, if people do not know it by its path. */
  constructor(wrong: { file: string; line?: number | null | undefined; key: string; called?: string; what: string; hint: string }) {
    const { file, line, key, called = key, what, hint } = wrong;
    super("usage", `${file}${line ? `, line ${line}` : ""}: ${called}${what.startsWith(":") ? "" : " "}${what}`, { hint });
    this.key = key;
    this.what = what.replace(/^: /, "");
  }
}
