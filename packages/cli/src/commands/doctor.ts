import type { Finding } from "@holdfast/contract/upkeep-endpoints";
import { type Color, color } from "../color.ts";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";

const MARKS: Readonly<Record<Finding["level"], readonly [string, Color]>> = {
  ok: ["✓", "green"],
  note: ["·", "dim"],
  warning: ["!", "yellow"],
  problem: ["✗", "red"],
};

export const command: Command = {
  name: "doctor",
  summary: "look for what is wrong, or will be",
  onlyReads: true,
  usage: "[--fix]",
  description:
    "Programs, agents newer than the rules for their status, permissions, disk, what a logout would end, and what runs without a record. Exits\nwith 1 when there is a problem.",
  flags: { fix: { summary: "mend what can be mended safely" } },
  examples: [
    ["holdfast doctor", "each finding with its remedy"],
    ["holdfast doctor --fix", "permissions and leftovers are put right"],
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
