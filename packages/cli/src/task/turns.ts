/** What items are done with: a conversation for each, which takes one turn after the other. */
import type { TaskItem } from "./parse.ts";

export interface Doing {
  /** The session it is done in, and who works there. */
  session: string;
  agent: string;
  /** Whether it had been begun before, by a run that was interrupted. */
  goesOn: boolean;
  /**
   * Says the words of a turn, counted from 0, and waits for its end. One that was said before is not said again. Throws where there is no
   * answer; `onWait` is told what it waits for a person for, and "" when it does not any more.
   */
  prompt(turn: number, how: { signal: AbortSignal; onWait(what: string): void }): Promise<string | null>;
  /** What became of it is written down, and nothing of it runs any more. */
  end(outcome: "done" | "failed", why: string | null): Promise<void>;
}

export interface Turns {
  start(item: TaskItem): Promise<Doing>;
}
