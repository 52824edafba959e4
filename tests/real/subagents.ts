/** Checks that a subagent neither ends a turn of its parent nor answers a message to it, and that a turn that nobody prompted answers none. */
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Message } from "@holdfast/contract";
import { expect } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { becomes, statuses } from "./watching.ts";
import { RealWorld } from "./world.ts";

const PATIENCE_MS = 100_000;

/** Agents that can leave a subagent running, and those that wait for it. */
export const BACKGROUND = ["claude", "qwen"] as const satisfies readonly AgentName[];
export const FOREGROUND = ["claude", "codex", "opencode", "qwen"] as const satisfies readonly AgentName[];

interface Child {
  prompt: string;
  background: boolean;
}

/** The step that starts a subagent. A line break in its prompt is written as in JSON: the script of the parent has one line. */
const STARTS: Record<(typeof FOREGROUND)[number], (child: Child) => string> = {
  claude: ({ prompt, background }) =>
    `tool Agent {"description":"Look","prompt":"${prompt}","subagent_type":"general-purpose","run_in_background":${background}}`,
  codex: ({ prompt }) => `tool spawn_agent {"message":"${prompt}"}`,
  opencode: ({ prompt }) => `tool task {"description":"Look","prompt":"${prompt}","subagent_type":"general"}`,
  qwen: ({ prompt, background }) =>
    `tool agent {"description":"Look","prompt":"${prompt}","subagent_type":"general-purpose","run_in_background":${background}}`,
};

/** While a subagent works for the running turn, the turn goes on; its answer is the parent's own. */
export async function waitsForItsSubagent(agent: (typeof FOREGROUND)[number]): Promise<void> {
  await using world = await RealWorld.open();
  await spawn(world, agent, { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" });
  const start = STARTS[agent]({ prompt: "talk 1s\\nsay from the child", background: false });
  const first = await send(world, agent, `${start}; talk 1s; say from the parent`);
  const { conversation } = await becomes(world, agent, "working");
  await ended(world, "say from the child");
  expect(await ends(world, agent, first)).toMatchObject({ state: "replied", reply: expect.stringMatching(/from the parent$/) });
  const second = await send(world, agent, "say the next");
  expect(await ends(world, agent, second)).toMatchObject({ state: "replied", reply: expect.stringMatching(/^\s*the next\s*$/) });
  expect(await becomes(world, agent, "idle")).toMatchObject({ turns: 2, conversation });
  expect(await statuses(world, agent)).toEqual(["working", "idle", "working", "idle"]);
}

/** When a subagent in the background ends, the agent begins a turn that nobody prompted: its answer is no message's. */
export async function answersOnlyWhatItWasAsked(agent: (typeof BACKGROUND)[number]): Promise<void> {
  await using world = await RealWorld.open();
  await spawn(world, agent);
  const starts = async (file: string) => {
    const start = STARTS[agent]({ prompt: `until ${file}\\nsay from the child`, background: true });
    const launched = await ends(world, agent, await send(world, agent, `${start}; say launched`));
    expect(launched).toMatchObject({ state: "replied", reply: expect.stringMatching(/launched$/) });
    await becomes(world, agent, ({ status, background }) => status === "idle" && background === true);
  };
  const is = (message: Message, words: string) =>
    expect({ ...message, reply: message.reply?.trim() }).toMatchObject({ state: "replied", reply: words });
  const [first, second, go] = ["first", "second", "go"].map((name) => path.join(world.home.root, name)) as [string, string, string];

  // The message is typed while the agent begins a turn of its own.
  await starts(first);
  writeFileSync(first, "");
  is(await ends(world, agent, await send(world, agent, "say right after the child")), "right after the child");
  await becomes(world, agent, ({ status, background }) => status === "idle" && background !== true);

  // The subagent ends during the turn of a message, which another message steers.
  await starts(second);
  const long = await send(world, agent, `say so far; until ${go}; say and over`);
  await becomes(world, agent, "working");
  const steered = await send(world, agent, "say steered", "--steer");
  writeFileSync(second, "");
  await ended(world, "say from the child", 2);
  writeFileSync(go, "");
  // Qwen takes the steering message into the same turn, which has one answer.
  is(await ends(world, agent, long), agent === "qwen" ? "steered" : "so far and over");
  is(await ends(world, agent, steered), "steered");
  is(await ends(world, agent, await send(world, agent, "say the last")), "the last");
  expect(await becomes(world, agent, "idle")).toMatchObject({ background: false });
}

async function spawn(world: RealWorld, agent: AgentName, more: Record<string, string> = {}): Promise<void> {
  const { env, project } = await world.agent(agent);
  const args = agent === "qwen" ? ["--", "--yolo"] : [];
  await world.home.ok(["spawn", agent, "--name", agent, ...args], { cwd: project, env: { ...env, ...more } });
  await becomes(world, agent, "idle");
}

function send(world: RealWorld, agent: AgentName, text: string, ...flags: string[]): Promise<Message> {
  return world.home.json<Message>(["send", agent, ...flags, "--", text]);
}

async function ends(world: RealWorld, agent: AgentName, { id }: Message): Promise<Message> {
  const find = async () => (await world.home.json<Message[]>(["messages", agent])).find((message) => message.id === id);
  return eventually(
    async () => {
      const message = await find();
      return message?.endedAt != null && message;
    },
    PATIENCE_MS,
    200,
  ).catch(async () => {
    const { lines } = await world.screen(agent);
    throw new Error(`${JSON.stringify(await find())} never ended; ${agent} shows:\n${lines.join("\n")}`);
  });
}

/** Waits until the model has answered this prompt that often. */
async function ended(world: RealWorld, prompt: string, times = 1): Promise<void> {
  const answered = async () => (await world.model.asked()).filter((asked) => asked.prompt.includes(prompt) && asked.state === "ended");
  // The parent's prompt contains the child's; only the child's begins with another step.
  await eventually(
    async () => (await answered()).filter(({ prompt: asked }) => !asked.startsWith("tool ")).length >= times,
    PATIENCE_MS,
    100,
  );
}
