/** How an agent asks for leave and takes an answer that was not given on its screen, as data of its profile. */
import type { AskedFor } from "@holdfast/contract";
import type { ScreenChannel } from "./dialog.ts";
import type { StartDialog } from "./start-dialog.ts";

export interface ApprovalChannels {
  /** A hook that decides: it waits for the inbox. */
  hook?: HookChannel;
  /** Its dialog, where there is no hook, or none any more. */
  screen?: ScreenChannel;
  /** Those that it shows before it works. */
  dialogs?: readonly StartDialog[];
}

/** The hook runs `ask` (hooks/injection.ts), and what it prints is what the agent takes for an answer. */
export interface HookChannel {
  /** After this the agent stops waiting for it. */
  timeoutS: number;
  /** What the agent does then, for people. It must not be that the tool runs. */
  otherwise: string;
  /** Its own prompt shows at the same time, and whoever answers first is heard. Without this nothing shows while the hook waits. */
  promptsToo?: boolean;
  /** The hook is ended when somebody answers on the screen. Without this one that is ended was interrupted with its turn. */
  endedByAnswer?: boolean;
  /** Signals after which a tool that was asked about has run, or failed: somebody had allowed it. */
  used: readonly string[];
  allow(request: HookRequest): unknown;
  deny(request: HookRequest, reason: string): unknown;
  /** To a question. Without it the hook does not wait with one: the agent asks on its screen at once. */
  answer?(request: HookRequest, text: string): unknown;
}

export interface HookRequest {
  for: AskedFor;
  tool: string | null;
  input: unknown;
}

/** What is told to an agent whose request was denied without a word. */
export const DENIED = "denied in Holdfast's inbox";

function permissionDecision(decision: Readonly<Record<string, unknown>>): unknown {
  return { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
}

/** The channel of a PermissionRequest hook, which claude, codex and qwen have in common. */
export function permissionHook(more: Pick<HookChannel, "timeoutS" | "otherwise" | "promptsToo" | "answer">): HookChannel {
  return {
    ...more,
    used: ["PostToolUse", "PostToolUseFailure"],
    allow: () => permissionDecision({ behavior: "allow" }),
    deny: (_, message) => permissionDecision({ behavior: "deny", message }),
  };
}

/** The answer to all questions of a tool that asks some, as claude takes it with the tool's own arguments. */
export function answeredQuestions({ input }: HookRequest, text: string): unknown {
  const asked = (input ?? {}) as { questions?: unknown };
  const questions = Array.isArray(asked.questions) ? (asked.questions as ({ question?: unknown } | null)[]) : [];
  const answers = Object.fromEntries(questions.flatMap((one) => (typeof one?.question === "string" ? [[one.question, text]] : [])));
  return permissionDecision({ behavior: "allow", updatedInput: { ...asked, answers } });
}
