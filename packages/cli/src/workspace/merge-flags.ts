/** Merge flags shared by `workspace merge` and `keep`. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { MergeWay } from "@holdfast/contract/workspace/enums";
import type { Flag, Flags } from "../command.ts";
import { callerEnvironment } from "../session/start.ts";

export const mergeFlags = {
  squash: { summary: "squash the commits into one commit of yours" },
  rebase: { summary: "rebase the commits onto the base; the workspace follows" },
  ff: { summary: "fast-forward only (default)" },
  into: { value: "BRANCH", summary: "target branch (default: the workspace's base)", complete: "nothing" },
  commit: { value: "MESSAGE", summary: "commit all uncommitted files of the workspace first, new ones too", complete: "nothing" },
  message: {
    value: "TEXT",
    short: "m",
    summary: "with --squash: the commit message (default: the messages of its commits)",
    complete: "nothing",
  },
  push: { summary: "push the workspace's branch too, with your keys" },
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
    throw new HoldfastError("usage", "--message needs --squash", {
      hint: "to commit uncommitted files: --commit MESSAGE",
    });
  return body;
}

function wayOf(flags: Flags): MergeWay | undefined {
  const said = (["squash", "rebase", "ff"] as const).filter((way) => flags.has(way));
  if (said.length <= 1) return said[0];
  throw new HoldfastError("usage", `--${said[0]} and --${said[1]} cannot be used together`, { hint: "pass one of them" });
}
