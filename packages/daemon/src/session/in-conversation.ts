/** What a session that is a conversation is started with. */
import { type ConversationOrder, newSessionId, type Principal } from "@holdfast/contract";
import { serversOf } from "../agent/mcp.ts";
import type { Profile } from "../agent/profile.ts";
import type { Draft } from "../journal/journal.ts";
import type { Prepared } from "./prepare.ts";

/** `known`: the agent's own conversation to go on with. */
export function conversationOrder(what: {
  profile: Profile | undefined;
  cwd: string;
  chat: { mode?: string | null | undefined; model?: string | null | undefined } | undefined;
  known: string | null;
}): ConversationOrder {
  const { profile, cwd, chat, known } = what;
  const mcpServers = serversOf(profile).map(({ name, command, env }) => ({ name, command, env }));
  return { cwd, conversation: known, mode: chat?.mode ?? null, model: chat?.model ?? null, mcpServers };
}

/** They wait like all others until it runs, and are not lost if it never does. */
export function firstWords({ id, prompt }: Prepared, actor: Principal): Draft[] {
  return prompt === null ? [] : [{ type: "message.queued", actor, session: id, data: { id: newSessionId(), text: prompt, steer: false } }];
}
