/**
 * The turns of each session, by the ids that the agent's hooks give them. A prompt announces the turn that it begins. Claude reports a prompt typed
 * during a turn at once, with the id of that turn; the turn that it begins afterwards has an id that no prompt announces. A turn that nobody prompted,
 * such as one about a finished subagent, is announced like any other.
 */
import type { SessionId } from "@holdfast/contract";
import type { Signal } from "../agent/hooks/hook-rules.ts";

/** After a turn during which more prompts were taken, the next turn begins without an announcement; by then the agent's status shows it. */
export const GOES_ON_MS = 1000;

interface Announced {
  run: number;
  turn: string;
  /** Time of the announcing report, which may be taken twice. */
  at: string;
  /** Other prompts were reported during the turn. */
  joined: boolean;
  /** When the turn ended; monotonic. */
  endedAt: number | null;
}

export class AnnouncedTurns {
  readonly #newest = new Map<SessionId, Announced>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a hook's report. Returns true if it reports a prompt that was taken into a turn that another prompt began. */
  take(session: SessionId, run: number, signal: Pick<Signal, "at" | "turn" | "prompt" | "written">, ends: boolean): boolean {
    const { turn, prompt, at, written } = signal;
    if (turn === null || written) return false;
    const newest = this.#newestOf(session, run);
    if (prompt === null) {
      if (ends && newest?.turn === turn) newest.endedAt = this.#now();
      return false;
    }
    if (newest?.turn !== turn) this.#newest.set(session, { run, turn, at, joined: false, endedAt: null });
    else if (newest.at !== at) newest.joined = true;
    return newest?.turn === turn && newest.at !== at;
  }

  /** True if the turn is the newest that a prompt announced. */
  isAnnounced(session: SessionId, run: number, turn: string): boolean {
    return this.#newestOf(session, run)?.turn === turn;
  }

  /** True if the agent has just ended a turn and may begin the next by itself, with prompts that it took meanwhile. */
  mayGoOn(session: SessionId, run: number): boolean {
    const newest = this.#newestOf(session, run);
    return newest?.joined === true && newest.endedAt !== null && this.#now() < newest.endedAt + GOES_ON_MS;
  }

  #newestOf(session: SessionId, run: number): Announced | undefined {
    const newest = this.#newest.get(session);
    return newest?.run === run ? newest : undefined;
  }
}
