/** Helpers for commands that follow a session across restarts. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { Context } from "../command.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** Events that may change whether a session is over. */
const CHANGES = ["session.ended", "session.run_created", "session.restart_abandoned", "session.removed"];

/** The daemon was killed or replaced, or its journal restored; the next daemon is asked. */
const PASSING = ["daemon_unreachable", "cursor_gone", "journal_damaged"];

export interface Awaiting {
  id: string;
  /** The last known name. */
  name?: string;
  signal?: AbortSignal;
  until(session: Session): boolean;
  /** Other event types that may change the condition. */
  changes?: readonly string[];
  /** Called with each intermediate state. Returns the milliseconds until the next check without an event. */
  onChange?(session: Session): undefined | Promise<number | undefined>;
}

/**
 * Resolves with the session once the condition holds; undefined when the signal aborts. A session whose next run is due has `endedAt` and
 * `restartAt`. Throws if the session was removed.
 */
export async function untilSession(context: Context, options: Awaiting): Promise<Session | undefined> {
  const signal = options.signal ?? new AbortController().signal;
  const type = [...CHANGES, ...(options.changes ?? [])];
  let known: Known = { id: options.id, name: options.name ?? options.id };
  for (;;) {
    const { cursor, now } = await asItIs(context, known);
    known = now;
    if (options.until(now)) return now;
    if (signal.aborted) return undefined;
    const againMs = await options.onChange?.(now);
    const wait = againMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(againMs)]);
    try {
      const query = { after: cursor, session: options.id, type };
      for await (const event of context.client.events({ query }, wait)) if (type.includes(event.type)) break;
    } catch (error) {
      if (!wait.aborted && error instanceof HoldfastError && !PASSING.includes(error.code)) throw error;
    }
  }
}

async function asItIs(context: Context, known: Known): Promise<{ cursor: string; now: Session }> {
  const { cursor, sessions } = await context.client.call("listSessions", { query: { names: [known.id] } }).catch(asRemoved(known));
  const [now] = sessions;
  if (!now) throw removed(known);
  return { cursor, now };
}

interface Known {
  id: string;
  name: string;
}

/** A session that existed at the start and is not found any more was removed. */
export function asRemoved(known: Known): (error: unknown) => never {
  return (error) => {
    throw error instanceof HoldfastError && error.code === "session_not_found" ? removed(known) : error;
  };
}

function removed({ id, name }: Known): HoldfastError {
  return new HoldfastError("session_removed", `${name} was removed`, { hint: `its events: holdfast events --session ${id}` });
}

/** True if it has ended and no further run is due. */
export function isOver({ endedAt, restartAt }: Session): boolean {
  return endedAt !== null && restartAt === null;
}

export function restartNote({ name, runs, status, restartAt }: Session): string {
  const pause = restartAt === null ? 0 : Math.max(0, Date.parse(restartAt) - Date.now());
  return `… run ${runs} of ${plain(name)} has ended (${status}); run ${runs + 1} starts ${pause < 1000 ? "now" : `in ${formatDuration(pause)}`}`;
}
