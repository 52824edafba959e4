import type { PromptResponse } from "@agentclientprotocol/sdk/unstable";
import { playChore } from "./chore.ts";
import { type Asked, Cancelled, Turn } from "./turn.ts";
import { stepsOf } from "./words.ts";

/** One turn: what the prompt's words say, or, where they say nothing, what a coding agent would show. */
export async function playTurn(asked: Asked): Promise<PromptResponse> {
  const { session, prompt } = asked;
  session.memory.add({ prompt, cwd: session.cwd });
  const turn = new Turn(asked);
  try {
    const steps = stepsOf(prompt);
    if (steps.length === 0) await playChore(turn);
    for (const play of steps) {
      turn.check();
      await play(turn);
    }
    turn.check();
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    return { stopReason: "cancelled" };
  }
  return turn.end();
}
