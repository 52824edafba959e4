import { HoldfastError } from "@holdfast/contract/errors";
import type { RestoreItem } from "@holdfast/contract/restore";
import { counted } from "@holdfast/platform/units";
import { type Color, color } from "../color.ts";
import { columns } from "../columns.ts";
import type { Command, Context } from "../command.ts";
import { formatDuration } from "../duration.ts";
import { plain } from "../plain.ts";

export const command: Command = {
  name: "restore",
  summary: "bring back what ran before a reboot, or before tmux was killed",
  usage: "[ls | NAME…] [--dry-run] [--generation N]",
  description:
    'Each session that was lost gets its next run, with its agent\'s own conversation, and is waited for until it shows that it is back. What did\nnot come back is told, with why, and can be tried again; what is back is left alone. With restore = "auto" in config.toml the daemon does it at its\nstart; holdfast boot install starts the daemon with the machine.',
  arguments: "sessions",
  flags: {
    "dry-run": { summary: "only say what would be done" },
    generation: {
      value: "N",
      summary: "those that were lost at one time, with the conversations of then (holdfast restore ls)",
      complete: "nothing",
    },
  },
  examples: [
    ["holdfast restore --dry-run", "what would come back"],
    ["holdfast restore", "bring all of it back"],
    ["holdfast restore ls", "what was lost when, and what became of it"],
  ],
  async run(context) {
    const { args, flags } = context;
    if (args[0] === "ls" && args.length === 1) {
      if (flags.has("dry-run") || flags.text("generation") !== undefined)
        throw new HoldfastError("usage", "restore ls takes no options", { hint: "it lists everything that was lost" });
      return list(context);
    }
    const generation = generationOf(flags.text("generation"));
    const dryRun = flags.has("dry-run");
    const body = { dryRun, generation, ...(args.length > 0 ? { names: [...args] } : {}) };
    if (!context.json && !dryRun && process.stderr.isTTY)
      process.stderr.write("Bringing back what was lost; an agent may take a minute to show …\n");
    const reply = await context.client.call("restoreSessions", { body });
    if (context.json) process.stdout.write(`${JSON.stringify(reply)}\n`);
    else process.stdout.write(`${reply.items.length === 0 ? "Nothing was lost that has not come back." : report(reply.items)}\n`);
    const failed = reply.items.filter(({ outcome }) => outcome === "failed");
    if (failed.length === 0 || dryRun) return 0;
    throw new HoldfastError(
      "restore_incomplete",
      `${counted(failed.length, "session")} did not come back: ${failed.map(({ name }) => name).join(", ")}`,
      {
        hint: "what could be done about each is above; a second holdfast restore tries only these",
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

async function list(context: Context): Promise<number> {
  const reply = await context.client.call("listGenerations", {});
  if (context.json) {
    process.stdout.write(`${JSON.stringify(reply)}\n`);
    return 0;
  }
  const { generations, due } = reply;
  if (generations.length === 0) process.stdout.write("Nothing was ever lost.\n");
  else {
    const missing = new Set(due.map(({ id }) => id));
    const rows = generations.map(({ number, at, why, sessions }) => [
      String(number),
      `${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago`,
      why === "reboot" ? "the machine was started anew" : "what kept them vanished",
      sessions.map(({ id, name }) => plain(name) + (missing.has(id) ? color("yellow", "*") : "")).join(", "),
    ]);
    process.stdout.write(`${columns(["N", "WHEN", "WHY", "SESSIONS"], rows)}\n`);
    if (due.length > 0)
      process.stdout.write(`* not back yet: ${due.map(({ name }) => plain(name)).join(", ")}; bring them back: holdfast restore\n`);
  }
  return 0;
}

function generationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--generation takes a number, not ${JSON.stringify(text)}`, { hint: "list them: holdfast restore ls" });
}
