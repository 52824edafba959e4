import type { Profile } from "../profile.ts";

export const qwen: Profile = {
  name: "qwen",
  description: "Qwen Code",
  kind: "terminal",
  command: ["qwen"],
  version: ["--version"],
  prompt: ["-i", "{prompt}"],
  conversation: { begin: ["--session-id", "{id}"], resume: ["--resume", "{id}"] },
  interrupt: ["Escape"],
  enterAfterMs: 400,
};
