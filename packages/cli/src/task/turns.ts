/** Port for running items: one conversation per item, which takes one turn after another. */
import type { TaskItem } from "./parse.ts";

export interface Doing {
  /** The session of the item, and its agent. */
  session: string;
  agent: string;
  /** True if an interrupted run had already started the item. */
  goesOn: boolean;
  /**
   * Sends the prompt of a turn, counted from 0, and waits for its end. A prompt that was already sent is not repeated. Throws if there is no
   * answer. `onWait` gets the reason why it waits for a person, and "" when it no longer waits.
   */
  prompt(turn: number, how: { signal: AbortSignal; onWait(what: string): void }): Promise<string | null>;
  /** Records the outcome and stops the session. */
  end(outcome: "done" | "failed", why: string | null): Promise<void>;
}

export interface Turns {
  start(item: TaskItem): Promise<Doing>;
}
