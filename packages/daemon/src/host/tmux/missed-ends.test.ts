import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ControlClient } from "./control.ts";
import { watchMissedEnds } from "./missed-ends.ts";
import type { TmuxServer } from "./server.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A fake server: tmux misses an end only by a race that no test can provoke. This one answers as tmux does afterwards. */
function watched(options: { version: string; says: () => string[] }) {
  const run = vi.fn(async () => [options.says()]);
  const lookForEnded = vi.fn();
  const server = { program: { path: "tmux", version: options.version }, lookForEnded } as unknown as TmuxServer;
  return { run, lookForEnded, watch: watchMissedEnds({ run } as unknown as ControlClient, server) };
}

test("a dead pane without a status makes the server check its children, once per sighting", async () => {
  let panes = ["exit 0", "exit "];
  const { lookForEnded, watch } = watched({ version: "3.3a", says: () => panes });
  await vi.advanceTimersByTimeAsync(600);
  expect(lookForEnded).toHaveBeenCalledTimes(1);
  panes = ["exit 0"];
  await vi.advanceTimersByTimeAsync(5000);
  expect(lookForEnded).toHaveBeenCalledTimes(1);
  watch[Symbol.dispose]();
});

test("an exit status or a signal counts as a reported end", async () => {
  const { lookForEnded, watch } = watched({ version: "3.4", says: () => ["exit 0", "exit 9", "exit 255"] });
  await vi.advanceTimersByTimeAsync(3000);
  expect(lookForEnded).not.toHaveBeenCalled();
  watch[Symbol.dispose]();
});

test.each(["3.5a", "3.6", "next-3.7", "3.1c"])("tmux %s is not queried", async (version) => {
  const { run, watch } = watched({ version, says: () => ["exit "] });
  await vi.advanceTimersByTimeAsync(3000);
  expect(run).not.toHaveBeenCalled();
  watch[Symbol.dispose]();
});

test("a disposed watch sends no more queries", async () => {
  const { run, watch } = watched({ version: "3.3a", says: () => ["exit "] });
  watch[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(3000);
  expect(run).not.toHaveBeenCalled();
});
