/** For commands that stay with a session over its restarts. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import type { Context } from "./command.ts";
import { formatDuration } from "./duration.ts";
import { plain } from "./plain.ts";

/** What changes whether a session has ended for good. */
const CHANGES = ["session.ended", "session.run_created", "session.restart_abandoned"] as const;

/** The daemon was killed or replaced, or its journal restored: its successor is asked. */
const PASSING = ["daemon_unreachable", "cursor_gone", "journal_damaged"];

/**
 * The session as soon as the condition holds, or when the signal aborts; `onChange` sees it as it is each time in between. A session whose next
 * run is due is found with `endedAt` and `restartAt`.
 */
export async function untilSession(
  context: Context,
  options: { id: string; signal?: AbortSignal; until(session: Session): boolean; onChange?(session: Session): unknown },
): Promise<Session | undefined> {
  const signal = options.signal ?? new AbortController().signal;
  for (;;) {
    const { cursor, sessions } = await context.client.call("listSessions", { query: { names: [options.id] } });
    const [now] = sessions;
    if (!now) return undefined;
    if (options.until(now)) return now;
    if (signal.aborted) return undefined;
    options.onChange?.(now);
    try {
      const query = { after: cursor, session: options.id, type: [...CHANGES] };
      for await (const event of context.client.events({ query }, signal)) if ((CHANGES as readonly string[]).includes(event.type)) break;
    } catch (error) {
      if (error instanceof HoldfastError && !PASSING.includes(error.code)) throw error;
    }
  }
}

/** Whether it has ended and no further run is due. */
export function isOver({ endedAt, restartAt }: Session): boolean {
  return endedAt !== null && restartAt === null;
}

export function restartNote({ name, runs, status, restartAt }: Session): string {
  const pause = restartAt === null ? 0 : Math.max(0, Date.parse(restartAt) - Date.now());
  return `… run ${runs} of ${plain(name)} has ended (${status}); run ${runs + 1} starts ${pause < 1000 ? "now" : `in ${formatDuration(pause)}`}`;
}
