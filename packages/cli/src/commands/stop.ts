import type { StopReply } from "@holdfast/contract/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { isRunning } from "@holdfast/contract/status";
import { actOnEach } from "../act.ts";
import { agreed, YES_FLAG } from "../agree.ts";
import { type Command, SELECTION_FLAGS } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { plain } from "../plain.ts";
import { selected } from "../select.ts";

/** As the API has it. */
const LONGEST_GRACE_MS = 3_600_000;

export const command: Command = {
  name: "stop",
  summary: "end sessions: SIGTERM to all their processes, SIGKILL after a grace period",
  stops: true,
  usage: "NAME… [--tree] [--grace 5s] [--all] [--status S] [--agent A] [--yes]",
  description:
    "Returns when every process is gone. On a terminal, --all, --status and --agent list the sessions and ask first, and say which are unread. What a session printed stays readable until rm. --tree also stops what it started, what that started,\nand so on, also of a session that has ended itself: shells, agents and conversations alike.",
  flags: {
    grace: { value: "TIME", summary: "how long to wait before SIGKILL (default 5s)", complete: "nothing" },
    tree: { summary: "and all sessions that descend from it" },
    ...SELECTION_FLAGS,
    all: { summary: "all that run" },
    ...YES_FLAG,
  },
  arguments: "sessions",
  examples: [
    ["holdfast stop demo", "one"],
    ["holdfast stop build test --grace 30s", "two, with time to clean up"],
    ["holdfast stop lead --tree", "an agent, and those that it started"],
    ["holdfast stop --all", "everything that runs"],
  ],
  async run(context) {
    const grace = context.flags.text("grace");
    const graceMs = grace === undefined ? 5000 : parseDuration(grace, "--grace");
    if (graceMs > LONGEST_GRACE_MS) throw new HoldfastError("usage", `--grace is at most an hour, not ${grace}`);
    const sessions = await selected(context, "stop");
    const running =
      context.args.length > 0 ? sessions : sessions.filter(({ status, restartAt }) => isRunning(status) || restartAt !== null);
    if (running.length === 0 && !context.json) process.stdout.write("Nothing to stop.\n");
    if (context.args.length === 0 && !(await agreed(context, { sessions: running, verb: "Stop", done: "stopped" }))) return 0;
    return actOnEach(running, {
      json: context.json,
      act: ({ id }) => context.client.call("stopSession", { params: { ref: id }, body: { graceMs, tree: context.flags.has("tree") } }),
      line: (reply) => stoppedBy(reply).map(line).join("\n"),
      toJson: (reply) => stoppedBy(reply).map(({ session, killed }) => ({ ...session, killed })),
    });
  },
};

type Stopped = Omit<StopReply, "tree">;

/** Of a tree whose root had ended before, only what ran. */
function stoppedBy({ tree, ...root }: StopReply): Stopped[] {
  const hadEnded = tree.length > 0 && root.killed.length === 0 && root.session.restartGivenUp !== "stopped";
  return hadEnded ? tree : [root, ...tree];
}

function line({ session, killed }: Stopped): string {
  return session.restartGivenUp === "stopped"
    ? `${plain(session.name)} gets no further run`
    : `${plain(session.name)} stopped (${describeKilled(killed)})`;
}

function describeKilled(killed: readonly { signal: string }[]): string {
  const hard = killed.filter(({ signal }) => signal === "SIGKILL").length;
  const processes = killed.length === 1 ? "1 process" : `${killed.length} processes`;
  return hard === 0 ? processes : `${processes}, ${hard} by SIGKILL`;
}
