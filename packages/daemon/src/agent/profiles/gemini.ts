import type { Profile } from "../profile.ts";

export const gemini: Profile = {
  name: "gemini",
  description: "Gemini CLI",
  kind: "terminal",
  command: ["gemini"],
  version: ["--version"],
  prompt: ["-i", "{prompt}"],
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    flags: /^(--session-id|--resume|--list-sessions)(=|$)|^-r$/,
  },
  screen: [
    { name: "trust dialog", foot: /^\s*╰─/, line: /\d\. Trust folder/, within: 8, waits: "trust" },
    { name: "authentication dialog", foot: /^\s*╰─/, line: /Terms of Services and Privacy Notice/, within: 8, waits: "login" },
    { name: "question", title: /^✋/, line: /Enter to select .*Esc to cancel/, within: 3, waits: "question", turn: "working" },
    {
      name: "permission prompt",
      title: /^✋/,
      line: /Allow execution of .*\?|Apply this change\?|Do you want to proceed\?/,
      waits: "approval",
      turn: "working",
    },
    { name: "action required", title: /^✋/, waits: "approval", turn: "working" },
    { name: "working", title: /^✦/, turn: "working", calm: true },
    {
      name: "ready, and a process runs",
      title: /^◇/,
      line: /\d+ Background process/,
      within: 6,
      turn: "idle",
      calm: true,
      background: true,
    },
    { name: "ready", title: /^◇/, turn: "idle", calm: true },
  ],
  composer: { mark: /^ > /, below: /^$/, placeholder: /^Type your message or @path\/to\/file$/ },
  interrupt: ["Escape"],
  enterAfterMs: 600,
};
