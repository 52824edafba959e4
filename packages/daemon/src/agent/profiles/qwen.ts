import type { Profile } from "../profile.ts";

export const qwen: Profile = {
  name: "qwen",
  description: "Qwen Code",
  kind: "terminal",
  command: ["qwen"],
  version: ["--version"],
  prompt: ["-i", "{prompt}"],
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    flags: /^(--session-id|--resume|--continue)(=|$)|^-[rc]$/,
  },
  screen: [
    { name: "trust dialog", foot: /^\s*╰─/, line: /Do you trust this folder\?/, within: 12, waits: "trust" },
    { name: "authentication dialog", foot: /^\s*└─/, line: /Terms of Services and Privacy Notice/, within: 8, waits: "login" },
    {
      name: "question",
      foot: /Waiting for user confirmation/,
      line: /Navigate \| Enter: Select/,
      within: 4,
      waits: "question",
      turn: "working",
    },
    { name: "permission prompt", foot: /Waiting for user confirmation/, line: /\?$/, within: 12, waits: "approval", turn: "working" },
    { name: "spinner", line: /^\s*[⠀-⣿] .*esc to cancel\)/, within: 8, turn: "working", calm: true },
    { name: "spinner in the title", title: /^[◐◓◑◒]/, turn: "working", calm: true },
    { name: "composer, and a shell runs", foot: /· \d+ shells?\b/, line: /^> /, within: 6, turn: "idle", calm: true, background: true },
    { name: "composer", line: /^> /, within: 6, turn: "idle", calm: true },
  ],
  composer: { mark: /^> /, above: /^─{10}/, below: /^─{10}/, cursor: "shown", placeholder: /^Type your message or @path\/to\/file$/ },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
