/** The options that a conversation starts with. */
import { type ConversationOrder, newSessionId, type Principal, type Session } from "@holdfast/contract";
import { serversInConversation } from "../../agent/give-servers.ts";
import type { RunIdentity } from "../../agent/mcp.ts";
import type { Profile } from "../../agent/profile.ts";
import { toolMeta } from "../../agent/tool-limits.ts";
import type { ToolRule } from "../../agent/tool-rule.ts";
import type { Draft } from "../../journal/journal.ts";
import type { Prepared } from "./prepare.ts";

const MINUTE_MS = 60_000;

/** `known`: the agent's own conversation to continue. */
export function conversationOrder(what: {
  profile: Profile | undefined;
  cwd: string;
  chat: { mode?: string | null | undefined; model?: string | null | undefined } | undefined;
  /** The tools of its role. */
  rule: ToolRule | undefined;
  known: string | null;
  /** The conversations that the session has had. */
  conversations?: Session["conversations"];
  identity: RunIdentity;
}): ConversationOrder {
  const { profile, cwd, chat, known, identity, rule } = what;
  const had = what.conversations?.find(({ id }) => id === known);
  const isEmpty = had?.turns === 0;
  const begun = profile?.talk?.keepsByTheMinute && !isEmpty ? had?.since : undefined;
  const notBefore = begun === undefined ? undefined : (Math.floor(Date.parse(begun) / MINUTE_MS) + 1) * MINUTE_MS + 1000;
  const mcpServers = serversInConversation(profile, identity).map(({ name, command, env }) => ({ name, command, env }));
  const { mode = null, model = null } = chat ?? {};
  return { cwd, conversation: known, isEmpty, notBefore, mode, model, mcpServers, meta: toolMeta(profile, rule) };
}

/** The prompt waits like all messages until the session runs, and is not lost if it never does. */
export function firstWords({ id, prompt }: Pick<Prepared, "id" | "prompt">, actor: Principal): Draft[] {
  return prompt === null ? [] : [{ type: "message.queued", actor, session: id, data: { id: newSessionId(), text: prompt, steer: false } }];
}
