/** What the declaration of a command says about running a command line for a remote machine. */
import type { Command, Declaration, Noun } from "../command.ts";
import { findInternal } from "../internal.ts";
import { parseCommandLine } from "../line/parse.ts";
import { chooseVerb } from "../line/verbs.ts";
import { findCommand } from "../registry.ts";

export interface Declared extends Pick<Declaration, "onlyPrints" | "startsPrograms" | "runsHere"> {
  follows: boolean;
}

export async function declared([name, ...args]: readonly string[]): Promise<Declared> {
  if (name === undefined || ["--help", "-h", "help"].includes(name)) return { runsHere: true, follows: false };
  const command = (await (findCommand(name) ?? findInternal(name))?.())?.command;
  return { ...command, follows: command !== undefined && (await follows(command, args)) };
}

/** A command line that is invalid here may be valid there, so the remote side reports it. */
async function follows(outer: Command | Noun, args: readonly string[]): Promise<boolean> {
  try {
    const { command, argv } = await chooseVerb(outer, args);
    if (!command.follows) return false;
    const line = parseCommandLine(command, argv);
    return !line.flags.has("help") && command.follows(line);
  } catch {
    return false;
  }
}
