/** `npm run chaos:agents [-- --messages 1000] [--agents claude,codex] [--hosts tmux,native]`: messages to real agents that people and kills disturb. */
import { parseArgs } from "node:util";
import { HOSTS } from "@holdfast/contract";
import { AGENT_NAMES, type AgentName } from "../real/agents.ts";
import { disturb } from "./agents.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "1000" },
    agents: { type: "string", default: AGENT_NAMES.join(",") },
    hosts: { type: "string", default: HOSTS.join(",") },
  },
});
const messages = Number(values.messages);
const began = performance.now();
const outcome = await disturb({
  messages,
  agents: values.agents.split(",") as AgentName[],
  hosts: values.hosts.split(",") as (typeof HOSTS)[number][],
  random: Math.random,
  killMs: [10_000, 40_000],
  onProgress: (ended, kills) => process.stderr.write(`\r${ended} of ${messages} messages, ${kills} kills `),
});
const seconds = Math.round((performance.now() - began) / 1000);
process.stderr.write("\n");
process.stdout.write(`${JSON.stringify({ ...outcome, seconds }, null, 2)}\n`);
const { wrong, unknown, held } = outcome;
process.exitCode = wrong.length + unknown.length + held.length === 0 ? 0 : 1;
