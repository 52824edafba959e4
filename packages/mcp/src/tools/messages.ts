/** What agents say to each other and to people. */
import { LONGEST_MESSAGE } from "@holdfast/contract/message";
import * as z from "zod/mini";
import { patience, say, tool } from "../tool.ts";

/** A daemon answers a wait of this length by itself; then it is asked again. */
const ONE_WAIT_MS = 20_000;

export const MESSAGE_TOOLS = [
  tool({
    name: "send_message",
    description:
      "Say something to another session's agent. It is kept until it can be handed over, and you get its id and how far it has come: queued, injected, turn_started, replied, failed. With wait_ms the answer comes back, if there is one by then.",
    input: z.object({
      to: say(z.string(), "a session: its name or id"),
      text: say(z.string().check(z.minLength(1), z.maxLength(LONGEST_MESSAGE)), "the words"),
      steer: say(z._default(z.boolean(), false), "also into a turn that runs; without it, it waits for the end of the turn"),
      wait_ms: patience(0, "how long to wait for the answer to it"),
    }),
    async run({ to, text, steer, wait_ms: waitMs }, { client, signal, tell }) {
      const sent = await client.call("sendMessage", { params: { ref: to }, body: { text, steer } }, signal);
      if (sent.message === null) return { sent: "typed", session: sent.session.name };
      const deadline = performance.now() + waitMs;
      let message = sent.message;
      while (performance.now() < deadline && isUnderWay(message)) {
        tell(`${message.name}: ${message.state.replace("_", " ")}${message.why === null ? "" : ` (${message.why})`}`);
        const left = Math.min(ONE_WAIT_MS, Math.ceil(deadline - performance.now()));
        message = await client.call("getMessage", { params: { id: message.id }, query: { until: "replied", waitMs: left } }, signal);
      }
      const { id, name, state, reply, why, hint } = message;
      return { id, to: name, state, reply, why, hint };
    },
  }),
];

function isUnderWay({ state, settled }: { state: string; settled: boolean }): boolean {
  return !settled && !["replied", "failed", "cancelled"].includes(state);
}
