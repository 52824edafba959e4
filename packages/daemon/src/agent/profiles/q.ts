import type { Profile } from "../profile.ts";

export const q: Profile = {
  name: "q",
  description: "Amazon Q CLI",
  kind: "terminal",
  command: ["q", "chat"],
  version: ["--version"],
  prompt: ["{prompt}"],
  untested: true,
};
