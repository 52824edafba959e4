import type { RestoreItem } from "@holdfast/contract/daemon/restore";
import { HoldfastError } from "@holdfast/contract/errors";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../command.ts";
import { type Color, color } from "../text/color.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "restore",
  summary: "restart sessions that were lost in a reboot or a tmux crash",
  section: "Stop and resume",
  startsPrograms: true,
  usage: "[NAME…] [--dry-run] [--generation N]",
  description: `Each lost session gets its next run, with its agent's conversation. The command waits until each session is back, and reports why one is not; run it again to retry those. With restore = "auto" in config.toml the daemon restores at its start. holdfast boot install starts the daemon at boot.`,
  arguments: "sessions",
  verbs: { ls: () => import("./restore/ls.ts") },
  flags: {
    "dry-run": { summary: "print what would be restored" },
    generation: {
      value: "N",
      summary: "the sessions lost at one time, with their conversations of that time (holdfast restore ls)",
      complete: "nothing",
    },
  },
  examples: [
    ["holdfast restore --dry-run", "print what would be restored"],
    ["holdfast restore", "restore all lost sessions"],
    ["holdfast restore ls", "list what was lost, and when"],
  ],
  async run(context) {
    const { args, flags } = context;
    const generation = generationOf(flags.text("generation"));
    const dryRun = flags.has("dry-run");
    const body = { dryRun, generation, ...(args.length > 0 ? { names: [...args] } : {}) };
    if (!context.json && !dryRun && process.stderr.isTTY) process.stderr.write("Restoring lost sessions; an agent may take a minute …\n");
    const reply = await context.client.call("restoreSessions", { body });
    if (context.json) process.stdout.write(`${JSON.stringify(reply)}\n`);
    else process.stdout.write(`${reply.items.length === 0 ? "Nothing to restore." : report(reply.items)}\n`);
    const failed = reply.items.filter(({ outcome }) => outcome === "failed");
    if (failed.length === 0 || dryRun) return 0;
    throw new HoldfastError(
      "restore_incomplete",
      `${counted(failed.length, "session")} did not come back: ${failed.map(({ name }) => name).join(", ")}`,
      {
        hint: "see the hints above; holdfast restore retries only these",
      },
    );
  },
};

const COLORS: Readonly<Record<RestoreItem["outcome"], Color>> = {
  back: "green",
  started: "yellow",
  failed: "red",
  skipped: "dim",
  would: "cyan",
};

function report(items: readonly RestoreItem[]): string {
  return items
    .flatMap(({ name, agent, outcome, why, hint }) => [
      `${color(COLORS[outcome], outcome.padEnd(8))} ${plain(name)} (${plain(agent)}): ${plain(why)}`,
      ...(hint === null ? [] : [`         ${color("dim", plain(hint))}`]),
    ])
    .join("\n");
}

function generationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--generation takes a number, not ${JSON.stringify(text)}`, { hint: "list them: holdfast restore ls" });
}
