import type { Profile } from "../profile.ts";

export const claude: Profile = {
  name: "claude",
  description: "Claude Code",
  kind: "terminal",
  command: ["claude"],
  version: ["--version"],
  prompt: ["{prompt}"],
  conversation: { begin: ["--session-id", "{id}"], resume: ["--resume", "{id}"] },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
