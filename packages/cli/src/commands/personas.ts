import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "personas",
  summary: "list the roles that agents can take",
  section: "Start agents and commands",
  onlyPrints: true,
  usage: "[VERB] …",
  description:
    "A persona is a markdown file. Its front matter has name, description, agent, model, tools, disallowedTools and permissionMode; the text below it is the agent's instructions. If two personas have the same name, the first of these locations wins: .holdfast/personas of the project, personas next to your config.toml, .claude/agents of the project, ~/.claude/agents. Agent files for Claude Code work as they are and start Claude Code.",
  examples: [
    ["holdfast personas", "list the personas of this project and your own"],
    ["holdfast personas show code-reviewer", "show one persona with its instructions"],
  ],
  verbs: { ls: () => import("./personas/ls.ts"), show: () => import("./personas/show.ts") },
};
