/** How an agent asks for permission and takes answers from outside its screen, as data of its profile. */
import type { AskedFor } from "@holdfast/contract";
import type { ScreenChannel } from "./dialog.ts";
import type { StartDialog } from "./start-dialog.ts";

export interface ApprovalChannels {
  /** A hook that decides: it waits for an answer from the inbox. */
  hook?: HookChannel;
  /** The agent's dialog, where there is no hook or the hook has ended. */
  screen?: ScreenChannel;
  /** Dialogs that the agent shows before it works. */
  dialogs?: readonly StartDialog[];
}

/** The hook runs `ask` (hooks/injection.ts), and the agent takes its output as the answer. */
export interface HookChannel {
  /** The agent stops waiting for the hook after this time. */
  timeoutS: number;
  /** The agent's action after the time-out, for people. It must not be running the tool. */
  otherwise: string;
  /** The agent shows its own prompt too, and the first answer wins. Without this, nothing shows while the hook waits. */
  promptsToo?: boolean;
  /** An answer on the screen ends the hook. Without this, a hook ends early only when its turn is interrupted. */
  endedByAnswer?: boolean;
  /** Signals that a tool has run or failed, which means that its request was allowed. */
  used: readonly string[];
  allow(request: HookRequest): unknown;
  deny(request: HookRequest, reason: string): unknown;
  /** Answers a question. Without it the hook does not wait for questions: the agent asks on its screen at once. */
  answer?(request: HookRequest, text: string): unknown;
}

export interface HookRequest {
  for: AskedFor;
  tool: string | null;
  input: unknown;
}

/** The reason that an agent gets for a denial without one. */
export const DENIED = "denied in Holdfast's inbox";

function permissionDecision(decision: Readonly<Record<string, unknown>>): unknown {
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
}

/** The channel of a PermissionRequest hook, as claude, codex and qwen have it. */
export function permissionHook(more: Pick<HookChannel, "timeoutS" | "otherwise" | "promptsToo" | "answer">): HookChannel {
  return {
    ...more,
    used: ["PostToolUse", "PostToolUseFailure"],
    allow: () => permissionDecision({ behavior: "allow" }),
    deny: (_, message) => permissionDecision({ behavior: "deny", message }),
  };
}

/** One answer to all questions of a tool call, in the form of claude: with the tool's own arguments. */
export function answeredQuestions({ input }: HookRequest, text: string): unknown {
  const asked = (input ?? {}) as { questions?: unknown };
  const questions = Array.isArray(asked.questions) ? (asked.questions as ({ question?: unknown } | null)[]) : [];
  const answers = Object.fromEntries(questions.flatMap((one) => (typeof one?.question === "string" ? [[one.question, text]] : [])));
  return permissionDecision({ behavior: "allow", updatedInput: { ...asked, answers } });
}
