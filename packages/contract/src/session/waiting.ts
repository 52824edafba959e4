/** Sessions that wait for a person. */
import type { Session } from "./session.ts";

/**
 * Sessions that wait for a person, the longest first, then hung ones. `failed` adds those with an unviewed failure. `idle` adds those whose turn has
 * ended and those that wait for the end of a rate limit, which no person can lift.
 */
export function waitingSessions(sessions: readonly Session[], options: { idle?: boolean; failed?: boolean } = {}): Session[] {
  const rank = ({ status, attention, hung, failure }: Session) => {
    const isLimited = attention?.for === "rate_limit";
    if (status === "waiting" && !isLimited) return 0;
    if (hung) return 1;
    if (options.failed && failure) return 2;
    return options.idle && (status === "idle" || isLimited) ? 3 : undefined;
  };
  return sessions
    .flatMap((session) => {
      const order = rank(session);
      return order === undefined ? [] : [{ session, order }];
    })
    .sort((a, b) => a.order - b.order || (b.session.statusForMs ?? 0) - (a.session.statusForMs ?? 0))
    .map(({ session }) => session);
}

/** The session after `current` in that order, starting again at the end; never `current` itself. */
export function nextWaiting(
  sessions: readonly Session[],
  options: { current?: string | undefined; idle?: boolean; failed?: boolean } = {},
): Session | undefined {
  const waiting = waitingSessions(sessions, options);
  const here = waiting.findIndex(({ id }) => id === options.current);
  const next = waiting[(here + 1) % waiting.length];
  return next?.id === options.current ? undefined : next;
}
