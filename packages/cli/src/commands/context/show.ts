import type { WorkingContext } from "@holdfast/contract/context/context";
import type { Command } from "../../command.ts";
import { readContext, tooMany } from "../../context/read.ts";
import { color } from "../../text/color.ts";
import { shortPath } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "context show",
  summary: "show the files of the Working Context",
  usage: "[NAME]",
  arguments: "sessions",
  onlyReads: true,
  examples: [
    ["holdfast context show", "show the Working Context of this directory"],
    ["holdfast context show fix-login --json", "show that of a session or workspace, for a script"],
  ],
  pages: () => true,
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0) throw tooMany("show", more[0]);
    const found = await readContext(context, name);
    process.stdout.write(context.json ? `${JSON.stringify(found)}\n` : render(found));
    return 0;
  },
};

function render({ directory, files }: WorkingContext): string {
  const written = files.filter(({ state }) => state === "written");
  const rest = (["empty", "missing"] as const).flatMap((state) => {
    const names = files.filter((file) => file.state === state).map(({ name }) => name);
    return names.length === 0 ? [] : [`${state === "empty" ? "Still empty" : "Missing"}: ${names.join(", ")}`];
  });
  const parts = written.map(({ name, text, cut, path }) => {
    const more = cut ? [color("dim", `… more in ${shortPath(path)}`)] : [];
    return [color("bold", name), ...lines(text), ...more].join("\n");
  });
  return `${[color("dim", shortPath(directory)), ...parts, ...(rest.length === 0 ? [] : [color("dim", rest.join("; "))])].join("\n\n")}\n`;
}

function lines(text: string): string[] {
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => plain(line.replaceAll("\t", "    ")));
}
