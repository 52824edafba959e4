import { HoldfastError } from "@holdfast/contract/errors";
import { USAGE_BY, type UsageBy } from "@holdfast/contract/usage/enums";
import type { Command, Context } from "../command.ts";
import { parseSince } from "../text/since.ts";
import { usageChart } from "../usage/chart.ts";

export const command: Command = {
  name: "usage",
  summary: "show tokens and cost by day, agent, model, session or turn",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  usage: "[NAME] [--by day|agent|model|session|turn|group] [--since 7d|all]",
  description: `Shows the model usage that agents reported, including that of removed sessions. The cost is the agent's own figure if it reports one, otherwise it comes from a price list that config.toml can change: [prices."MODEL"]. An unknown amount is shown as ?, and an incomplete sum as ≥.\n\nOn a terminal, bars show the cost, or the tokens if no cost is known.`,
  flags: {
    by: { value: "WHAT", summary: `group by: ${USAGE_BY.join(", ")} (default: day)`, complete: "usage-by" },
    since: { value: "TIME", summary: "start of the period: 7d, 2h, 2026-11-15, all (default: 30d)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast usage", "show the last thirty days"],
    ["holdfast usage --by model --since 7d", "compare models over the last week"],
    ["holdfast usage fix-login --by turn", "show each turn of one session"],
    ["holdfast usage --by session --since all --json", "print everything, for a script"],
  ],
  async run(context) {
    const [session, ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "expected at most one session", { hint: "usage: holdfast usage [NAME]" });
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

/** By default all usage of a named session, and 30 days otherwise. */
function sinceOf(context: Context, session: string | undefined): string | undefined {
  const text = context.flags.text("since") ?? (session === undefined ? "30d" : "all");
  return text === "all" ? undefined : parseSince(text, "--since");
}
