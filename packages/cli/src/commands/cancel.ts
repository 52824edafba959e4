import type { CancelOutcome, CancelStep } from "@holdfast/contract/conversation/enums";
import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "cancel",
  summary: "interrupt an agent's turn; its output so far stays",
  section: "Send and answer",
  onlyPrints: true,
  usage: "NAME",
  description:
    "The session keeps running and takes the next prompt. To end it: holdfast stop. The command returns when the turn has ended. An agent that ignores the request is interrupted again, harder if it supports that. If its turn still does not end, the exit code is 47.",
  arguments: "sessions",
  examples: [["holdfast cancel api", "cancel the current turn"]],
  async run(context) {
    const params = { ref: oneName(context, "cancel NAME") };
    const { session, ...done } = await context.client.call("cancelTurn", { params, body: {} });
    if (context.json) process.stdout.write(`${JSON.stringify({ ...session, ...done })}\n`);
    else process.stdout.write(`${plain(session.name)}: ${told(done)}\n`);
    return 0;
  },
};

function told({ outcome, steps }: { outcome: CancelOutcome; steps: readonly CancelStep[] }): string {
  if (outcome === "none") return "no turn is running";
  if (outcome !== "stopped") return "told to stop; it is unknown whether the turn has ended";
  return steps.length === 1 ? "interrupted" : `interrupted, at the ${steps.length === 2 ? "second" : "third"} attempt`;
}
