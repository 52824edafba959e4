import type { Profile } from "../profile.ts";

export const opencode: Profile = {
  name: "opencode",
  description: "opencode",
  kind: "terminal",
  command: ["opencode"],
  version: ["--version"],
  prompt: ["--prompt", "{prompt}"],
  conversation: { resume: ["-s", "{id}"], flags: /^(--session|--continue|--fork)(=|$)|^-[sc]$/ },
  screen: [
    { name: "permission prompt", line: /Allow once +Allow always +Reject/, within: 4, waits: "approval", turn: "working" },
    { name: "question", line: /enter submit +esc dismiss/, within: 4, waits: "question", turn: "working" },
    { name: "rate limit", line: /^\s*[■⬝]{6,} (Rate limit .*)\[retrying/, within: 4, waits: "rate_limit", turn: "working" },
    { name: "progress bar", line: /^\s*[■⬝]{6,} /, within: 4, turn: "working", calm: true },
    { name: "composer", line: /^\s*╹▀▀▀/, within: 4, turn: "idle", calm: true },
  ],
  // A frame on the left of all rows; the first and the last two are room, and the agent and the model.
  composer: {
    mark: /^\s*┃ {0,2}/,
    more: /^\s*┃ {0,2}/,
    above: /^(?!\s*┃)/,
    below: /^\s*╹▀▀▀/,
    tail: 1,
    cursor: "shown",
    placeholder: /^Ask anything… ".+"$/,
  },
  // One alone only asks whether it is meant.
  interrupt: ["Escape", "Escape"],
  enterAfterMs: 400,
};
