/** `ls --watch`: a snapshot, then a new one after each event. Continues when the daemon is replaced or killed. */
import type { Session } from "@holdfast/contract/session/session";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "../command.ts";
import { listTree } from "./list-tree.ts";
import { inOrder } from "./order.ts";
import type { selectionOf } from "./select.ts";
import { sessionTable, type TableOptions } from "./table.ts";

type Query = ReturnType<typeof selectionOf> & { usage: boolean };

/** Durations on the screen age even when nothing happens. */
const REFRESH_MS = 1000;

export async function watchSessions(context: Context, query: Query): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const screen = process.stdout.isTTY && !context.json;
  using _ = screen ? takeTerminal(() => stop.abort()) : undefined;
  const patience = new Patience();
  while (!stop.signal.aborted) {
    try {
      await followOnce(context, { query, signal: stop.signal, screen, onDrawn: () => patience.renew() });
    } catch (error) {
      if (stop.signal.aborted) break;
      await patience.bear(error);
    }
  }
  return 0;
}

/** Takes the whole screen, with keys not echoed: q and Ctrl+C quit, Ctrl+Z suspends. */
function takeTerminal(quit: () => void): Disposable {
  const { stdin, stdout } = process;
  const enter = () => {
    stdout.write("\x1b[?1049h\x1b[?25l");
    if (stdin.isTTY) stdin.setRawMode(true).resume();
  };
  const leave = () => {
    if (stdin.isTTY) stdin.setRawMode(false).pause();
    stdout.write("\x1b[?25h\x1b[?1049l");
  };
  const onKeys = (keys: Buffer) => {
    const text = keys.toString("latin1");
    if (["q", "Q", "\x03", "\x04"].some((key) => text.includes(key))) return quit();
    if (!text.includes("\x1a")) return;
    leave();
    process.once("SIGCONT", enter);
    process.kill(process.pid, "SIGTSTP");
  };
  if (stdin.isTTY) stdin.on("data", onKeys);
  enter();
  return {
    [Symbol.dispose]() {
      stdin.off("data", onKeys);
      leave();
    },
  };
}

async function followOnce(context: Context, how: { query: Query; signal: AbortSignal; screen: boolean; onDrawn(): void }): Promise<void> {
  const meter = new Meter();
  const draw = async () => {
    const { cursor, sessions, branches } = await listed(context, how.query);
    how.onDrawn();
    const options = { branches, now: Date.now(), usage: how.query.usage, load: meter.load(sessions) };
    process.stdout.write(
      how.screen
        ? frame(sessions, options)
        : `${context.json ? JSON.stringify(sessions) : table(sessions, { ...options, width: undefined })}\n`,
    );
    return cursor;
  };
  const after = await draw();
  // One pending drawing is enough while reconnecting.
  let isDrawing = false;
  const refresh = async () => {
    if (isDrawing) return;
    isDrawing = true;
    await draw().catch(() => {});
    isDrawing = false;
  };
  const timer = how.screen ? setInterval(() => void refresh(), REFRESH_MS) : undefined;
  try {
    for await (const event of context.client.events({ query: { after } }, how.signal)) {
      if (event.session !== null) await draw();
    }
  } finally {
    clearInterval(timer);
  }
}

async function listed(context: Context, query: Query) {
  const { client, flags, json } = context;
  if (flags.has("tree")) return listTree(context, query);
  const { sessions, ...list } = await client.call("listSessions", { query });
  return { ...list, sessions: json ? sessions : inOrder(sessions), branches: undefined };
}

/** CPU time per second between two reads. */
class Meter {
  #last = new Map<string, { at: number; cpuMs: number }>();

  load(sessions: readonly Session[]): Map<string, number> {
    const load = new Map<string, number>();
    const at = performance.now();
    const next = new Map<string, { at: number; cpuMs: number }>();
    for (const { id, usage } of sessions) {
      if (usage === null) continue;
      const before = this.#last.get(id);
      if (before && at > before.at) load.set(id, Math.max(0, usage.cpuMs - before.cpuMs) / (at - before.at));
      next.set(id, { at, cpuMs: usage.cpuMs });
    }
    this.#last = next;
    return load;
  }
}

function frame(sessions: readonly Session[], options: Omit<TableOptions, "width">): string {
  const lines = table(sessions, { ...options, width: process.stdout.columns })
    .split("\n")
    .slice(0, (process.stdout.rows ?? 24) - 3);
  // The line below is for other messages, such as a lost connection.
  return `\x1b[H${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[K\nq quits\x1b[K\n\x1b[J`;
}

function table(sessions: readonly Session[], options: TableOptions): string {
  return sessions.length > 0 ? sessionTable(sessions, options) : "No session is running.";
}
