import type { Profile } from "../profile.ts";

export const aider: Profile = {
  name: "aider",
  description: "aider",
  kind: "terminal",
  command: ["aider"],
  version: ["--version"],
  setup: { install: "python -m pip install aider-install && aider-install" },
  // A positional argument is a file.
  arguments: { positional: false, prompts: /^(-m|--message|--msg|-f|--message-file)$/ },
  untested: true,
};
