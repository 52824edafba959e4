import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, isMissing, writeFileAtomic } from "@holdfast/platform";

/** The ids of revoked tokens, in a file beside the journal: a backup that is restored must not open what was closed after it. */
export class RevokedList {
  readonly #path: string;

  constructor(home: Home) {
    this.#path = join(home.path, "revoked-tokens");
  }

  read(): string[] {
    try {
      return readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  /** Before the fact is in the journal: a crash in between, and the next start finds it here. */
  add(id: string): void {
    writeFileAtomic(this.#path, `${[...new Set([...this.read(), id])].join("\n")}\n`);
  }
}
