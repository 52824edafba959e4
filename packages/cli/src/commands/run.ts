import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { printStarted, START_FLAGS, startSession } from "../session/start.ts";

export const command: Command = {
  name: "run",
  summary: "run a command in the background",
  section: "Start agents and commands",
  onlyPrints: true,
  startsPrograms: true,
  usage: "[--name NAME] [--worktree[=BRANCH]] [--cwd DIR] [--env K=V]… -- COMMAND…",
  description:
    "Starts the command in its own terminal, prints the session's id and returns. The command keeps running when you close your terminal. Read its output with logs, attach to it with attach, end it with stop. The output is recorded on disk.",
  flags: { ...START_FLAGS, report: { summary: "inside a session: send a message to this session when the command ends" } },
  passesOn: true,
  examples: [
    ["holdfast run -- npm test", "run in this directory with this environment"],
    ["holdfast run --name build --cwd ~/app -- make -j8", "give the session a name"],
    ["holdfast run --budget minutes=30 -- ./long-test.sh", "stop it after half an hour"],
    ["holdfast run --env PORT=3000 -- ./serve.sh", "set a variable"],
  ],
  async run(context) {
    const command = [...context.rest];
    if (command.length === 0)
      throw new HoldfastError("usage", "expected a command after --", { hint: "for example: holdfast run -- npm test" });
    printStarted(await startSession(context, { agent: "shell", command }), context.json);
    return 0;
  },
};
