import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { configure, inToml, tellDaemon } from "../../config/configure.ts";
import { refuseSession } from "../../connection/refuse-session.ts";
import { shortPath } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "config set",
  summary: "change one setting",
  usage: "KEY VALUE [--project]",
  description:
    'VALUE is TOML, or a text without quotes: 30d, true, 64, ["my-agent", "--fast"]. The command refuses an invalid value and writes nothing. It keeps the comments and formatting of the file. To change a list of tables, such as approvals.rules, run holdfast config edit.',
  arguments: "nothing",
  takesRest: true,
  flags: { project: { summary: "in .holdfast/config.toml of this project, not in your own file" } },
  examples: [
    ["holdfast config set prune.age 7d", "change your own file"],
    ["holdfast config set keep_awake true", "turn a setting on"],
    [`holdfast config set agents.mine.command '["my-agent", "--fast"]'`, "set a list"],
    ["holdfast config set workspace.ports 20 --project", "change the project's file"],
  ],
  async run(context) {
    const [key, value, ...more] = [...context.args, ...context.rest];
    if (key === undefined || value === undefined || more.length > 0) {
      throw new HoldfastError("usage", "expected one key and one value", {
        hint: "usage: holdfast config set KEY VALUE; quote a value with spaces",
      });
    }
    const project = context.flags.has("project");
    if (!project) refuseSession(context, "change your configuration");
    const { written } = configure({ do: "set", key, value, project });
    if (context.json) process.stdout.write(`${JSON.stringify(written)}\n`);
    else if (written?.file) {
      process.stdout.write(`${plain(written.key)} = ${plain(inToml(written.value))} in ${shortPath(written.file)}\n`);
      const needsTrust = key === "workspace.setup" || key === "workspace.copy";
      if (needsTrust) process.stderr.write("Trust it before the next workspace: holdfast trust add\n");
      if (!project) tellDaemon(context);
    }
    return 0;
  },
};
