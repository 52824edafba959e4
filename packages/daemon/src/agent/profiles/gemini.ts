import type { Profile } from "../profile.ts";

export const gemini: Profile = {
  name: "gemini",
  description: "Gemini CLI",
  kind: "terminal",
  command: ["gemini"],
  version: ["--version"],
  prompt: ["-i", "{prompt}"],
  conversation: { begin: ["--session-id", "{id}"], resume: ["--resume", "{id}"] },
  interrupt: ["Escape"],
  enterAfterMs: 600,
};
