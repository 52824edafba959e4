/** How a workspace is merged, as `workspace merge` and `keep` are told. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { MergeWay } from "@holdfast/contract/status";
import type { Flag, Flags } from "./command.ts";
import { callerEnvironment } from "./start-session.ts";

export const mergeFlags = {
  squash: { summary: "all of them as one commit of yours" },
  rebase: { summary: "each anew on top of the base; the workspace follows" },
  ff: { summary: "as they are, or not at all (the default)" },
  into: { value: "BRANCH", summary: "onto this branch (default: its base)", complete: "nothing" },
  commit: { value: "MESSAGE", summary: "commit all that is uncommitted in it first, new files too", complete: "nothing" },
  message: {
    value: "TEXT",
    short: "m",
    summary: "what the commit of --squash says (default: what its commits say)",
    complete: "nothing",
  },
  push: { summary: "push the workspace's branch as well, with your keys" },
} as const satisfies Record<string, Flag>;

export function mergeBody(flags: Flags) {
  const body = {
    env: callerEnvironment(),
    way: wayOf(flags),
    into: flags.text("into"),
    commit: flags.text("commit"),
    message: flags.text("message"),
    push: flags.has("push"),
  };
  if (body.message !== undefined && body.way !== "squash")
    throw new HoldfastError("usage", "--message is what the one commit of --squash says", {
      hint: "what is uncommitted: --commit MESSAGE",
    });
  return body;
}

function wayOf(flags: Flags): MergeWay | undefined {
  const said = (["squash", "rebase", "ff"] as const).filter((way) => flags.has(way));
  if (said.length <= 1) return said[0];
  throw new HoldfastError("usage", `--${said[0]} and --${said[1]} are two ways to do it`, { hint: "choose one" });
}
