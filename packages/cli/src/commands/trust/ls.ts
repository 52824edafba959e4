import { HoldfastError } from "@holdfast/contract/errors";
import type { Trust } from "@holdfast/contract/trust/trust";
import { inOneLine, visible } from "@holdfast/contract/visible";
import type { Command } from "../../command.ts";
import { writeOut } from "../../console/write-out.ts";
import { color } from "../../text/color.ts";
import { localTime } from "../../text/local-time.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "trust ls",
  summary: "list what is trusted",
  usage: "",
  onlyReads: true,
  arguments: "nothing",
  examples: [
    ["holdfast trust ls", "list each directory and its permissions"],
    ["holdfast trust ls --json | jq '.[].directory'", "for a script"],
  ],
  async run(context) {
    if (context.args.length > 0) throw new HoldfastError("usage", "trust ls takes no arguments", { hint: "see: holdfast trust --help" });
    const { trusted } = await context.client.call("listTrust", {});
    if (context.json) await writeOut(`${JSON.stringify(trusted)}\n`);
    else await writeOut(`${trusted.length === 0 ? "Nothing is trusted." : trusted.flatMap(trustLines).join("\n")}\n`);
    return 0;
  },
};

export function trustLines({ directory, hash, setup, copy, agent, at, by }: Trust): string[] {
  return [
    `${color("bold", visible(directory))}  ${hash.slice(0, 12)}  ${color("dim", `${localTime(at)} by ${plain(by)}`)}`,
    ...(setup === null ? [] : [`  run   ${inOneLine(setup)}`]),
    ...(agent ? [`  ${plain(agent.name)} trusts the folder of each worktree made for ${plain(agent.owner)}`] : []),
    ...(copy.length === 0 ? [] : [`  copy  ${copy.map(visible).join(", ")}`]),
  ];
}
