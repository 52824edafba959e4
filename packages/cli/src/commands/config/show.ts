import type { ConfiguredValue } from "@holdfast/contract/configuration/configured";
import type { Command } from "../../command.ts";
import { configure, inToml } from "../../config/configure.ts";
import { color } from "../../text/color.ts";
import { shortPath } from "../../text/fit.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "config show",
  summary: "show every setting and where it comes from",
  usage: "",
  onlyReads: true,
  examples: [
    ["holdfast config show", "show every setting with its value and where it is set"],
    ["holdfast config show --json | jq '.[] | select(.source != \"default\")'", "show only the settings of a file"],
  ],
  async run(context) {
    const { values = [] } = configure({ do: "show" });
    process.stdout.write(context.json ? `${JSON.stringify(values)}\n` : `${render(values).join("\n")}\n`);
    return 0;
  },
};

/** Widest value that widens the column. */
const WIDEST = 40;

function render(values: readonly ConfiguredValue[]): string[] {
  const rows = values.map((each) => [plain(each.key), plain(inToml(each.value)), from(each)] as const);
  const widths = [0, 1].map((column) => Math.min(WIDEST, Math.max(...rows.map((row) => row[column]?.length ?? 0))));
  return rows.map(([key, value, source], i) => {
    const line = `${key.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${source}`.trimEnd();
    return values[i]?.source === "default" ? color("dim", line) : line;
  });
}

function from({ source, file, line }: ConfiguredValue): string {
  return file === null ? source : `${source}, ${shortPath(file)}${line === null ? "" : `:${line}`}`;
}
