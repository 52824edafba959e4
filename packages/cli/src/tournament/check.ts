/** Runs a check in each workspace of a tournament, a few at a time, with progress on a terminal. */

import { HoldfastError } from "@holdfast/contract/errors";
import type { Tournament } from "@holdfast/contract/tournament/tournament";
import type { Context } from "../command.ts";
import { plain } from "../text/plain.ts";
import { checkText } from "./text.ts";

/** A single test suite can use all cores of a machine. */
const AT_ONCE = 2;

export async function checkAll(
  { client, json }: Context,
  { entries, name }: Tournament,
  { command, env }: { command: string; env: Record<string, string> },
): Promise<void> {
  const there = entries.flatMap(({ workspace }) => (workspace !== null && workspace.removedAt === null ? [workspace] : []));
  if (there.length === 0)
    throw new HoldfastError("workspace_removed", `no workspace of ${name} is there to check`, { hint: `see: holdfast compare ${name}` });
  const tell = (text: string) => void (!json && process.stderr.isTTY && process.stderr.write(`${text}\n`));
  const waiting = there.values();
  const work = async () => {
    for (const workspace of waiting) {
      tell(`${plain(workspace.name)}: ${plain(command)} …`);
      const check = await client.call("checkWorkspace", { params: { ref: workspace.id }, body: { command, env } });
      tell(`${plain(workspace.name)}: ${checkText(check)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
