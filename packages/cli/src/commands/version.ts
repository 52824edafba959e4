import { VERSION } from "@holdfast/contract/version";
import type { Command } from "../command.ts";

export const command: Command = {
  name: "version",
  summary: "print the version",
  section: "Administration",
  onlyPrints: true,
  usage: "",
  examples: [["holdfast version --json", "include the Node version"]],
  async run(context) {
    process.stdout.write(context.json ? `${JSON.stringify({ version: VERSION, node: process.versions.node })}\n` : `${VERSION}\n`);
    return 0;
  },
};
