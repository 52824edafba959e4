import type { PromptResponse } from "@agentclientprotocol/sdk/unstable";
import { playChore } from "./chore.ts";
import { type Asked, Cancelled, Turn } from "./turn.ts";
import { stepsOf } from "./words.ts";

/** Plays one turn: the prompt's script or, if it is not a script, the behaviour of a coding agent. */
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
