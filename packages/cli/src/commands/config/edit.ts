import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ConfigurationProblem } from "@holdfast/contract/configured";
import { HoldfastError } from "@holdfast/contract/errors";
import { writeConfiguration } from "@holdfast/platform/configuration-file";
import type { Command } from "../../command.ts";
import { configure, problemLines, tellDaemon } from "../../configure.ts";
import { shortPath } from "../../table.ts";
import { isYes } from "../../trusting.ts";

export const command: Command = {
  name: "config edit",
  summary: "edit the configuration in your editor",
  usage: "[--project]",
  description:
    "Opens a copy in $VISUAL, $EDITOR or vi. The file is replaced when the copy has no problems. Otherwise the problems are shown and you can\nedit again; your text is never lost.",
  flags: { project: { summary: "edit .holdfast/config.toml of this project" } },
  examples: [
    ["holdfast config edit", "your own file"],
    ["EDITOR='code --wait' holdfast config edit", "in another editor"],
  ],
  async run(context) {
    const whose = context.flags.has("project") ? "project" : "user";
    const file = configure({ do: "paths" }).paths[whose];
    const before = textOf(file);
    const copy = join(dirname(file), `.config.edit-${process.pid}.toml`);
    mkdirSync(dirname(file), { recursive: true, mode: whose === "user" ? 0o700 : 0o777 });
    writeFileSync(copy, before ?? "", { mode: 0o600, flag: "wx" });
    const text = await edited(copy, whose === "project");
    if (textOf(file) !== before) throw kept(copy, `${file} was changed by somebody else meanwhile`);
    if (text !== (before ?? "")) writeConfiguration(file, text, whose);
    rmSync(copy, { force: true });
    const changed = text !== (before ?? "");
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
    const text = textOf(copy) ?? "";
    const { problems = [] } = configure({ do: "check text", text, project });
    if (problems.length > 0) process.stderr.write(`${problems.map(inCopy(copy)).flatMap(problemLines).join("\n")}\n`);
    if (problems.every(({ level }) => level === "warning")) return text;
    const canAsk = process.stdin.isTTY === true && process.stderr.isTTY === true;
    if (!canAsk || !(await isYes("Edit it again? [y/N] ")))
      throw kept(copy, "the configuration was not changed: the new text has problems");
  }
}

function inCopy(copy: string): (problem: ConfigurationProblem) => ConfigurationProblem {
  return (problem) => ({ ...problem, file: copy });
}

/** Runs the editor through a shell: like in git, the variable may contain arguments. */
function open(copy: string): void {
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  const { status, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", copy], { stdio: "inherit" });
  if (status === 0) return;
  throw kept(copy, `the editor ${JSON.stringify(editor)} failed${error ? `: ${error.message}` : ` with ${status}`}`);
}

function kept(copy: string, what: string): HoldfastError {
  return new HoldfastError("usage", what, { hint: `your text is in ${copy}` });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
