import { HoldfastError } from "@holdfast/contract/errors";
import type { StopReply } from "@holdfast/contract/session/endpoints";
import type { Session } from "@holdfast/contract/session/session";
import { isRunning } from "@holdfast/contract/session/status";
import { type Command, SELECTION_FLAGS } from "../command.ts";
import { agreed, YES_FLAG } from "../console/agree.ts";
import { actOnEach } from "../session/act-on-each.ts";
import { selected } from "../session/select.ts";
import { parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** The limit of the API. */
const LONGEST_GRACE_MS = 3_600_000;

export const command: Command = {
  name: "stop",
  summary: "stop sessions: SIGTERM, then SIGKILL after a grace period",
  stops: true,
  section: "Stop and resume",
  onlyPrints: true,
  usage: "NAME… [--tree] [--grace 5s] [--all] [--status S] [--agent A] [--yes]",
  description:
    "Returns when every process has ended. On a terminal, --all, --status and --agent list the sessions, mark unread ones, and ask for confirmation. The output stays readable until holdfast rm. --tree also stops all descendants, even of a session that has ended.",
  flags: {
    grace: { value: "TIME", summary: "time before SIGKILL (default 5s)", complete: "nothing" },
    tree: { summary: "include all descendants" },
    ...SELECTION_FLAGS,
    all: { summary: "all running sessions" },
    ...YES_FLAG,
  },
  arguments: "sessions",
  examples: [
    ["holdfast stop demo", "stop one session"],
    ["holdfast stop build test --grace 30s", "stop two sessions, with time to clean up"],
    ["holdfast stop lead --tree", "stop an agent and everything it started"],
    ["holdfast stop --all", "stop everything"],
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
      async act(session) {
        const body = { graceMs, tree: context.flags.has("tree") };
        return context.client.call("stopSession", { params: { ref: session.id }, body }).catch(unlessEnded(session));
      },
      line: (reply) => ("note" in reply ? reply.note : stoppedBy(reply).map(line).join("\n")),
      toJson: (reply) => ("note" in reply ? { ...reply.session, killed: [] } : stoppedBy(reply).map(toJson)),
    });
  },
};

/** A session that has already ended counts as stopped. */
function unlessEnded(session: Session): (error: unknown) => { session: Session; note: string } {
  return (error) => {
    if (!(error instanceof HoldfastError) || error.code !== "session_ended" || session.status === "created") throw error;
    return { session, note: `${plain(error.message)}${error.hint ? `\n  ${plain(error.hint)}` : ""}` };
  };
}

type Stopped = Omit<StopReply, "tree">;

function toJson({ session, killed }: Stopped) {
  return { ...session, killed };
}

/** If the tree's root had already ended, lists only its descendants. */
function stoppedBy({ tree, ...root }: StopReply): Stopped[] {
  const hadEnded = tree.length > 0 && root.killed.length === 0 && root.session.restartGivenUp !== "stopped";
  return hadEnded ? tree : [root, ...tree];
}

function line({ session, killed }: Stopped): string {
  return session.restartGivenUp === "stopped"
    ? `${plain(session.name)} will not restart`
    : `${plain(session.name)} stopped (${describeKilled(killed)})`;
}

function describeKilled(killed: readonly { signal: string }[]): string {
  const hard = killed.filter(({ signal }) => signal === "SIGKILL").length;
  const processes = killed.length === 1 ? "1 process" : `${killed.length} processes`;
  return hard === 0 ? processes : `${processes}, ${hard} by SIGKILL`;
}
