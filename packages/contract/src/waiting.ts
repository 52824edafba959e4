/** Who wants a person. */
import type { Session } from "./session.ts";

/**
 * Those that wait for a person, the longest first; then those that hang. With `failed` then those with a failure that nobody has looked at. With `idle` also those that are done with their turn, or wait for the
 * end of a rate limit: nobody can give them that.
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

/** The one after `current` in that order, and round; `current` itself is never next. */
export function nextWaiting(
  sessions: readonly Session[],
  options: { current?: string | undefined; idle?: boolean; failed?: boolean } = {},
): Session | undefined {
  const waiting = waitingSessions(sessions, options);
  const here = waiting.findIndex(({ id }) => id === options.current);
  const next = waiting[(here + 1) % waiting.length];
  return next?.id === options.current ? undefined : next;
}
