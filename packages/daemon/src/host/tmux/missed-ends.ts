/**
 * tmux before 3.5 can miss that a program has ended: libutempter, which it calls when a terminal closes, takes SIGCHLD for itself for about
 * a millisecond, and the program's signal may come just then. The pane is dead, the program a zombie, no hook runs, and tmux would notice
 * only with the next child that ends. The signal, sent again, makes it look.
 *
 * One question for all runs (0.3 ms of CPU at 100 of them); dead panes are few, for the daemon removes them.
 */
import type { ControlClient } from "./control.ts";
import { type TmuxServer, tmuxAtLeast } from "./server.ts";

/** How late an end may be told that tmux has missed. */
const EVERY_MS = 500;

/** A line for each dead pane; one that is not accounted for has neither status nor signal. */
const QUESTION = "list-panes -a -f '#{pane_dead}' -F 'exit #{pane_dead_status}#{pane_dead_signal}'";
const UNACCOUNTED = "exit ";

export function watchMissedEnds(client: ControlClient, server: TmuxServer): Disposable {
  const { version } = server.program;
  // A reaper says how its program ended, whatever tmux notices.
  if (server.reaper || tmuxAtLeast(version, 3, 5) || !tmuxAtLeast(version, 3, 2)) return { [Symbol.dispose]() {} };
  const timer = setInterval(async () => {
    const [lines = []] = await client.run(QUESTION).catch(() => []);
    if (lines.includes(UNACCOUNTED)) server.lookForEnded();
  }, EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
