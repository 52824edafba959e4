import type { Profile } from "../profile.ts";

export const opencode: Profile = {
  name: "opencode",
  description: "opencode",
  kind: "terminal",
  command: ["opencode"],
  version: ["--version"],
  prompt: ["--prompt", "{prompt}"],
  conversation: { resume: ["-s", "{id}"] },
  // One alone only asks whether it is meant.
  interrupt: ["Escape", "Escape"],
  enterAfterMs: 400,
};
