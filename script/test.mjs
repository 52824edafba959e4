/**
 * npm test: everything but what takes minutes (test:faults, test:agents). With arguments (file filters, vitest options) a part, without the check of the requirements.
 */
import path from "node:path";
import { installAgent } from "./real-agents.mjs";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";
import { ensureProgram } from "./system.mjs";

const filters = process.argv.slice(2);
const env = { ...cleanEnvironment(), ...(filters.length === 0 ? { TEST_PROOFS: "check" } : {}) };

try {
  await ensureBuilt();
  // A login over the network that ends, or breaks, is tested with the real thing.
  ensureProgram("sshd", "openssh-server");
  ensureProgram("ssh", "openssh-client");
  ensureProgram("faketime");
  ensureProgram("systemd-run", "systemd");
  // The two smallest of the real agents; the others are in `npm run test:agents`.
  for (const agent of ["qwen", "gemini"]) await installAgent(agent);
  process.exitCode = await run(node, [path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...filters], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
