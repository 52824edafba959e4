/** Chooses the conversation that an ended session continues. */
import { HoldfastError, isRunning } from "@holdfast/contract";
import { counted, isSameProcess } from "@holdfast/platform";
import type { Profile } from "../agent/profile.ts";
import type { SessionRecord } from "../projection/session-queries.ts";
import { conversationWithTurns } from "./turns.ts";

/** Null: a new conversation begins. Throws if the requested conversation does not exist. */
export function conversationToResume(
  record: SessionRecord,
  profile: Profile | undefined,
  how: {
    fresh: boolean;
    conversation?: string | undefined;
    /** True if only a conversation that the session is known to have had is allowed. */
    onlyKnown: boolean;
    kept(): number | null;
    /** For a session that uses a protocol: the last opened conversation, according to its transcripts. */
    opened(): string | null;
  },
): string | null {
  const { name } = record;
  const { fresh, conversation, onlyKnown, kept, opened } = how;
  if (isRunning(record.status)) {
    throw new HoldfastError("session_running", `${name} is running`, { hint: `attach to it: holdfast attach ${name}` });
  }
  if (record.host === "foreign" && record.pid !== null && isSameProcess(record.pid, record.pidStart ?? "")) {
    throw new HoldfastError("session_running", `the agent of ${name} is still running on its own (pid ${record.pid})`, {
      hint: `end it first; or adopt it again: holdfast adopt --pid ${record.pid}`,
    });
  }
  if (fresh || (record.status === "created" && conversation === undefined)) return null;
  if (conversation !== undefined) {
    const known = record.conversations.filter(({ id }) => id.startsWith(conversation));
    if (known.length === 1 && known[0]) return known[0].id;
    // The user may know best which conversation an adopted agent had; a session could name one that it cannot reach.
    if (known.length === 0 && !onlyKnown && record.host === "foreign" && /^\w[\w.-]{7,199}$/.test(conversation)) return conversation;
    throw new HoldfastError(
      "conversation_unknown",
      `${known.length === 0 ? "no" : "more than one"} conversation of ${name} begins with ${conversation}`,
      {
        hint: `list its conversations: holdfast show ${name}`,
        candidates: record.conversations.map(({ id }) => id),
      },
    );
  }
  if (record.kind === "shell") return null;
  if (record.conversation !== null) return conversationWithTurns(record, { profile, kept: kept() });
  if (record.turns === 0 && record.host !== "foreign") return null;
  // Prompts are in the transcript before the agent opens a conversation: if none was opened, the agent got no prompt.
  if (record.kind === "conversation") return opened();
  const turns = record.host === "foreign" ? "ran before it was adopted" : `had ${counted(record.turns, "turn")}`;
  throw new HoldfastError("conversation_unknown", `${name} ${turns}, but its conversation is not known`, {
    hint: `start a new one: holdfast resume ${name} --fresh${record.host === "foreign" ? `; or name it: --conversation ID` : ""}`,
  });
}

export function workspaceHint({ name, status, workspace }: SessionRecord): string {
  const again = `holdfast ${status === "created" ? "start" : "resume"} ${name}`;
  return workspace === null
    ? `create it again, then run: ${again}`
    : `recover its workspace: holdfast workspace recover ${workspace.name}; then run: ${again}`;
}
