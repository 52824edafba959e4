import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ConfigurationProblem } from "@holdfast/contract/configuration/configured";
import { HoldfastError } from "@holdfast/contract/errors";
import {
  type ConfigurationChange,
  changeConfiguration,
  configurationTarget,
  configurationText,
} from "@holdfast/platform/configuration-file";
import { writeNewFile } from "@holdfast/platform/files";
import type { Command } from "../../command.ts";
import { configure, problemLines, tellDaemon } from "../../config/configure.ts";
import { refuseSession } from "../../connection/refuse-session.ts";
import { shortPath } from "../../text/fit.ts";
import { isYes } from "../../workspace/trusting.ts";

export const command: Command = {
  name: "config edit",
  summary: "edit the configuration in your editor",
  usage: "[--project]",
  description:
    "Opens a copy in $VISUAL, $EDITOR or vi. The file is replaced when the copy has no problems. Otherwise the problems are shown and you can\nedit again; your text is never lost.",
  flags: { project: { summary: "edit .holdfast/config.toml of this project" } },
  examples: [
    ["holdfast config edit", "edit your own file"],
    ["EDITOR='code --wait' holdfast config edit", "use another editor"],
  ],
  async run(context) {
    const whose = context.flags.has("project") ? "project" : "user";
    if (whose === "user") refuseSession(context, "change your configuration");
    const file = configure({ do: "paths" }).paths[whose];
    const project = whose === "project" ? dirname(dirname(file)) : null;
    configurationTarget(file, project);
    const before = configurationText(file);
    const copy = join(dirname(file), `.config.edit-${process.pid}.toml`);
    mkdirSync(dirname(file), { recursive: true, mode: whose === "user" ? 0o700 : 0o777 });
    writeNewFile(copy, before ?? "", 0o600);
    const text = await edited(copy, whose === "project");
    const changed = text !== (before ?? "");
    if (changed && !written(copy, { file, project, before, text })) throw kept(copy, `${file} was changed by somebody else meanwhile`);
    rmSync(copy, { force: true });
    if (context.json) process.stdout.write(`${JSON.stringify({ file, changed })}\n`);
    else {
      process.stdout.write(changed ? `Saved ${shortPath(file)}.\n` : "No changes.\n");
      if (changed && whose === "user") tellDaemon(context);
    }
    return 0;
  },
};

/** Reopens the editor until the file is valid. Without a terminal it cannot be edited again. */
async function edited(copy: string, project: boolean): Promise<string> {
  for (;;) {
    open(copy);
    const text = configurationText(copy);
    if (text === null) throw new HoldfastError("usage", "the configuration was not changed: the editor removed its copy");
    const { problems = [] } = configure({ do: "check text", text, project });
    if (problems.length > 0) process.stderr.write(`${problems.map(inCopy(copy)).flatMap(problemLines).join("\n")}\n`);
    if (problems.every(({ level }) => level === "warning")) return text;
    const canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true;
    if (!canAsk || !(await isYes("Edit it again? [y/N] ")))
      throw kept(copy, "the configuration was not changed: the new text has problems");
  }
}

function written(copy: string, change: ConfigurationChange): boolean {
  try {
    return changeConfiguration(change);
  } catch (error) {
    throw kept(copy, (error as Error).message);
  }
}

function inCopy(copy: string): (problem: ConfigurationProblem) => ConfigurationProblem {
  return (problem) => ({ ...problem, file: copy });
}

/** Runs the editor through a shell: like in git, the variable may contain arguments. */
function open(copy: string): void {
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  const { status, signal, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", copy], { stdio: "inherit" });
  if (status === 0) return;
  throw kept(copy, `the editor ${JSON.stringify(editor)} failed${error ? `: ${error.message}` : ` with ${signal ?? status}`}`);
}

function kept(copy: string, what: string): HoldfastError {
  return new HoldfastError("usage", what, { hint: `your text is in ${copy}` });
}
