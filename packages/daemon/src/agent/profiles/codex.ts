import type { Profile } from "../profile.ts";

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
    { name: "composer", line: /^› /, within: 4, turn: "idle", calm: true },
  ],
  composer: { mark: /^› /, below: /^$/, cursor: "shown", placeholder: /^Ask Codex to do anything$/ },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
