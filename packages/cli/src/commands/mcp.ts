import type { Command } from "../command.ts";

export const command: Command = {
  name: "mcp",
  summary: "tools of Holdfast for agents, over the Model Context Protocol",
  usage: "[VERB …]",
  description:
    "Every agent that Holdfast starts has these tools already, with a token of its own: it starts and stops children, talks to peers, shares values,\nasks people. Without a verb it serves them on its input and output, as an agent that was started elsewhere starts it;\ninstall says what to put into that agent's configuration.",
  flags: {},
  arguments: "nothing",
  examples: [
    ["holdfast mcp", "serves an agent on standard input and output"],
    ["holdfast mcp install claude", "prints what makes claude start it"],
  ],
  verbs: {
    serve: () => import("./mcp/serve.ts"),
    install: () => import("./mcp/install.ts"),
  },
  run: async () => 0,
};
