import type { Command } from "../../command.ts";
import { configure } from "../../config/configure.ts";

export const command: Command = {
  name: "config path",
  summary: "print the path of your configuration file",
  usage: "[--project]",
  onlyReads: true,
  flags: { project: { summary: "the path of this project's file" } },
  examples: [
    ["holdfast config path", "print the path, also of a file that does not exist"],
    ["holdfast config path --json", "print your path and the project's"],
  ],
  async run(context) {
    const { paths } = configure({ do: "paths" });
    process.stdout.write(`${context.json ? JSON.stringify(paths) : context.flags.has("project") ? paths.project : paths.user}\n`);
    return 0;
  },
};
