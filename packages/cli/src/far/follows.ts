import type { Command, Flags } from "../command.ts";
import { parseCommandLine } from "../line/parse.ts";
import { chooseVerb } from "../line/verbs.ts";
import { findCommand } from "../registry.ts";

interface Line {
  args: readonly string[];
  flags: Flags;
}

/** Commands that keep printing and must survive a broken connection. */
const FOLLOWING: Readonly<Record<string, (line: Line) => boolean>> = {
  logs: ({ flags }) => flags.has("follow"),
  transcript: ({ flags }) => flags.has("follow"),
  events: ({ flags }) => flags.has("follow"),
  ls: ({ flags }) => flags.has("watch"),
  wait: () => true,
  approvals: ({ args }) => args[0] === "watch",
  send: ({ flags }) => flags.has("wait"),
  "group watch": () => true,
};

/** A command line that is invalid here may be valid there, so the remote side reports it. */
export async function follows([name = "", ...args]: readonly string[]): Promise<boolean> {
  const load = findCommand(name);
  if (!load) return false;
  try {
    const { command, argv } = await withVerb((await load()).command, args);
    const isFollowing = Object.hasOwn(FOLLOWING, command.name) ? FOLLOWING[command.name] : undefined;
    if (!isFollowing) return false;
    const line = parseCommandLine(command, argv);
    return !line.flags.has("help") && isFollowing(line);
  } catch {
    return false;
  }
}

async function withVerb(command: Command, argv: readonly string[]): Promise<{ command: Command; argv: readonly string[] }> {
  return command.verbs ? chooseVerb(command, argv) : { command, argv };
}
