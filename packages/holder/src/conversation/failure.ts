/** Converts an agent's error to one for people: in the agent's own words, or in those of the protocol. */
import type { EntryDraft } from "@holdfast/contract/conversation/transcript";

type Failure = Omit<Extract<EntryDraft, { type: "error" }>, "type">;

/** JSON-RPC error codes of the protocol. */
const AUTHENTICATE = -32000;

export function failureOf(error: unknown): Failure {
  const { message, code, data } = error as { message?: string; code?: number; data?: unknown };
  const told = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const details = [told.details, told.message, typeof data === "string" ? data : undefined].find((each) => typeof each === "string");
  const text = [message, details].filter((part) => typeof part === "string" && part !== "").join(": ") || String(error);
  const isLogin = code === AUTHENTICATE;
  return {
    code: typeof told.code === "string" ? told.code : isLogin ? "unauthenticated" : "agent_failed",
    message: text,
    hint: typeof told.hint === "string" ? told.hint : isLogin ? "log in with the agent's own program, then send the message again" : null,
    retry: typeof told.retry === "boolean" ? told.retry : true,
  };
}
