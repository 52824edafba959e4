import type { Profile } from "../profile.ts";

export const claude: Profile = {
  name: "claude",
  description: "Claude Code",
  kind: "terminal",
  command: ["claude"],
  version: ["--version"],
  prompt: ["{prompt}"],
  conversation: { begin: ["--session-id", "{id}"], resume: ["--resume", "{id}"] },
  screen: [
    { name: "trust dialog", foot: /Enter to confirm/, line: /Is this a project you created or one you trust\?/, waits: "trust" },
    { name: "question", foot: /Enter to select .*Esc to cancel/, waits: "question", turn: "working" },
    { name: "permission prompt", foot: /Esc to cancel/, line: /Do you want to .+\?/, waits: "approval", turn: "working" },
    { name: "esc to interrupt", foot: /\besc to interrupt\b/, turn: "working", calm: true },
    { name: "not logged in", line: /Not logged in · Run \/login/, within: 6, waits: "login" },
    { name: "composer, and a shell runs", foot: /· \d+ shells?\b/, line: /^❯/, within: 6, turn: "idle", calm: true, background: true },
    { name: "composer", foot: /mode on|for shortcuts|bypass permissions|accept edits/, line: /^❯/, within: 6, turn: "idle", calm: true },
  ],
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
