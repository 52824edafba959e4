/**
 * Suites of whole-product tests that take minutes and are not in `npm test`; vitest.config.ts says which files each has. Arguments after the names of
 * suites (file filters, vitest options) make it a part, without the check of the requirements.
 *
 *   npm run test:suites   all four at once, which takes less long than one after the other
 *   npm run test:faults   damaged files, full disks, jumping clocks, upgrades in a flood, odd input
 *   npm run test:places   worktrees, other people, other machines, coming back
 *   npm run test:terminals   attaching, typing, recordings as they are read, tmux itself
 *   npm run test:together   groups, messages between sessions, tools over MCP, the SDK and its examples
 */
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";
import { ensureProgram } from "./system.mjs";

const SUITES = ["faults", "places", "terminals", "together"];
const words = process.argv.slice(2);
const end = words.findIndex((word) => !SUITES.includes(word));
const suites = end === -1 ? words : words.slice(0, end);
const part = words.slice(suites.length);

try {
  await ensureBuilt();
  ensureProgram("faketime");
  ensureProgram("sshd", "openssh-server");
  ensureProgram("ssh", "openssh-client");
  // The SDK is run in a real browser.
  if (suites.includes("together")) ensureProgram("chromium");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...cleanEnvironment(), TEST_SUITES: suites.join(","), ...(part.length === 0 ? { TEST_PROOFS: "check" } : {}) };
  process.exitCode = await run(node, [vitest, "run", ...suites.flatMap((suite) => ["--project", suite]), ...part], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
