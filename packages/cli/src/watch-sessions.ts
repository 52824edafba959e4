/** `ls --watch`: a snapshot, then a new one after each event. A daemon that is replaced or killed is found again. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import type { Context } from "./command.ts";
import type { selectionOf } from "./select.ts";
import { sessionTable } from "./table.ts";

/** Durations on the screen age even when nothing happens. */
const REFRESH_MS = 1000;

export async function watchSessions(context: Context, query: ReturnType<typeof selectionOf>): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const screen = process.stdout.isTTY && !context.json;
  if (screen) process.stdout.write("\x1b[?1049h\x1b[?25l");
  try {
    while (!stop.signal.aborted) {
      try {
        await followOnce(context, { query, signal: stop.signal, screen });
      } catch (error) {
        if (stop.signal.aborted) break;
        if (error instanceof HoldfastError && !["daemon_unreachable", "cursor_gone"].includes(error.code)) throw error;
      }
    }
  } finally {
    if (screen) process.stdout.write("\x1b[?25h\x1b[?1049l");
  }
  return 0;
}

async function followOnce(
  context: Context,
  how: { query: ReturnType<typeof selectionOf>; signal: AbortSignal; screen: boolean },
): Promise<void> {
  const draw = async () => {
    const { cursor, sessions } = await context.client.call("listSessions", { query: how.query });
    process.stdout.write(
      how.screen
        ? frame(sessions)
        : `${context.json ? JSON.stringify(sessions) : sessionTable(sessions, { now: Date.now(), width: undefined })}\n`,
    );
    return cursor;
  };
  const after = await draw();
  const timer = how.screen ? setInterval(() => void draw().catch(() => {}), REFRESH_MS) : undefined;
  try {
    for await (const event of context.client.events({ query: { after } }, how.signal)) {
      if (event.session !== null) await draw();
    }
  } finally {
    clearInterval(timer);
  }
}

function frame(sessions: readonly Session[]): string {
  const table = sessions.length > 0 ? sessionTable(sessions, { now: Date.now(), width: process.stdout.columns }) : "Nothing runs.";
  const lines = table.split("\n").slice(0, (process.stdout.rows ?? 24) - 2);
  return `\x1b[H${lines.map((line) => `${line}\x1b[K\n`).join("")}\x1b[K\nCtrl+C leaves\x1b[J`;
}
