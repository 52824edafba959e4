import { HoldfastError } from "@holdfast/contract/errors";
import { actOnEach } from "../act.ts";
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
  usage: "NAME… [--grace 5s] [--all] [--status S] [--agent A]",
  description: "Returns when every process is gone. What a session printed stays readable until rm.",
  flags: {
    grace: { value: "TIME", summary: "how long to wait before SIGKILL (default 5s)", complete: "nothing" },
    ...SELECTION_FLAGS,
    all: { summary: "all that run" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast stop demo", "one"],
    ["holdfast stop build test --grace 30s", "two, with time to clean up"],
    ["holdfast stop --all", "everything that runs"],
  ],
  async run(context) {
    const grace = context.flags.text("grace");
    const graceMs = grace === undefined ? 5000 : parseDuration(grace, "--grace");
    if (graceMs > LONGEST_GRACE_MS) throw new HoldfastError("usage", `--grace is at most an hour, not ${grace}`);
    const sessions = await selected(context, "stop");
    const running =
      context.args.length > 0 ? sessions : sessions.filter(({ endedAt, restartAt }) => endedAt === null || restartAt !== null);
    if (running.length === 0 && !context.json) process.stdout.write("Nothing to stop.\n");
    return actOnEach(running, {
      json: context.json,
      act: ({ id }) => context.client.call("stopSession", { params: { ref: id }, body: { graceMs } }),
      line: ({ session, killed }) =>
        session.restartGivenUp === "stopped"
          ? `${plain(session.name)} gets no further run`
          : `${plain(session.name)} stopped (${describeKilled(killed)})`,
      toJson: ({ session, killed }) => ({ ...session, killed }),
    });
  },
};

function describeKilled(killed: readonly { signal: string }[]): string {
  const hard = killed.filter(({ signal }) => signal === "SIGKILL").length;
  const processes = killed.length === 1 ? "1 process" : `${killed.length} processes`;
  return hard === 0 ? processes : `${processes}, ${hard} by SIGKILL`;
}
