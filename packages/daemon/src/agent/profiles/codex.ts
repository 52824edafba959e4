import { createHash } from "node:crypto";
import type { Profile } from "../profile.ts";

/** With the tools whose calls are told, without it all of them; and with the seconds that Codex gives such a hook, where they are not 600. */
const CODEX_EVENTS: readonly { event: string; matcher?: string; timeout?: number }[] = [
  { event: "SessionStart" },
  { event: "UserPromptSubmit" },
  { event: "PreToolUse", matcher: "^request_user_input$" },
  { event: "PermissionRequest" },
  { event: "PostToolUse" },
  { event: "Stop" },
  { event: "Interrupt", timeout: 1 },
];

export const codex: Profile = {
  name: "codex",
  description: "Codex CLI",
  kind: "terminal",
  command: ["codex"],
  version: ["--version"],
  prompt: ["{prompt}"],
  conversation: { resume: ["resume", "{id}"], flags: /^(resume|fork|exec)$/ },
  screen: [
    { name: "sign in", foot: /Press enter to continue/, line: /Sign in with ChatGPT/, waits: "login" },
    { name: "trust dialog", foot: /enter continue · esc quit/, line: /Trust this folder\?/, within: 12, waits: "trust" },
    { name: "hooks to be reviewed", line: /Hooks need review/, within: 14, waits: "trust" },
    { name: "question", foot: /enter to submit answer/, waits: "question", turn: "working" },
    {
      name: "permission prompt",
      foot: /Press enter to confirm or esc to cancel/,
      line: /Would you like to .+\?/,
      waits: "approval",
      turn: "working",
    },
    { name: "action required", title: /Action Required/, waits: "approval", turn: "working" },
    { name: "rate limit", title: /^[⠀-⣿] /, line: /429 Too Many Requests/, within: 8, waits: "rate_limit", turn: "working" },
    { name: "spinner in the title", title: /^[⠀-⣿] /, turn: "working", calm: true },
    {
      name: "usage limit",
      // The last thing that was said.
      block: /^■ (You.ve hit your usage limit)[^•›]*\n› [^›]*$/m,
      until: /try again at (.+?)\.(?: |$)/,
      waits: "rate_limit",
      turn: "idle",
    },
    { name: "composer", line: /^› /, within: 12, turn: "idle", calm: true },
  ],
  composer: { mark: /^› /, below: /^$/, cursor: "shown", placeholder: /^Ask Codex to do anything$/ },
  hooks: {
    conversation: "session_id",
    subagent: "agent_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", opens: true },
      { event: "UserPromptSubmit", turn: "working", calm: true, prompt: "prompt" },
      { event: "PreToolUse", when: { tool_name: /^request_user_input$/ }, turn: "working", waits: "question" },
      { event: "PermissionRequest", turn: "working", waits: "approval" },
      { event: "PostToolUse", turn: "working", calm: true },
      { event: "Stop", turn: "idle", calm: true, reply: "last_assistant_message" },
      { event: "Interrupt", turn: "idle", calm: true },
    ],
    inject: ({ tell, args }) => {
      // Theirs and ours would not be joined.
      if (args.some((word) => /^(-c|--config=)?\s*["']?hooks["']?\s*[.=]/.test(word))) return {};
      const command = JSON.stringify(tell);
      const hooks = CODEX_EVENTS.map(({ event, matcher }) => {
        const only = matcher === undefined ? "" : `matcher=${JSON.stringify(matcher)},`;
        return `hooks.${event}=[{${only}hooks=[{type="command",command=${command}}]}]`;
      });
      const trusted = CODEX_EVENTS.map(({ event, ...rest }) => {
        const name = event.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
        return `"/<session-flags>/config.toml:${name}:0:0"={trusted_hash="sha256:${identityOf({ ...rest, name, command: tell })}"}`;
      });
      return { args: [...hooks, `hooks.state={${trusted.join(",")}}`].flatMap((value) => ["-c", value]) };
    },
  },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};

/**
 * By what Codex knows a hook that a person has trusted. Given with the hook, it trusts ours and no other; `--dangerously-bypass-hook-trust`
 * would trust all that a project brings along. One that it does not trust it asks about, before it does anything else.
 */
function identityOf(hook: { name: string; matcher?: string; timeout?: number; command: string }): string {
  const { name, matcher, timeout = 600, command } = hook;
  // Its keys in the order of the alphabet, and what it takes for what is not said.
  const hooks = [{ async: false, command, timeout, type: "command" }];
  const identity = JSON.stringify({ event_name: name, hooks, ...(matcher === undefined ? {} : { matcher }) });
  return createHash("sha256").update(identity).digest("hex");
}
