/** The demo agent's conversations, one file each, written turn by turn as in real agents. A conversation without a turn has no file. */
import { appendFileSync, constants, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Used } from "./usage.ts";

export interface Remembered {
  prompt: string;
  /** Null: the turn was interrupted, failed, or has not ended. */
  said: string | null;
}

/** A line of the file: the prompt, an update, the complete answer, or the model usage of a turn. */
export type Line = { prompt?: string; cwd?: string; update?: unknown; said?: string; used?: Used };

export class Memory {
  readonly #file: string;

  constructor(conversation: string) {
    this.#file = join(directory(), `${conversation.replace(/[^\w-]/g, "_")}.jsonl`);
  }

  /** All conversations, the latest first. */
  static all(): { conversation: string; memory: Memory; at: Date }[] {
    const names = existsSync(directory()) ? readdirSync(directory()).filter((name) => name.endsWith(".jsonl")) : [];
    return names
      .map((name) => {
        const conversation = basename(name, ".jsonl");
        return { conversation, memory: new Memory(conversation), at: statSync(join(directory(), name)).mtime };
      })
      .sort((a, b) => b.at.getTime() - a.at.getTime());
  }

  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** Starts as a copy of another conversation. */
  copy(other: Memory): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    copyFileSync(other.#file, this.#file, constants.COPYFILE_EXCL);
  }

  turns(): Remembered[] {
    const turns: Remembered[] = [];
    for (const { prompt, said } of this.lines()) {
      if (prompt !== undefined) turns.push({ prompt, said: null });
      const last = turns.at(-1);
      if (said !== undefined && last) last.said = said;
    }
    return turns;
  }

  lines(): Line[] {
    return this.exists ? readFileSync(this.#file, "utf8").split("\n").flatMap(parsed) : [];
  }

  add(what: Line): void {
    try {
      mkdirSync(dirname(this.#file), { recursive: true });
      appendFileSync(this.#file, `${JSON.stringify(what)}\n`);
    } catch {
      // Without write access the agent still works, but does not remember.
    }
  }
}

function directory(): string {
  const state = process.env.XDG_STATE_HOME || join(process.env.HOME || homedir(), ".local/state");
  return join(state, "holdfast-demo");
}

/** The last line may be torn, if its writer was killed. */
function parsed(line: string): Line[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as Line];
  } catch {
    return [];
  }
}
