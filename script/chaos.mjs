/**
 * npm run chaos: random operations and faults, checked against a model; arguments go to tests/chaos/main.ts. chaos:delivery: messages to
 * agents while the daemon is killed at random (tests/chaos/delivery-main.ts). chaos:together: the same for group messages and shared
 * values. chaos:agents: messages to real agents, with Esc, drafts and approvals.
 */
import path from "node:path";
import { AGENTS, installAgent } from "./real-agents.mjs";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";

const [first, ...rest] = process.argv.slice(2);
const [program, args] = ["agents", "delivery", "together"].includes(first)
  ? [`${first}-main.ts`, rest]
  : ["main.ts", process.argv.slice(2)];

try {
  await ensureBuilt();
  if (first === "agents") for (const agent of Object.keys(AGENTS)) await installAgent(agent);
  process.exitCode = await run(node, [path.join(root, "tests/chaos", program), ...args], { env: cleanEnvironment() });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
