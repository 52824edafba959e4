/** Waits until an agent is idle, waits for a person, or has ended its turn. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import { hasEnded } from "@holdfast/contract/status";
import type { Context } from "./command.ts";
import { waitsFor } from "./status-text.ts";

export const AWAITED = ["idle", "waiting", "turn"] as const;
export type Awaited = (typeof AWAITED)[number];

/** An agent that has just been started has not told anything yet. */
const UNKNOWN_PATIENCE_MS = 10_000;

const CHANGES = ["session.status_changed", "session.started", "session.ended"];

export async function untilStatus(context: Context, how: { session: Session; what: Awaited; over: AbortSignal }): Promise<Session> {
  const reached = conditionOf(how.what);
  let unknownSince: number | undefined;
  for (;;) {
    const { cursor, sessions } = await context.client.call("listSessions", { query: { names: [how.session.id] } });
    const [now] = sessions;
    if (!now) throw new HoldfastError("session_not_found", `${how.session.name} was removed`);
    if (reached(now)) return now;
    if (hasEnded(now.status) && now.restartAt === null) {
      throw new HoldfastError("session_ended", `${now.name} has ended (${now.status}) before that`, {
        hint: `read what it said: holdfast logs ${now.name}`,
      });
    }
    unknownSince = now.status === "unknown" ? (unknownSince ?? performance.now()) : undefined;
    const patience = unknownSince === undefined ? undefined : await patienceWith(context, now, unknownSince);
    if (how.over.aborted) throw new HoldfastError("timeout", `${now.name} is ${inWords(now)}`);
    const signal = patience === undefined ? how.over : AbortSignal.any([how.over, AbortSignal.timeout(patience)]);
    try {
      for await (const event of context.client.events({ query: { after: cursor, session: now.id, type: CHANGES } }, signal)) {
        if (CHANGES.includes(event.type)) break;
      }
    } catch (error) {
      // The daemon was killed or replaced, or its journal restored: ask its successor. When the time is over, the next round says so.
      if (error instanceof HoldfastError && !["daemon_unreachable", "cursor_gone", "journal_damaged"].includes(error.code)) throw error;
    }
  }
}

/** Each look is told what the last one saw: the end of a turn is a change, not a state. */
function conditionOf(what: Awaited): (session: Session) => boolean {
  if (what === "idle") return ({ status }) => status === "idle";
  if (what === "waiting") return ({ status }) => status === "waiting";
  let turns: number | undefined;
  return ({ turn, turns: now }) => {
    // None runs: the next one that begins is meant.
    turns ??= turn === "working" ? now - 1 : now;
    return turn === "idle" && now > turns;
  };
}

async function patienceWith(context: Context, session: Session, since: number): Promise<number> {
  const { explanation } = await context.client.call("explainSession", { params: { ref: session.id } });
  const left = since + UNKNOWN_PATIENCE_MS - performance.now();
  if (explanation.sources.length > 0 && left > 0) return Math.ceil(left);
  throw new HoldfastError("status_unknown", `what ${session.name} does is not known`, {
    hint:
      explanation.sources.length === 0
        ? `nothing tells what ${session.agent} does; wait for something it prints: --for output=REGEX`
        : `see why: holdfast explain ${session.name}`,
  });
}

function inWords(session: Session): string {
  return session.attention ? `waiting for ${waitsFor(session, Date.now())}` : session.status;
}
