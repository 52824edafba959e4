/** The options, the events and the result of a query. */
import type { Entry } from "@holdfast/contract/conversation/transcript";
import type { Sums } from "@holdfast/contract/usage/usage";
import type { WaitingApproval } from "./approvals.ts";
import type { SessionOptions } from "./sessions.ts";

/** The answer to a permission request. `wait` leaves it open in the inbox for somebody else. */
export type ApprovalAnswer = "allow" | "deny" | "wait" | { deny: string } | { answer: string };

export interface QueryOptions extends Omit<SessionOptions, "prompt" | "chat" | "restart" | "command" | "host"> {
  /** The prompt. */
  prompt: string;
  /** Continue this conversation, by name or id, instead of starting a new one. The session is kept afterwards, even if the query is cancelled. */
  session?: string;
  /** Keep the new session idle afterwards, to continue it later: `result.session` is its id. */
  keep?: boolean;
  /** Answers permission requests; without it they wait in the inbox. */
  onApproval?: (approval: WaitingApproval) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /** Called with every event that the loop over the query yields. */
  onProgress?: (event: QueryEvent) => void;
  /** End the query with `ToolFailed` or `PermissionRefused` if a tool fails or a permission request is denied. Otherwise the agent continues. */
  strict?: boolean;
  /** Time limit; the query then ends with `Timeout`. */
  timeoutMs?: number;
  /** Cancels the query. It ends with `AbortError` after its session is cleaned up. */
  signal?: AbortSignal;
}

/** Events of a query: first `started`, then entries of the transcript, last `result`. */
export type QueryEvent =
  | { type: "started"; session: string; name: string }
  | Exclude<Entry, { type: "user" }>
  | { type: "result"; result: QueryResult };

export interface QueryResult {
  /** The agent's answer. */
  text: string;
  /** How the turn ended: completed, at a limit, refused by the agent, or cancelled. */
  stopReason: "completed" | "max_tokens" | "max_requests" | "refused" | "cancelled";
  /** Tokens of this turn; null if the agent does not report them. */
  usage: Sums | null;
  /** Cost in US dollars: as reported by the agent, else from the prices of config.toml and of Holdfast; null if unknown. */
  cost: number | null;
  /** Changed files, as reported by the agent's tools and, in a new worktree, by git. Relative to the session's directory. */
  files: string[];
  /** The session's id. The session is removed unless it was kept. */
  session: string;
  durationMs: number;
}
