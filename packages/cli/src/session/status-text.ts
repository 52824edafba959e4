/** A session's status as text: its age, the reason it waits, and background activity. */
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import { NEAR_LIMIT } from "@holdfast/contract/usage/amounts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** `waiting 3m`, `idle 12s (background)`, `working 40m (hung)`; for an ended session, the status alone. */
export function statusCell(session: Session): string {
  if (hasEnded(session.status) || session.statusForMs === null) return session.status;
  const notes = [
    ...(session.failure?.what === "turn" ? ["a turn failed"] : []),
    ...nearLimits(session),
    ...(session.hung ? ["hung"] : []),
    ...(session.background ? ["background"] : []),
  ];
  return `${session.status} ${shortAge(session.statusForMs)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}

/** `budget 85 %`, for the limit with the largest used share. */
function nearLimits({ budget }: Session): string[] {
  const shares = (budget?.limits ?? []).map(({ used, allowed }) => (used ?? 0) / allowed);
  const nearest = Math.max(0, ...shares);
  return nearest < NEAR_LIMIT ? [] : [`budget ${Math.floor(nearest * 100)} %`];
}

/** The reason it waits, in one line: `approval: Bash: make install`. Empty if it does not wait. */
export function waitsFor({ attention }: Pick<Session, "attention">, now: number): string {
  if (attention === null) return "";
  const words = {
    approval: "approval",
    question: "an answer",
    trust: "trust in its directory",
    login: "a login",
    rate_limit: "its rate limit",
  };
  const text = attention.text === null ? "" : `: ${plain(attention.text)}`;
  const until = attention.until === null ? "" : ` (for ${formatDuration(Math.max(0, Date.parse(attention.until) - now))} more)`;
  return words[attention.for] + text + until;
}

/** The first part of a duration: `3m`, `2h`. */
export function shortAge(ms: number): string {
  return formatDuration(ms).split(" ")[0] ?? "";
}
