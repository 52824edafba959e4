/** The demo agent's conversations, one file each, written turn by turn as agents do: one that it never had a turn in is not there. */
import { appendFileSync, constants, copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export interface Remembered {
  prompt: string;
  /** Null: it was interrupted, failed, or never came to an end. */
  said: string | null;
}

export class Memory {
  readonly #file: string;

  constructor(conversation: string) {
    const state = process.env.XDG_STATE_HOME || join(process.env.HOME || homedir(), ".local/state");
    this.#file = join(state, "holdfast-demo", `${conversation.replace(/[^\w-]/g, "_")}.jsonl`);
  }

  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** Begins with what another has. */
  copy(other: Memory): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    copyFileSync(other.#file, this.#file, constants.COPYFILE_EXCL);
  }

  turns(): Remembered[] {
    const turns: Remembered[] = [];
    for (const line of this.exists ? readFileSync(this.#file, "utf8").split("\n") : []) {
      if (line === "") continue;
      const { prompt, said } = JSON.parse(line) as { prompt?: string; said?: string };
      if (prompt !== undefined) turns.push({ prompt, said: null });
      const last = turns.at(-1);
      if (said !== undefined && last) last.said = said;
    }
    return turns;
  }

  add(what: { prompt: string } | { said: string }): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true });
      appendFileSync(this.#file, `${JSON.stringify(what)}\n`);
    } catch {
      // It works where nothing can be written, too; it only forgets.
    }
  }
}
