import type { Profile } from "../profile.ts";

export const shell: Profile = {
  name: "shell",
  description: "your login shell",
  kind: "shell",
  command: ({ env }) => [env.SHELL || "/bin/sh"],
};
