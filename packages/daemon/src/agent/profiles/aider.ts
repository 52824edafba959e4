import type { Profile } from "../profile.ts";

export const aider: Profile = {
  name: "aider",
  description: "aider",
  kind: "terminal",
  command: ["aider"],
  version: ["--version"],
  untested: true,
};
