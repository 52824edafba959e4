/**
 * Runs a task file from its first open item to its last. For a finished item, the box is checked first, then the outcome is recorded, then the
 * session is stopped; if this process dies in between, the next run completes the rest. An interruption (Ctrl+C) or the daemon's end only ends
 * the wait: running items continue.
 */
import { HoldfastError } from "@holdfast/contract/errors";
import type { TaskItem } from "./parse.ts";
import { type Outcome, runAll } from "./schedule.ts";
import { tick } from "./tick.ts";
import type { Doing, Turns } from "./turns.ts";

export type Change =
  | { what: "begun"; session: string; agent: string; goesOn: boolean }
  | { what: "turn"; turn: number }
  | { what: "waits"; for: string }
  | { what: "done" }
  | { what: "failed"; why: string }
  | { what: "blocked"; by: TaskItem };

export interface Work {
  file: string;
  items: readonly TaskItem[];
  turns: Turns;
  parallel: number;
  signal: AbortSignal;
  onChange(item: TaskItem, change: Change): void;
}

/** Returns the outcomes. Throws if the daemon cannot be reached any more. */
export async function work({ file, items, turns, parallel, signal: asked, onChange }: Work): Promise<Map<TaskItem, Outcome>> {
  const all = items.map(({ scanned }) => scanned);
  const cutOff = new AbortController();
  const signal = AbortSignal.any([asked, cutOff.signal]);
  const run = async (item: TaskItem): Promise<Outcome> => {
    let doing: Doing | undefined;
    try {
      doing = await turns.start(item);
      onChange(item, { what: "begun", session: doing.session, agent: doing.agent, goesOn: doing.goesOn });
      for (let turn = 0; turn < item.turns.length; turn++) {
        await doing.prompt(turn, { signal, onWait: (what) => onChange(item, { what: "waits", for: what }) });
        if (signal.aborted) return "failed";
        onChange(item, { what: "turn", turn: turn + 1 });
      }
      await tick(file, { item: item.scanned, all });
      await doing.end("done", null);
      onChange(item, { what: "done" });
      return "done";
    } catch (error) {
      // The item is no longer awaited, and continues.
      if (signal.aborted) return "failed";
      if (isCutOff(error)) {
        cutOff.abort(error);
        return "failed";
      }
      const why = await whyFailed(doing, error);
      onChange(item, { what: "failed", why });
      return "failed";
    }
  };
  const outcomes = await runAll({ items, parallel, run, signal, onBlocked: (item, by) => onChange(item, { what: "blocked", by }) });
  if (cutOff.signal.aborted && !asked.aborted) throw cutOff.signal.reason;
  return outcomes;
}

const CUT_OFF: ReadonlySet<string> = new Set(["daemon_ended", "daemon_unreachable", "machine_unreachable"]);

/** True if the error is about the connection and not the item, whose agent keeps working. */
export function isCutOff(error: unknown): boolean {
  return CUT_OFF.has(HoldfastError.from(error).code);
}

/** A finished item whose box could not be checked still counts as done. */
async function whyFailed(doing: Doing | undefined, error: unknown): Promise<string> {
  const { code, message } = HoldfastError.from(error);
  const isDone = code === "task_item_gone" || code === "file_unusable";
  try {
    await doing?.end(isDone ? "done" : "failed", isDone ? null : message);
    return message;
  } catch (also) {
    return `${message}; and it could not be told: ${HoldfastError.from(also).message}`;
  }
}
