import { actOnEach } from "../act.ts";
import { agreed, YES_FLAG } from "../agree.ts";
import { type Command, SELECTION_FLAGS } from "../command.ts";
import { plain } from "../plain.ts";
import { selected } from "../select.ts";

export const command: Command = {
  name: "rm",
  summary: "remove ended sessions with what they printed",
  usage: "NAME… [--tree] [--all] [--status S] [--agent A] [--yes]",
  description:
    "A running session is refused: stop it first. So is one whose child sessions still run. Processes that it left behind are ended. One that was adopted is let go: its agent goes on where it is, and what was recorded of it is removed.\nOn a terminal, --all, --status and --agent list the sessions and ask first, and say which are unread. What is removed cannot be brought back.",
  flags: {
    tree: { summary: "and all sessions that descend from it" },
    ...SELECTION_FLAGS,
    all: { summary: "all that have ended" },
    ...YES_FLAG,
  },
  arguments: "sessions",
  examples: [
    ["holdfast rm build", "one"],
    ["holdfast rm --status done", "all that ended well"],
  ],
  async run(context) {
    const sessions = await selected(context, "rm", { ended: true });
    const chosen = context.args.length > 0 ? sessions : sessions.filter(({ endedAt }) => endedAt !== null);
    if (chosen.length === 0 && !context.json) process.stdout.write("Nothing to remove.\n");
    if (context.args.length === 0 && !(await agreed(context, { sessions: chosen, verb: "Remove", done: "removed" }))) return 0;
    return actOnEach(chosen, {
      json: context.json,
      act: ({ id }) => context.client.call("removeSession", { params: { ref: id }, query: { tree: context.flags.has("tree") } }),
      line: ({ name, cause, pid }) => `${plain(name)} removed${cause === "let_go" ? `; its agent goes on where it is, pid ${pid}` : ""}`,
      toJson: (session) => session,
    });
  },
};
