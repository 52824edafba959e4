import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { connect } from "../../connect.ts";
import { NO_TOKEN } from "../../mcp/no-token.ts";

export const command: Command = {
  name: "mcp serve",
  summary: "serve Holdfast's tools to an agent on standard input and output",
  usage: "",
  description:
    "Acts as the session whose token is in HOLDFAST_TOKEN; without one as you. Ends when its input does. There is the same over HTTP, where the\ndaemon listens (holdfast up --listen): POST /mcp, with a token.",
  flags: {},
  arguments: "nothing",
  examples: [["holdfast mcp serve", "as an agent starts it"]],
  async run({ home }) {
    if (process.env.HOLDFAST_TOKEN === NO_TOKEN) delete process.env.HOLDFAST_TOKEN;
    refuseWithoutToken(process.env);
    if (process.stdin.isTTY)
      process.stderr.write(
        "This is for an agent, which starts it and speaks MCP with it; Ctrl+D ends it. For yours: holdfast mcp install AGENT\n",
      );
    const { serveStdio } = await import("@holdfast/mcp");
    // It lives as long as its agent, and so longer than a daemon of its own version.
    using client = connect(home, { quiet: true, anyVersion: true });
    await serveStdio(client);
    return 0;
  },
};

/** Some agents keep from their servers what looks like a secret: without its token a session's server would act as the user. */
function refuseWithoutToken({ HOLDFAST_RUN: run, HOLDFAST_TOKEN: token }: NodeJS.ProcessEnv): void {
  if (!run || token !== undefined) return;
  throw new HoldfastError("unauthenticated", `this is in the run ${run}, whose token has not come along`, {
    hint: "let its agent pass HOLDFAST_TOKEN on; or, to act as you: HOLDFAST_TOKEN= holdfast mcp",
  });
}
