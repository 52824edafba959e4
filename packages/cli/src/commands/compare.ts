import { HoldfastError } from "@holdfast/contract/errors";
import type { Tournament } from "@holdfast/contract/tournament/tournament";
import type { Command, Context } from "../command.ts";
import { callerEnvironment } from "../session/start.ts";
import { color } from "../text/color.ts";
import { columns } from "../text/columns.ts";
import { formatDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";
import { tournamentText } from "../tournament/text.ts";

export const command: Command = {
  name: "compare",
  summary: "compare the agents of a tournament: status, changes, checks",
  section: "Workspaces",
  onlyPrints: true,
  usage: "[NAME] [--check COMMAND] | --all",
  description:
    "A tournament is several agents on one prompt: holdfast spawn --best-of. NAME is the tournament or one of its sessions; the default is the only open tournament. The column CHANGED counts commits, uncommitted changes and new files since the common commit.\n\n--check runs a command in each workspace, two at a time. The table shows the last result, and the output is saved to a file. The command gets the workspace's variables, for example HOLDFAST_PORT_BASE.",
  flags: {
    check: { value: "COMMAND", summary: "run this command in each workspace, for example 'npm test'", complete: "nothing" },
    all: { summary: "list all tournaments" },
  },
  arguments: "tournaments",
  examples: [
    ["holdfast compare", "compare the only open tournament"],
    ["holdfast compare fix --check 'npm test'", "run the tests of each entry"],
    ["holdfast compare fix --json", "for a script"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0)
      throw new HoldfastError("usage", `unexpected argument ${JSON.stringify(more[0])}`, { hint: "see: holdfast compare --help" });
    if (context.flags.has("all")) return list(context);
    const ref = name ?? (await onlyOne(context));
    const check = context.flags.text("check");
    if (check !== undefined) {
      const { checkAll } = await import("../tournament/check.ts");
      const tournament = await context.client.call("getTournament", { params: { ref } });
      await checkAll(context, tournament, { command: check, env: callerEnvironment() });
    }
    const tournament = await context.client.call("getTournament", { params: { ref } });
    const width = process.stdout.columns;
    process.stdout.write(context.json ? `${JSON.stringify(tournament)}\n` : `${tournamentText(tournament, { now: Date.now(), width })}\n`);
    return 0;
  },
};

async function onlyOne({ client }: Context): Promise<string> {
  const { tournaments } = await client.call("listTournaments", {});
  const [only, ...others] = tournaments;
  if (only && others.length === 0) return only.id;
  throw only
    ? new HoldfastError("usage", "several tournaments are open; pass a name", { candidates: tournaments.map(({ name }) => name) })
    : new HoldfastError("tournament_not_found", "no tournament is open", {
        hint: "start one: holdfast spawn claude --best-of 3 --prompt TEXT; list finished ones: holdfast compare --all",
      });
}

async function list({ client, json }: Context): Promise<number> {
  const { tournaments } = await client.call("listTournaments", { query: { all: true } });
  if (json) process.stdout.write(`${JSON.stringify(tournaments)}\n`);
  else process.stdout.write(tournaments.length === 0 ? "No tournaments.\n" : `${table(tournaments)}\n`);
  return 0;
}

function table(tournaments: readonly Omit<Tournament, "entries">[]): string {
  return columns(
    ["NAME", "STARTED", "KEPT", "PROMPT"],
    tournaments.map(({ name, startedAt, kept, prompt }) => [
      plain(name),
      `${formatDuration(Math.max(0, Date.now() - Date.parse(startedAt)))} ago`,
      kept === null ? color("dim", "-") : plain(kept),
      plain(prompt?.trim().split("\n")[0] ?? "").slice(0, 60),
    ]),
  );
}
