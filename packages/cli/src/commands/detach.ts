import { type Command, SELECTION_FLAGS } from "../command.ts";
import { actOnEach } from "../session/act-on-each.ts";
import { selected } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "detach",
  summary: "detach all terminals; the session keeps running",
  stops: true,
  section: "Attach to a session",
  onlyPrints: true,
  usage: "NAME… [--all] [--status S] [--agent A]",
  flags: SELECTION_FLAGS,
  arguments: "sessions",
  examples: [
    ["holdfast detach demo", "detach one session from all terminals"],
    ["holdfast detach --all", "detach all sessions from all terminals"],
  ],
  async run(context) {
    // --all selects running sessions: an ended session has no terminals.
    const sessions = await selected(context, "detach");
    const running = context.args.length > 0 ? sessions : sessions.filter(({ endedAt }) => endedAt === null);
    if (running.length === 0 && !context.json) process.stdout.write("Nothing to detach.\n");
    return actOnEach(running, {
      json: context.json,
      act: ({ id }) => context.client.call("detachSession", { params: { ref: id }, body: {} }),
      line: ({ session, detached }) => `${plain(session.name)}: ${detached === 1 ? "1 terminal" : `${detached} terminals`} detached`,
      toJson: ({ session, detached }) => ({ ...session, detached }),
    });
  },
};
