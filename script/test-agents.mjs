/** npm run test:agents: the five real agents on the scripted model. Arguments (file filters, vitest options) select a part. */
import path from "node:path";
import { AGENTS, installAgent } from "./real-agents.mjs";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";

try {
  await ensureBuilt();
  for (const agent of Object.keys(AGENTS)) await installAgent(agent);
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const part = process.argv.slice(2);
  const env = { ...cleanEnvironment(), TEST_AGENTS: "all", ...(part.length === 0 ? { TEST_PROOFS: "check" } : {}) };
  process.exitCode = await run(node, [vitest, "run", "--project", "agents", ...part], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
