import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { findProgram } from "@holdfast/platform/program";
import type { Command } from "../../command.ts";
import { shortPath } from "../../table.ts";

export const command: Command = {
  name: "mcp install",
  summary: "what makes an agent that was started elsewhere have Holdfast's tools",
  usage: "AGENT [--write [--force]]",
  description:
    "Prints what to put into the agent's own configuration, and where; --write puts it there, and leaves all else in that file as it is. Agents that\nHoldfast starts need none of this, but for gemini in a terminal. One that was started elsewhere acts as you; in a session of Holdfast's as that.",
  flags: {
    write: { summary: "write it into the agent's own configuration" },
    force: { summary: "with --write: in place of another server of that name" },
  },
  arguments: "agents",
  examples: [
    ["holdfast mcp install claude", "prints the entry"],
    ["holdfast mcp install gemini --write", "writes it into ~/.gemini/settings.json"],
  ],
  async run({ args, flags, json }) {
    const [{ PLACES }, { textOf, write }] = await Promise.all([import("../../mcp/entries.ts"), import("../../mcp/install.ts")]);
    const [agent = "", ...more] = args;
    const place = Object.hasOwn(PLACES, agent) ? PLACES[agent] : undefined;
    if (!place || more.length > 0) {
      const what =
        agent === "" ? "say for which agent" : more.length > 0 ? "say one agent" : `where ${agent} keeps its servers is not known`;
      const hint = "any other agent that speaks MCP starts it by: holdfast mcp";
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

/** Where it was found: not every agent passes its own PATH on. */
function program(): string {
  return findProgram("holdfast", process.env.PATH, process.cwd()) ?? join(dirname(dirname(process.argv[1] ?? "")), "bin/holdfast");
}
