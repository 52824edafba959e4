import type { Command } from "../../command.ts";
import { configure, problemLines } from "../../config/configure.ts";
import { shortPath } from "../../text/fit.ts";

export const command: Command = {
  name: "config check",
  summary: "report every problem in your configuration and the project's",
  usage: "",
  description: "Prints each problem with its file, line, key and fix. Exits with 1 if there is a problem.",
  onlyReads: true,
  examples: [
    ["holdfast config check", "check the files before the daemon starts again"],
    ["holdfast config check --json", "for a script"],
  ],
  async run(context) {
    const { problems = [], paths } = configure({ do: "check" });
    if (context.json) process.stdout.write(`${JSON.stringify(problems)}\n`);
    else if (problems.length > 0) process.stdout.write(`${problems.flatMap(problemLines).join("\n")}\n`);
    else process.stdout.write(`No problems in ${shortPath(paths.user)} and ${shortPath(paths.project)}.\n`);
    return problems.length === 0 ? 0 : 1;
  },
};
