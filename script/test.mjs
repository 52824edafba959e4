/**
 * npm test: all tests except the suites that take minutes. Arguments (file filters, vitest options) select a part, without the
 * requirements check.
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
  // Remote sessions are tested over a real ssh login.
  ensureProgram("sshd", "openssh-server");
  ensureProgram("ssh", "openssh-client");
  ensureProgram("faketime");
  ensureProgram("systemd-run", "systemd");
  // The two smallest real agents; `npm run test:agents` runs all five.
  for (const agent of ["qwen", "gemini"]) await installAgent(agent);
  process.exitCode = await run(node, [path.join(root, "node_modules/vitest/vitest.mjs"), "run", ...filters], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
