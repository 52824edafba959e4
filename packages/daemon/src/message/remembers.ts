import type { Screen } from "@holdfast/contract";
import { msSince, startStamp } from "@holdfast/platform";
import type { SessionRecord } from "../projection/session-queries.ts";

/** What it should show may be nothing, after all: then it is waited for no longer than this after its start. */
const SHOWN_WITHIN_MS = 45_000;

type Record = Pick<SessionRecord, "run" | "turns" | "conversation" | "conversations" | "forkedFrom" | "pidStart" | "startedAt">;

/**
 * False: it goes on with a conversation, and shows nothing of it yet. Some take a prompt before they have read what they go on with; they answer it
 * without that, and then forget it.
 */
export function remembers(record: Record, shows: RegExp | undefined, { lines }: Pick<Screen, "lines">): boolean {
  if (!shows || !goesOn(record)) return true;
  const sinceStart = msSince(startStamp(record.pidStart)) ?? Date.now() - Date.parse(record.startedAt ?? "");
  return !(sinceStart < SHOWN_WITHIN_MS) || lines.some((line) => shows.test(line));
}

function goesOn({ run, turns, conversation, conversations, forkedFrom }: Record): boolean {
  if (turns === 0 && forkedFrom !== null) return true;
  return conversations.some((each) => each.id === conversation && each.run < run && each.turns !== 0);
}
