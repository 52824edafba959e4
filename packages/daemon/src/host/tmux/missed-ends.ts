/**
 * tmux before 3.5 can miss a program's end: when a terminal closes it calls libutempter, which intercepts SIGCHLD for about a millisecond, and the
 * program's signal may arrive just then. The pane is dead, the program a zombie, no hook runs, and tmux would notice only when its next child ends.
 * Sending the signal again makes tmux check.
 *
 * One query covers all runs (0.3 ms of CPU for 100 runs). Dead panes are few, because the daemon removes them.
 */
import type { ControlClient } from "./control.ts";
import { type TmuxServer, tmuxAtLeast } from "./server.ts";

/** Longest delay until a missed end is reported. */
const EVERY_MS = 500;

/** Prints one line per dead pane. A pane whose end was missed has neither status nor signal. */
const QUESTION = "list-panes -a -f '#{pane_dead}' -F 'exit #{pane_dead_status}#{pane_dead_signal}'";
const UNACCOUNTED = "exit ";

export function watchMissedEnds(client: ControlClient, server: TmuxServer): Disposable {
  const { version } = server.program;
  // A reaper reports its program's exit, even if tmux misses it.
  if (server.reaper || tmuxAtLeast(version, 3, 5) || !tmuxAtLeast(version, 3, 2)) return { [Symbol.dispose]() {} };
  const timer = setInterval(async () => {
    const [lines = []] = await client.run(QUESTION).catch(() => []);
    if (lines.includes(UNACCOUNTED)) server.lookForEnded();
  }, EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
