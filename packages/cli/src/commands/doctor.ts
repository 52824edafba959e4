import type { Finding } from "@holdfast/contract/daemon/upkeep-endpoints";
import type { Command } from "../command.ts";
import { type Color, color } from "../text/color.ts";
import { plain } from "../text/plain.ts";

const MARKS: Readonly<Record<Finding["level"], readonly [string, Color]>> = {
  ok: ["✓", "green"],
  note: ["·", "dim"],
  warning: ["!", "yellow"],
  problem: ["✗", "red"],
};

export const command: Command = {
  name: "doctor",
  summary: "find problems and print their fixes",
  onlyReads: true,
  section: "Administration",
  usage: "[--fix]",
  description:
    "Checks programs, agents, permissions, disk space, what a logout would end, and processes without a record. Exits with 1 if there is a problem.",
  flags: { fix: { summary: "fix what can be fixed safely" } },
  examples: [
    ["holdfast doctor", "print each finding with its fix"],
    ["holdfast doctor --fix", "fix permissions and leftovers"],
  ],
  async run(context) {
    const { findings } = await context.client.call("examine", {
      body: { fix: context.flags.has("fix"), path: process.env.PATH, home: process.env.HOME },
    });
    process.stdout.write(context.json ? `${JSON.stringify(findings)}\n` : `${findings.flatMap(render).join("\n")}\n`);
    return findings.some(({ level, fixed }) => level === "problem" && !fixed) ? 1 : 0;
  },
};

function render(finding: Finding): string[] {
  const [mark, shade] = MARKS[finding.level];
  const lines = [`${color(shade, mark)} ${plain(finding.what)}`];
  if (finding.fixed) lines.push(`    ${color("green", "mended")}`);
  else if (finding.remedy !== null) lines.push(`    ${color("dim", plain(finding.remedy))}`);
  return lines;
}
