/** Waits until an agent is idle, waits for a person, or has ended its turn. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { Context } from "../command.ts";
import { isOver, untilSession } from "./next-run.ts";
import { waitsFor } from "./status-text.ts";

export const AWAITED = ["idle", "waiting", "turn"] as const;
export type Awaited = (typeof AWAITED)[number];

/** A newly started agent has not reported a status yet. */
const UNKNOWN_PATIENCE_MS = 10_000;

export async function untilStatus(
  context: Context,
  { session, what, over }: { session: Session; what: Awaited; over: AbortSignal },
): Promise<Session> {
  let last = session;
  let unknownSince: number | undefined;
  const found = await untilSession(context, {
    id: session.id,
    name: session.name,
    signal: over,
    until: conditionOf(what),
    changes: ["session.status_changed", "session.started"],
    async onChange(now) {
      last = now;
      if (isOver(now)) {
        throw new HoldfastError("session_ended", `${now.name} ended (${now.status}) before that`, {
          hint: `read its output: holdfast logs ${now.name}`,
        });
      }
      // A shell has only a process, and is never idle.
      unknownSince = now.status === "unknown" || now.kind === "shell" ? (unknownSince ?? performance.now()) : undefined;
      return unknownSince === undefined ? undefined : patienceWith(context, now, unknownSince);
    },
  });
  if (found) return found;
  throw new HoldfastError("timeout", `${last.name} is ${inWords(last)}`);
}

/** Each call compares with the previous one: the end of a turn is a change, not a state. */
function conditionOf(what: Awaited): (session: Session) => boolean {
  if (what === "idle") return ({ status }) => status === "idle";
  if (what === "waiting") return ({ status }) => status === "waiting";
  let turns: number | undefined;
  return ({ turn, turns: known }) => {
    const now = known ?? 0;
    // No turn runs, so wait for the next one.
    turns ??= turn === "working" ? now - 1 : now;
    return turn === "idle" && now > turns;
  };
}

async function patienceWith(context: Context, session: Session, since: number): Promise<number> {
  const { explanation } = await context.client.call("explainSession", { params: { ref: session.id } });
  const left = since + UNKNOWN_PATIENCE_MS - performance.now();
  if (explanation.sources.length > 0 && left > 0) return Math.ceil(left);
  throw new HoldfastError("status_unknown", `the status of ${session.name} is unknown`, {
    hint:
      explanation.sources.length === 0
        ? `${session.agent} does not report its status; wait for output instead: --for output=REGEX`
        : `find out why: holdfast explain ${session.name}`,
  });
}

function inWords(session: Session): string {
  return session.attention ? `waiting for ${waitsFor(session, Date.now())}` : session.status;
}
