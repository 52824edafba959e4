import type { Command } from "../command.ts";

export const command: Command = {
  name: "personas",
  summary: "the roles that agents can be given here",
  usage: "[VERB] …",
  description:
    "A persona is a markdown file: name, description, agent, model and tools in its front matter, and below it what the agent is told to be.\nOf two with one name the first of these is used: .holdfast/personas of the project, personas beside your config.toml, .claude/agents of the\nproject, ~/.claude/agents. Files that you have for Claude Code work as they are.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast personas", "those of this directory's project, and your own"],
    ["holdfast personas show code-reviewer", "one of them, with what it is told"],
  ],
  verbs: { ls: () => import("./personas/ls.ts"), show: () => import("./personas/show.ts") },
  run: async () => 0,
};
