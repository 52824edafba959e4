import { type Command, SELECTION_FLAGS } from "../command.ts";
import { agreed, YES_FLAG } from "../console/agree.ts";
import { actOnEach } from "../session/act-on-each.ts";
import { selected } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "rm",
  summary: "remove ended sessions and their recordings",
  section: "Stop and resume",
  onlyPrints: true,
  usage: "NAME… [--tree] [--all] [--status S] [--agent A] [--yes]",
  description:
    "Refuses a running session, and a session with running children: stop them first. Ends processes that the session left behind. Releases an adopted session: its agent keeps running, and its recording is removed.\n\nOn a terminal, --all, --status and --agent list the sessions, mark unread ones, and ask for confirmation. Removed sessions cannot be restored.",
  flags: {
    tree: { summary: "include all descendants" },
    ...SELECTION_FLAGS,
    all: { summary: "all ended sessions" },
    ...YES_FLAG,
  },
  arguments: "sessions",
  examples: [
    ["holdfast rm build", "remove one session"],
    ["holdfast rm --status done", "remove sessions that ended well"],
  ],
  async run(context) {
    const sessions = await selected(context, "rm", { ended: true });
    const chosen = context.args.length > 0 ? sessions : sessions.filter(({ endedAt }) => endedAt !== null);
    if (chosen.length === 0 && !context.json) process.stdout.write("Nothing to remove.\n");
    if (context.args.length === 0 && !(await agreed(context, { sessions: chosen, verb: "Remove", done: "removed" }))) return 0;
    return actOnEach(chosen, {
      json: context.json,
      act: ({ id }) => context.client.call("removeSession", { params: { ref: id }, query: { tree: context.flags.has("tree") } }),
      line: ({ name, cause, pid }) => `${plain(name)} removed${cause === "let_go" ? `; its agent keeps running, pid ${pid}` : ""}`,
      toJson: (session) => session,
    });
  },
};
