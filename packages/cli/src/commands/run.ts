import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { printStarted, START_FLAGS, startSession } from "../start-session.ts";

export const command: Command = {
  name: "run",
  summary: "run a command in the background",
  usage: "[--name NAME] [--worktree[=BRANCH]] [--cwd DIR] [--env K=V]… -- COMMAND…",
  description:
    "Starts the command in a terminal of its own, prints the session's id and returns. It goes on without you: read it with logs, look at it\nwith attach, end it with stop. What it prints is kept on disk.",
  flags: { ...START_FLAGS, report: { summary: "inside a session: send it a message when this has ended" } },
  passesOn: true,
  examples: [
    ["holdfast run -- npm test", "in this directory, with this environment"],
    ["holdfast run --name build --cwd ~/app -- make -j8", "with a name to find it by"],
    ["holdfast run --budget minutes=30 -- ./long-test.sh", "stopped after half an hour"],
    ["holdfast run --env PORT=3000 -- ./serve.sh", "with a variable of its own"],
  ],
  async run(context) {
    const command = [...context.rest];
    if (command.length === 0) throw new HoldfastError("usage", "say what to run", { hint: "for example: holdfast run -- npm test" });
    printStarted(await startSession(context, { agent: "shell", command }), context.json);
    return 0;
  },
};
