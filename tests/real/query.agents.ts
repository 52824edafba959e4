/** query() with real agents: an answer, and a cancellation during an answer that leaves no process and no request at the model. */
import { AbortError } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually } from "../home.ts";
import { environmentOf } from "../proc.ts";
import { RealWorld } from "./world.ts";

test.each(["qwen", "gemini", "opencode"] as const)("%s answers a query, and a cancelled query leaves nothing", async (agent) => {
  await using world = await RealWorld.open();
  const { env, project } = await world.agent(agent);
  using holdfast = world.home.sdk();
  const ask = (prompt: string, signal?: AbortSignal) => holdfast.query({ agent, prompt, cwd: project, env, ...(signal ? { signal } : {}) });
  const { text, stopReason } = await ask("say the tide is high").result;
  expect({ text, stopReason }).toEqual({ text: expect.stringContaining("the tide is high"), stopReason: "completed" });

  const over = new AbortController();
  const asked = ask("say begun; talk 100s", over.signal);
  for await (const event of asked) {
    if (event.type !== "text") continue;
    over.abort("enough");
    break;
  }
  await expect(asked.result).rejects.toBeInstanceOf(AbortError);
  expect(await holdfast.sessions.list({ all: true })).toEqual([]);
  expect(world.home.processes().filter(({ pid }) => environmentOf(pid).HOLDFAST_RUN !== undefined)).toEqual([]);
  await eventually(async () => (await world.model.asked()).every(({ state }) => state !== "open"));
});
