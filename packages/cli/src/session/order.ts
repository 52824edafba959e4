/** The order of `ls`: sessions that need a person, then running ones, then ended ones; by name among equals. */
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded, type SessionStatus } from "@holdfast/contract/session/status";

export function inOrder(sessions: readonly Session[]): Session[] {
  return [...sessions].sort((a, b) => rankOf(a) - rankOf(b) || byName(a.name, b.name));
}

const ORDER: readonly SessionStatus[] = ["working", "starting", "unknown", "idle", "created", "lost", "failed", "done", "stopped"];

/** A viewed failure no longer counts. */
function rankOf({ status, hung, failure }: Session): number {
  if (status === "waiting") return 0;
  if (hung && !hasEnded(status)) return 1;
  return failure === null ? 3 + ORDER.indexOf(status) : 2;
}

/** Sorts `fix-2` before `fix-10`. */
export function byName(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)];
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    // Odd parts are numbers.
    const order = index % 2 === 1 ? Number(part) - Number(other) : 0;
    if (order !== 0) return order;
    if (part !== other) return part < other ? -1 : 1;
  }
  return left.length - right.length;
}
