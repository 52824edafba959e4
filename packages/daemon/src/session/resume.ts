/** What a session that has ended goes on with. */
import { HoldfastError, hasEnded } from "@holdfast/contract";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Null: it begins anew. Throws where what was asked for is not there to go on with. */
export function conversationToResume(
  record: SessionRecord,
  { fresh, conversation }: { fresh: boolean; conversation?: string | undefined },
): string | null {
  const { name } = record;
  if (!hasEnded(record.status)) {
    throw new HoldfastError("session_running", `${name} is running`, { hint: `look at it: holdfast attach ${name}` });
  }
  if (fresh) return null;
  if (conversation !== undefined) {
    const known = record.conversations.filter(({ id }) => id.startsWith(conversation));
    if (known.length === 1 && known[0]) return known[0].id;
    // Which one an adopted agent had, its user may know better.
    if (known.length === 0 && record.host === "foreign" && /^\w[\w.-]{7,199}$/.test(conversation)) return conversation;
    throw new HoldfastError(
      "conversation_unknown",
      `${known.length === 0 ? "no" : "more than one"} conversation of ${name} begins with ${conversation}`,
      {
        hint: `see them all: holdfast show ${name}`,
        candidates: record.conversations.map(({ id }) => id),
      },
    );
  }
  if (record.kind === "shell") return null;
  // Without a turn there is nothing in it, and most agents have not even written it down. What was adopted had its turns before.
  const hadTurns = record.turns > 0 || record.host === "foreign";
  if (hadTurns && record.conversation !== null) return record.conversation;
  if (!hadTurns) return null;
  const turns = record.host === "foreign" ? "ran before it was adopted" : `had ${record.turns} turns`;
  throw new HoldfastError("conversation_unknown", `${name} ${turns}, but which conversation that was is not known`, {
    hint: `begin a new one: holdfast resume ${name} --fresh${record.host === "foreign" ? `; or say which: --conversation ID` : ""}`,
  });
}

export function workspaceHint({ name, workspace }: SessionRecord): string {
  return workspace === null
    ? `make it again, then: holdfast resume ${name}`
    : `bring its workspace back: holdfast workspace recover ${workspace.name}; then: holdfast resume ${name}`;
}
