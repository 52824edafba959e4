/**
 * Keeps the machine awake while an agent works, if configured. A program of the system holds the lock as long as its standard input is open, so the
 * lock ends with the daemon, however that ends.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { KeptAwake } from "@holdfast/contract";
import { describe, findProgram, log } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import { isInteractiveShell } from "./run/interactive-shell.ts";

const FOLLOWED = ["session.started", "session.status_changed", "session.ended", "session.removed"];

/** The lock is kept from one turn to the next. */
const LINGER_MS = 30_000;

/** Delay before a lock that failed or was lost is tried again: not at every turn, and also within a long one. */
const AGAIN_MS = 60_000;

export class KeepAwake implements Disposable {
  readonly #journal: Journal;
  readonly #queries: SessionQueries;
  readonly #wanted: boolean;
  readonly #lingerMs: number;
  readonly #againMs: number;
  readonly #path: string;
  readonly #ending = new AbortController();
  #holder: ChildProcess | undefined;
  #letGo: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #trouble: string | undefined;

  /** `path`: where to look for the system's program. */
  constructor(options: { journal: Journal; queries: SessionQueries; wanted: boolean; lingerMs?: number; againMs?: number; path?: string }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
    this.#wanted = options.wanted;
    this.#lingerMs = options.lingerMs ?? LINGER_MS;
    this.#againMs = options.againMs ?? AGAIN_MS;
    this.#path = options.path ?? process.env.PATH ?? "";
  }

  begin(): void {
    if (!this.#wanted) return;
    this.#look();
    this.#follow(this.#journal.cursor.seq).catch((error: unknown) => log(`keeping awake: ${describe(error)}`));
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    clearTimeout(this.#letGo);
    clearTimeout(this.#again);
    this.#release();
  }

  get state(): KeptAwake | null {
    if (!this.#wanted) return null;
    const by = this.#holder?.spawnfile.split("/").at(-1) ?? null;
    return { active: this.#holder !== undefined, by, trouble: this.#trouble ?? null };
  }

  async #follow(from: number): Promise<void> {
    const { signal } = this.#ending;
    for (let seq = from; !signal.aborted; ) {
      await this.#journal.changed(seq, signal);
      const end = this.#journal.cursor.seq;
      if (this.#journal.readAfter(seq, 1, { types: FOLLOWED }).length > 0) this.#look();
      seq = end;
    }
  }

  #look(): void {
    const works = this.#queries
      .live()
      .some(({ status, kind, command }) => status === "working" && !(kind === "shell" && isInteractiveShell(command)));
    if (works) {
      clearTimeout(this.#letGo);
      this.#letGo = undefined;
      if (!this.#holder) this.#hold();
    } else if (this.#holder && !this.#letGo) {
      this.#letGo = setTimeout(() => {
        this.#letGo = undefined;
        this.#release();
      }, this.#lingerMs).unref();
    }
  }

  #release(): void {
    const holder = this.#holder;
    this.#holder = undefined;
    holder?.stdin?.end();
  }

  #hold(): void {
    if (this.#again) return;
    const command = inhibitor(this.#path);
    if (!command) {
      this.#fail("neither systemd-inhibit nor caffeinate is installed");
      return;
    }
    const [program = "", ...args] = command;
    const holder = spawn(program, args, { stdio: ["pipe", "ignore", "pipe"] });
    let said = "";
    holder.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk).slice(-500);
    });
    holder.stdin?.on("error", () => {});
    holder.on("error", (error) => this.#lost(holder, error.message));
    holder.on("exit", (code) => this.#lost(holder, said.trim().split("\n").at(-1) || `it ended with ${code}`));
    holder.unref();
    this.#holder = holder;
    this.#trouble = undefined;
  }

  /** The program ended while it should hold the lock. */
  #lost(holder: ChildProcess, why: string): void {
    if (this.#holder !== holder) return;
    this.#holder = undefined;
    this.#fail(`${holder.spawnfile.split("/").at(-1)}: ${why}`);
  }

  #fail(what: string): void {
    if (this.#trouble !== what) log(`the machine is not kept awake: ${what}`);
    this.#trouble = what;
    if (this.#ending.signal.aborted) return;
    this.#again = setTimeout(() => {
      this.#again = undefined;
      this.#look();
    }, this.#againMs).unref();
  }
}

/** `cat` ends when its input ends. */
function inhibitor(path: string): string[] | undefined {
  const systemd = findProgram("systemd-inhibit", path, "/");
  if (systemd) return [systemd, "--what=idle:sleep", "--who=Holdfast", "--why=agents are working", "--mode=block", "cat"];
  const caffeinate = findProgram("caffeinate", path, "/");
  return caffeinate ? [caffeinate, "-i", "cat"] : undefined;
}
