import type { Flags } from "../command.ts";
import { parseCommandLine } from "../command-line.ts";
import { findCommand } from "../registry.ts";

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
};

/** A command line that makes no sense here may make some there: it is told there. */
export async function follows([name = "", ...args]: readonly string[]): Promise<boolean> {
  const isFollowing = Object.hasOwn(FOLLOWING, name) ? FOLLOWING[name] : undefined;
  const load = findCommand(name);
  if (!isFollowing || !load) return false;
  try {
    const line = parseCommandLine((await load()).command, args);
    return !line.flags.has("help") && isFollowing(line);
  } catch {
    return false;
  }
}
