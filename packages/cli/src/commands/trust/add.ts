import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";
import { actionLines, isYes } from "../../workspace/trusting.ts";

export const command: Command = {
  name: "trust add",
  summary: "review what a project asks for, and trust it",
  usage: "[DIR] [--yes]",
  description: "Without DIR, the project of the current directory. It asks for confirmation; --yes skips that.",
  flags: { yes: { short: "y", summary: "do not ask for confirmation" } },
  arguments: "directories",
  examples: [
    ["holdfast trust add", "trust the project of this directory"],
    ["holdfast trust add ~/code/app --yes", "trust a project in a script"],
  ],
  async run(context) {
    const [directory = ".", ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "expected one directory", { hint: "for example: holdfast trust add ~/code/app" });
    const cwd = resolve(directory);
    const { actions, trusted } = await context.client.call("inspectProject", { query: { cwd } });
    if (actions === null)
      throw new HoldfastError("usage", `the project of ${cwd} names no setup command and no files to copy`, {
        hint: "there is nothing to trust",
      });
    if (!context.json) process.stderr.write(`${actionLines(actions).join("\n")}\n`);
    if (!trusted && !context.flags.has("yes")) {
      if (context.json || !process.stdin.isTTY || !process.stderr.isTTY)
        throw new HoldfastError("not_a_terminal", "confirmation needed; pass --yes", {
          hint: "review it on a terminal: holdfast trust add; or pass --yes",
        });
      if (!(await isYes("Trust this project? [y/N] "))) {
        process.stdout.write("Nothing was trusted.\n");
        return 1;
      }
    }
    const trust = await context.client.call("addTrust", { body: { cwd, hash: actions.hash } });
    process.stdout.write(context.json ? `${JSON.stringify(trust)}\n` : `${plain(trust.directory)} is trusted.\n`);
    return 0;
  },
};
