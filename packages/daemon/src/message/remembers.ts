import type { Screen } from "@holdfast/contract";
import { msSince, startStamp } from "@holdfast/platform";
import type { SessionRecord } from "../projection/session-queries.ts";

/** The screen may show nothing of the conversation after all: wait no longer than this after the start. */
const SHOWN_WITHIN_MS = 45_000;

type Record = Pick<SessionRecord, "run" | "turns" | "conversation" | "conversations" | "forkedFrom" | "pidStart" | "startedAt">;

/**
 * False if the agent continues a conversation, and its screen does not show it yet. Some agents take a prompt before they have loaded the
 * conversation; they answer without it, and then forget the prompt.
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
