import type { CancelOutcome, CancelStep } from "@holdfast/contract/status";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { oneName } from "../select.ts";

export const command: Command = {
  name: "cancel",
  summary: "interrupt what a session's agent is doing; what it said so far stays",
  usage: "NAME",
  description:
    "The session goes on and takes the next prompt. To end it: holdfast stop.\nReturns when the turn has ended. An agent that ignores this is told again, and interrupted harder where it allows that; when its turn goes on\nall the same, the exit code is 47.",
  flags: {},
  arguments: "sessions",
  examples: [["holdfast cancel api", "the turn that runs"]],
  async run(context) {
    const params = { ref: oneName(context, "cancel NAME") };
    const { session, ...done } = await context.client.call("cancelTurn", { params, body: {} });
    if (context.json) process.stdout.write(`${JSON.stringify({ ...session, ...done })}\n`);
    else process.stdout.write(`${plain(session.name)}: ${told(done)}\n`);
    return 0;
  },
};

function told({ outcome, steps }: { outcome: CancelOutcome; steps: readonly CancelStep[] }): string {
  if (outcome === "none") return "no turn runs";
  if (outcome !== "stopped") return "told to stop; whether its turn has ended is not known";
  return steps.length === 1 ? "interrupted" : `interrupted, at the ${steps.length === 2 ? "second" : "third"} attempt`;
}
