import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { findProgram } from "@holdfast/platform/program";
import type { Command } from "../../command.ts";
import { shortPath } from "../../text/fit.ts";

export const command: Command = {
  name: "mcp install",
  summary: "print or write the MCP entry for an agent's configuration",
  usage: "AGENT [--write [--force]]",
  description:
    "Prints the entry and the file it belongs in. --write adds it and leaves the rest of the file unchanged. Agents started by Holdfast do not need this, except gemini in a terminal. An agent started elsewhere acts as you; inside a session it acts as that session.",
  flags: {
    write: { summary: "write the entry into the agent's configuration" },
    force: { summary: "with --write: replace another server of the same name" },
  },
  arguments: "agents",
  examples: [
    ["holdfast mcp install claude", "print the entry"],
    ["holdfast mcp install gemini --write", "write it to ~/.gemini/settings.json"],
  ],
  async run({ args, flags, json }) {
    const [{ PLACES }, { textOf, write }] = await Promise.all([import("../../mcp/entries.ts"), import("../../mcp/install.ts")]);
    const [agent = "", ...more] = args;
    const place = Object.hasOwn(PLACES, agent) ? PLACES[agent] : undefined;
    if (!place || more.length > 0) {
      const what =
        agent === "" ? "expected an agent" : more.length > 0 ? "expected one agent" : `the MCP configuration of ${agent} is unknown`;
      const hint = "any other MCP agent can start it with: holdfast mcp";
      throw new HoldfastError("usage", what, { hint, candidates: Object.keys(PLACES) });
    }
    const file = place.file(process.env);
    const home = process.env.HOLDFAST_HOME;
    const env: Record<string, string> = home ? { HOLDFAST_HOME: home } : {};
    const server = { command: program(), args: ["mcp"], env };
    const outcome = flags.has("write") ? write(place, { file, server, force: flags.has("force") }) : null;
    const text = textOf(place, server);
    if (json) process.stdout.write(`${JSON.stringify({ agent, file, entry: place.entry(server), text, outcome })}\n`);
    else if (outcome === null) {
      if (process.stderr.isTTY) process.stderr.write(`In ${shortPath(file)}:\n`);
      process.stdout.write(text);
    } else process.stdout.write(`${outcome}: ${file}\n`);
    return 0;
  },
};

/** An absolute path, because not every agent passes its PATH on. */
function program(): string {
  return findProgram("holdfast", process.env.PATH, process.cwd()) ?? join(dirname(dirname(process.argv[1] ?? "")), "bin/holdfast");
}
