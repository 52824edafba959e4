import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, isMissing, writeFileAtomic } from "@holdfast/platform";

/** The ids of revoked tokens, in a file next to the journal: a restored backup must not make a revoked token valid again. */
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

  /** Called before the event is in the journal: after a crash in between, the next start finds the id here. */
  add(id: string): void {
    writeFileAtomic(this.#path, `${[...new Set([...this.read(), id])].join("\n")}\n`);
  }
}
