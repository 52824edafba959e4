import type { Orphan } from "@holdfast/contract/daemon/upkeep-endpoints";
import type { Command } from "../../command.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "orphans ls",
  summary: "list the orphans, with reasons",
  stops: true,
  usage: "",
  examples: [["holdfast orphans ls", "list the orphans"]],
  async run({ client, json }) {
    const { orphans } = await client.call("listOrphans", {});
    if (json) process.stdout.write(`${JSON.stringify(orphans)}\n`);
    else process.stdout.write(orphans.length === 0 ? "No orphans.\n" : `${orphans.flatMap(render).join("\n")}\n`);
    return 0;
  },
};

function render(orphan: Orphan): string[] {
  const next = orphan.adoptable ? `holdfast orphans adopt ${orphan.id}, or stop ${orphan.id}` : `holdfast orphans stop ${orphan.id}`;
  return [`${orphan.id}  pid ${orphan.pid}  ${plain(orphan.command)}`, `    ${plain(orphan.why)}; ${next}`];
}
