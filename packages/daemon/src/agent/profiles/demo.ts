import { homedir } from "node:os";
import { join } from "node:path";
import { answeredQuestions, permissionHook } from "../approvals.ts";
import { textAt } from "../hooks/hook-rules.ts";
import type { Profile } from "../profile.ts";
import { type Call, count, usageInLines } from "../usage-source.ts";

export const demo: Profile = {
  name: "demo",
  description: "a scripted agent to try things out",
  kind: "terminal",
  command: ({ node, programs }) => [node, join(programs, "demo.mjs")],
  structured: ({ node, programs }) => [node, join(programs, "demo.mjs"), "--acp"],
  prompt: ["{prompt}"],
  arguments: { positional: true, bare: /^--(ask-trust|fast|fork-session|loop|work)$/, values: /^--(ask-hook|hook|log|name)$/ },
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    fork: { words: ["--resume", "{from}", "--fork-session", "--session-id", "{id}"] },
    flags: /^--(session-id|resume|fork-session)(=|$)/,
  },
  screen: [
    { name: "question", foot: /^Choose 1-\d+$/, waits: "question", turn: "working" },
    {
      name: "permission prompt",
      foot: /^Do you want to .+\? \[y\/n\]$/,
      line: /^Do you want to .+\?/,
      within: 1,
      waits: "approval",
      turn: "working",
    },
    { name: "trust dialog", foot: /^Enter to confirm · Esc to cancel/, line: /^Do you trust this folder\?/, waits: "trust" },
    { name: "esc to interrupt", foot: /\(esc to interrupt\)/, turn: "working", calm: true },
    { name: "composer", foot: /^>/, turn: "idle", calm: true },
  ],
  usage: usageInLines({ files: ({ conversation, env }) => [memoryOf(conversation, env)], call: callIn }),
  composer: { mark: /^(> ?|.*\(esc to interrupt\)( > )?)/ },
  hooks: {
    conversation: "session_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", opens: true, turn: "idle", calm: true },
      { event: "UserPromptSubmit", turn: "working", calm: true, prompt: "prompt" },
      { event: "PermissionRequest", when: { tool_name: /^AskUserQuestion$/ }, turn: "working", waits: "question" },
      { event: "PermissionRequest", turn: "working", waits: "approval" },
      { event: "PostToolUse", turn: "working", calm: true },
      { event: "Stop", turn: "idle", calm: true, reply: "last_assistant_message" },
      { event: "StopFailure", turn: "idle", calm: true, failure: "error" },
    ],
    inject: ({ tell, ask, args }) =>
      args.some((word) => /^--(ask-)?hook(=|$)/.test(word)) ? {} : { args: ["--hook", tell, "--ask-hook", ask] },
  },
  approvals: {
    hook: permissionHook({
      timeoutS: 7 * 86_400,
      otherwise: "the agent asks only on its own screen",
      promptsToo: true,
      answer: answeredQuestions,
    }),
    screen: {
      from: /^Do you want to .+\? \[y\/n\]$/,
      to: /^Do you want to .+\? \[y\/n\]$/,
      keys: { marked: /\[y\/n\]$/, allows: /\[y\/n\]$/, allow: ["y"], deny: ["n"] },
    },
    dialogs: [
      {
        for: "trust",
        from: /^Accessing workspace:/,
        to: /^Enter to confirm · Esc to cancel/,
        choices: { allow: /^Yes, I trust this folder$/, deny: /^No, exit$/ },
      },
    ],
  },
  interrupt: ["Escape"],
  enterAfterMs: 60,
};

/** The file of a conversation. */
function memoryOf(conversation: string, env: Readonly<Record<string, string>>): string {
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), ".local/state");
  return join(state, "holdfast-demo", `${conversation.replace(/[^\w-]/g, "_")}.jsonl`);
}

function callIn(entry: unknown): Call | undefined {
  const { used } = (entry ?? {}) as { used?: Record<string, unknown> };
  if (!used) return undefined;
  const size = count(used.contextSize);
  return {
    id: textAt(used, "id") ?? "",
    at: textAt(used, "at") ?? null,
    model: textAt(used, "model") ?? null,
    input: count(used.input),
    output: count(used.output),
    cacheRead: count(used.cacheRead),
    cacheWrite: count(used.cacheWrite),
    cost: typeof used.cost === "number" ? used.cost : null,
    context: size === null ? null : { used: count(used.context) ?? 0, size },
  };
}
