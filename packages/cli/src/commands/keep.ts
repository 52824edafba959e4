import { HoldfastError } from "@holdfast/contract/errors";
import { hasEnded } from "@holdfast/contract/status";
import type { Tournament, TournamentEntry } from "@holdfast/contract/tournament";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../command.ts";
import { mergeBody, mergeFlags } from "../merge-flags.ts";
import { plain } from "../plain.ts";
import { printNotes } from "../workspace-text.ts";

export const command: Command = {
  name: "keep",
  summary: "merge one agent's work of a tournament, and remove the others'",
  usage: "NAME [--squash | --rebase] [--into BRANCH] [--commit MESSAGE] [--message TEXT] [--push] [--yes]",
  description:
    "First it is merged, as `holdfast workspace merge` does; if that cannot be, nothing is changed. Then the sessions of the others are stopped and their\nworkspaces removed, all of which comes back with: holdfast workspace recover NAME. Cut short, it goes on when it is asked again.",
  flags: { ...mergeFlags, yes: { summary: "do not ask", short: "y" } },
  arguments: "entries",
  examples: [
    ["holdfast keep fix-2", "says what it will do, and asks"],
    ["holdfast keep fix-2 --squash --yes", "as one commit, in a script"],
    ["holdfast keep fix-2 --commit 'Fix the login'", "with what it left uncommitted"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "say which one to keep", { hint: "for example: holdfast keep fix-2" });
    const body = mergeBody(context.flags);
    const tournament = await context.client.call("getTournament", { params: { ref: name } });
    const entry = entryNamed(tournament, name);
    if (!context.flags.has("yes") && !(await isMeant(tournament, entry))) {
      process.stderr.write("Nothing was changed.\n");
      return 1;
    }
    const kept = await context.client.call("keepEntry", { params: { ref: tournament.id }, body: { ...body, entry: entry.name } });
    if (context.json) {
      process.stdout.write(`${JSON.stringify(kept)}\n`);
      return 0;
    }
    const { merged, removed, notes } = kept;
    const lines = [
      merged === null
        ? `${plain(entry.name)} was merged before`
        : `${plain(entry.name)}: ${merged.commits === 1 ? "1 commit is" : `${counted(merged.commits, "commit")} are`} in ${plain(merged.into)}, now at ${merged.commit.slice(0, 10)}`,
      ...removed.map(
        ({ workspace }) => `${plain(workspace.name)} removed; to bring it back: holdfast workspace recover ${plain(workspace.name)}`,
      ),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    printNotes(notes);
    return 0;
  },
};

/** By its own name, not by the tournament's: which one is the question. */
function entryNamed({ name: of, entries }: Tournament, name: string): TournamentEntry {
  const found = entries.find((entry) => [entry.name, entry.session?.id, entry.workspace?.name, entry.workspace?.id].includes(name));
  if (found) return found;
  throw new HoldfastError("usage", `${of} is a tournament: say which one of it to keep`, {
    candidates: entries.map((entry) => entry.name),
    hint: `compare them: holdfast compare ${of}`,
  });
}

async function isMeant(tournament: Tournament, entry: TournamentEntry): Promise<boolean> {
  const others = tournament.entries.filter((each) => each !== entry && each.workspace !== null && each.workspace.removedAt === null);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new HoldfastError("usage", `this merges ${entry.name} and removes ${counted(others.length, "workspace")}`, {
      hint: "say --yes; what is removed can be recovered",
    });
  const lines = [
    `${plain(entry.name)} (${plain(entry.agent)}) ${entry.workspace?.ahead === 0 && !entry.workspace.dirty ? "has nothing more to be" : "is"} merged${entry.workspace?.base ? ` into ${plain(entry.workspace.base)}` : ""}${working(entry)}.`,
    ...others.map(
      (each) =>
        `${plain(each.name)} (${plain(each.agent)}) goes${working(each)}: ${workOf(each)}; holdfast workspace recover ${plain(each.name)} brings it back.`,
    ),
  ];
  process.stderr.write(`${lines.join("\n")}\n`);
  const { createInterface } = await import("node:readline/promises");
  using ask = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await ask.question("Go on? [y/N] ")).trim());
}

function working({ session }: TournamentEntry): string {
  return session !== null && !hasEnded(session.status) ? ` (it is ${session.status})` : "";
}

function workOf({ workspace }: TournamentEntry): string {
  const parts = [
    workspace?.ahead ? counted(workspace.ahead, "commit") : "",
    workspace?.changes ? counted(workspace.changes, "uncommitted file") : "",
  ].filter(Boolean);
  return parts.length === 0 ? "nothing was done in it" : parts.join(", ");
}
