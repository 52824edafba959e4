import type { Noun } from "../command.ts";

export const command: Noun = {
  name: "mcp",
  summary: "provide Holdfast's tools to agents over the Model Context Protocol",
  section: "Work together",
  usage: "[VERB …]",
  description:
    "Agents started by Holdfast have these tools already, each with its own token. They start and stop children, message peers, share values and ask people. Without a verb, holdfast mcp serves the tools on standard input and output, for an agent started elsewhere. install prints the entry for that agent's configuration.",
  examples: [
    ["holdfast mcp", "serve an agent on standard input and output"],
    ["holdfast mcp install claude", "print the entry for claude's configuration"],
  ],
  verbs: {
    serve: () => import("./mcp/serve.ts"),
    install: () => import("./mcp/install.ts"),
  },
};
