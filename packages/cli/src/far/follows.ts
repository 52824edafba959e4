import type { Command, Flags } from "../command.ts";
import { parseCommandLine } from "../command-line.ts";
import { findCommand } from "../registry.ts";
import { chooseVerb } from "../verbs.ts";

interface Line {
  args: readonly string[];
  flags: Flags;
}

/** What stays and prints what comes, of whom a break in the connection must not be the end. */
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

/** A command line that makes no sense here may make some there: it is told there. */
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
