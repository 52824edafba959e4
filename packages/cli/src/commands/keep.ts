import { HoldfastError } from "@holdfast/contract/errors";
import { hasEnded } from "@holdfast/contract/session/status";
import type { Tournament, TournamentEntry } from "@holdfast/contract/tournament/tournament";
import { counted } from "@holdfast/platform/units";
import type { Command } from "../command.ts";
import { plain } from "../text/plain.ts";
import { mergeBody, mergeFlags } from "../workspace/merge-flags.ts";
import { printNotes } from "../workspace/text.ts";

export const command: Command = {
  name: "keep",
  summary: "merge one entry of a tournament and remove the others",
  section: "Workspaces",
  usage: "NAME [--squash | --rebase] [--into BRANCH] [--commit MESSAGE] [--message TEXT] [--push] [--yes]",
  description:
    "Merges the entry like holdfast workspace merge; if that fails, nothing changes. Then it stops the sessions of the other entries and removes their workspaces. holdfast workspace recover NAME brings one back. If interrupted, run the command again to finish.",
  flags: { ...mergeFlags, yes: { summary: "do not ask for confirmation", short: "y" } },
  arguments: "entries",
  examples: [
    ["holdfast keep fix-2", "preview and confirm"],
    ["holdfast keep fix-2 --squash --yes", "squash into one commit, in a script"],
    ["holdfast keep fix-2 --commit 'Fix the login'", "include uncommitted files"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected the entry to keep", { hint: "for example: holdfast keep fix-2" });
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
        ? `${plain(entry.name)} was already merged`
        : `${plain(entry.name)}: ${merged.commits === 1 ? "1 commit is" : `${counted(merged.commits, "commit")} are`} in ${plain(merged.into)}, now at ${merged.commit.slice(0, 10)}`,
      ...removed.map(
        ({ workspace }) => `${plain(workspace.name)} removed; recover it: holdfast workspace recover ${plain(workspace.name)}`,
      ),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    printNotes(notes);
    return 0;
  },
};

/** Finds an entry by its own name; the tournament's name is ambiguous. */
function entryNamed({ name: of, entries }: Tournament, name: string): TournamentEntry {
  const found = entries.find((entry) => [entry.name, entry.session?.id, entry.workspace?.name, entry.workspace?.id].includes(name));
  if (found) return found;
  throw new HoldfastError("usage", `${of} is a tournament; name one of its entries`, {
    candidates: entries.map((entry) => entry.name),
    hint: `compare the entries: holdfast compare ${of}`,
  });
}

async function isMeant(tournament: Tournament, entry: TournamentEntry): Promise<boolean> {
  const others = tournament.entries.filter((each) => each !== entry && each.workspace !== null && each.workspace.removedAt === null);
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new HoldfastError("usage", `confirmation needed: this merges ${entry.name} and removes ${counted(others.length, "workspace")}`, {
      hint: "pass --yes; removed workspaces can be recovered",
    });
  const lines = [
    `${plain(entry.name)} (${plain(entry.agent)}) ${entry.workspace?.ahead === 0 && !entry.workspace.dirty ? "has nothing left to be" : "is"} merged${entry.workspace?.base ? ` into ${plain(entry.workspace.base)}` : ""}${working(entry)}.`,
    ...others.map(
      (each) =>
        `${plain(each.name)} (${plain(each.agent)}) will be removed${working(each)}: ${workOf(each)}; recover it: holdfast workspace recover ${plain(each.name)}.`,
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
  return parts.length === 0 ? "no changes" : parts.join(", ");
}
