import type { Profile } from "../profile.ts";

export const codex: Profile = {
  name: "codex",
  description: "Codex CLI",
  kind: "terminal",
  command: ["codex"],
  version: ["--version"],
  prompt: ["{prompt}"],
  conversation: { resume: ["resume", "{id}"] },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
