/**
 * Serves the completion scripts: takes the words so far, the last one unfinished, and prints the candidates, one per line. It runs at each press of
 * Tab, so it loads only the commands that it describes.
 */
import type { Command, Commands, Completion, Context, Flag } from "../command.ts";
import { bare, type Candidate, describedLines, listedLines } from "../complete/candidate.ts";
import { ASKED, values } from "../complete/values.ts";
import { COMMON_FLAGS, PAGER_FLAG } from "../line/parse.ts";
import { COMMANDS, findCommand } from "../registry.ts";

export const command: Command = {
  name: "__complete",
  summary: "for the shells' completion",
  runsHere: true,
  usage: "[--described | --columns N] -- WORDS…",
  flags: {
    described: { summary: "print a tab and a description after each candidate" },
    columns: { value: "N", summary: "print an aligned list with descriptions for a terminal of N columns", complete: "nothing" },
  },
  hidden: true,
  passesOn: true,
  examples: [["holdfast __complete stop b", "names that begin with b"]],
  async run(context) {
    // Errors in the line are reported when it runs.
    const found = await candidates(context, context.rest).catch(() => []);
    const lines = linesOf(context, found);
    if (lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
    return 0;
  },
};

function linesOf({ flags }: Context, found: readonly Candidate[]): string[] {
  const columns = Number(flags.text("columns"));
  if (columns > 0) return listedLines(found, columns);
  return flags.has("described") ? describedLines(found) : found.map(({ word }) => word);
}

async function candidates(context: Context, words: readonly string[]): Promise<Candidate[]> {
  const isMachine = words.length === 2 && (words[0] === "-H" || words[0] === "--machine");
  if (isMachine) return matching(bare(await (await import("../far/complete.ts")).machineNames()), words[1] ?? "");
  const isFar = words[0]?.startsWith("-") || process.env.HOLDFAST_MACHINE;
  const describes = context.flags.has("described") || context.flags.text("columns") !== undefined;
  if (!isFar || words.length === 1) return candidatesHere(words, { describes, values: (what, before) => values(context, what, before) });
  const { name, rest } = (await import("../far/machine.ts")).splitMachine(words);
  if (name === undefined) return [];
  return candidatesHere(rest, {
    describes,
    values: async (what, before) =>
      ASKED.has(what) ? bare(await (await import("../far/complete.ts")).farCandidates(name, rest)) : values(context, what, before),
  });
}

interface How {
  /** Loads commands for their summaries. */
  describes: boolean;
  values(what: Completion, before?: readonly string[]): Promise<Candidate[]>;
}

async function candidatesHere(words: readonly string[], { values, describes }: How): Promise<Candidate[]> {
  const [name = "", ...args] = words;
  if (args.length === 0 && name.startsWith("-")) return matching(BEFORE_A_COMMAND, name);
  if (args.length === 0) return commandsAs(name, describes);
  if (name === "help") return args.length === 1 ? commandsAs(args[0] ?? "", describes) : [];
  const load = findCommand(name);
  if (!load || args.slice(0, -1).includes("--")) return [];
  const outer = (await load()).command;
  const verbs = args.length === 1 ? await summaries(outer.verbs ?? {}, args[0] ?? "", describes) : [];
  const verb = args.length > 1 && Object.hasOwn(outer.verbs ?? {}, args[0] ?? "") ? outer.verbs?.[args[0] ?? ""] : undefined;
  // With flags only, the first verb runs.
  const chosen = verb ?? (outer.run || !args[0]?.startsWith("-") ? undefined : Object.values(outer.verbs ?? {})[0]);
  if (!chosen && !outer.run) return verbs;
  const command = chosen ? (await chosen()).command : outer;
  if (verb) args.shift();
  const flags = { ...COMMON_FLAGS, ...(command.pages ? PAGER_FLAG : {}), ...command.flags };
  const current = args.at(-1) ?? "";
  const before = flags[args.at(-2)?.replace(/^--/, "") ?? ""];
  const all =
    before?.value && args.at(-2)?.startsWith("--")
      ? await values(before.complete ?? "nothing")
      : current.startsWith("-")
        ? flagCandidates(flags)
        : await values(command.arguments ?? "nothing", args.slice(0, -1));
  const known = matching(all, current);
  return [...known, ...verbs.filter(({ word }) => !known.some((each) => each.word === word))];
}

const BEFORE_A_COMMAND: readonly Candidate[] = [
  { word: "--machine", about: "run the command on another machine over ssh" },
  { word: "--help", about: "show help" },
  { word: "--version", about: "show the version" },
];

async function commandsAs(begun: string, describes: boolean): Promise<Candidate[]> {
  return [...(await summaries(COMMANDS, begun, describes)), ...matching([{ word: "help", about: "show help for a command" }], begun)];
}

function summaries(commands: Commands, begun: string, describes: boolean): Promise<Candidate[]> {
  const named = Object.entries(commands).filter(([name]) => name.startsWith(begun));
  return Promise.all(named.map(async ([word, load]) => ({ word, about: describes ? (await load()).command.summary : "" })));
}

function flagCandidates(flags: Readonly<Record<string, Flag>>): Candidate[] {
  return Object.entries(flags).map(([flag, { summary }]) => ({ word: `--${flag}`, about: summary }));
}

function matching(found: readonly Candidate[], begun: string): Candidate[] {
  return found.filter(({ word }) => word.startsWith(begun));
}
