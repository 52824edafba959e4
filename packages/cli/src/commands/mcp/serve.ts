import { actingIn } from "@holdfast/sdk/acting";
import { refuseInsideRun } from "@holdfast/sdk/node/inside-a-run";
import type { Command } from "../../command.ts";
import { connect } from "../../connection/connect.ts";
import { NO_TOKEN } from "../../mcp/no-token.ts";

export const command: Command = {
  name: "mcp serve",
  summary: "serve Holdfast's tools to an agent on standard input and output",
  usage: "",
  description:
    "Acts as the session whose token is in HOLDFAST_TOKEN. Without a token it acts as you, and refuses to inside a run. It ends with its input. The same server is available over HTTP if the daemon listens (holdfast up --listen): POST /mcp, with a token.",
  arguments: "nothing",
  examples: [["holdfast mcp serve", "the command that an agent starts"]],
  async run({ home }) {
    if (process.env.HOLDFAST_TOKEN === NO_TOKEN) delete process.env.HOLDFAST_TOKEN;
    refuseInsideRun(home.path, actingIn(process.env));
    if (process.stdin.isTTY)
      process.stderr.write(
        "An agent starts this command and speaks MCP with it; Ctrl+D ends it. To configure an agent: holdfast mcp install AGENT\n",
      );
    const { serveStdio } = await import("@holdfast/mcp");
    // The server lives as long as its agent, and may outlive a daemon of its own version.
    using client = connect(home, { quiet: true, anyVersion: true });
    await serveStdio(client);
    return 0;
  },
};
