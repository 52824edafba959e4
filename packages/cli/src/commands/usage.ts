import { HoldfastError } from "@holdfast/contract/errors";
import { USAGE_BY, type UsageBy } from "@holdfast/contract/status";
import type { Command, Context } from "../command.ts";
import { parseSince } from "../since.ts";
import { usageChart } from "../usage-chart.ts";

export const command: Command = {
  name: "usage",
  summary: "tokens and cost: by day, agent, model, session or turn",
  onlyReads: true,
  usage: "[NAME] [--by day|agent|model|session|turn|group] [--since 7d|all]",
  description:
    'What agents told that they used of models, also in sessions that were removed. Costs are what the agent itself says, else by a list of\nprices, which config.toml changes: [prices."MODEL"]. What is not known is shown as ?, and a sum that lacks something as ≥.\nThe bars are for a terminal: by cost, or by tokens where no cost is known.',
  flags: {
    by: { value: "WHAT", summary: `one line for each: ${USAGE_BY.join(", ")} (default: day)`, complete: "usage-by" },
    since: { value: "TIME", summary: "what was used since: 7d, 2h, 2026-11-15 (default: 30d); all", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast usage", "day by day, the last thirty"],
    ["holdfast usage --by model --since 7d", "which model took how much of the week"],
    ["holdfast usage fix-login --by turn", "each turn of one session"],
    ["holdfast usage --by session --since all --json", "everything ever, for a script"],
  ],
  async run(context) {
    const [session, ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "name one session only, or none", { hint: "usage: holdfast usage [NAME]" });
    const by = byOf(context.flags.text("by") ?? (session === undefined ? "day" : "turn"));
    const since = sinceOf(context, session);
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const report = await context.client.call("getUsage", { query: { by, since, session, timeZone } });
    process.stdout.write(
      `${context.json ? JSON.stringify(report) : usageChart(report, process.stdout.isTTY ? process.stdout.columns : undefined)}\n`,
    );
    return 0;
  },
};

function byOf(text: string): UsageBy {
  const by = USAGE_BY.find((known) => known === text);
  if (by) return by;
  throw new HoldfastError("usage", `--by does not take ${JSON.stringify(text)}`, { candidates: [...USAGE_BY] });
}

/** Of one session all that it used, unless somebody asks for less. */
function sinceOf(context: Context, session: string | undefined): string | undefined {
  const text = context.flags.text("since") ?? (session === undefined ? "30d" : "all");
  return text === "all" ? undefined : parseSince(text, "--since");
}
