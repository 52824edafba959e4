/**
 * Suites of whole-product tests that take minutes and are not part of `npm test`; vitest.config.ts lists the files of each. Arguments
 * after the suite names (file filters, vitest options) select a part, without the requirements check.
 *
 *   npm run test:suites   all five in parallel
 *   npm run test:documentation   every shell block of README and guides, in bash and zsh
 *   npm run test:faults   damaged files, full disks, clock changes, upgrades under load, bad input
 *   npm run test:places   worktrees, other users, other machines, restores
 *   npm run test:terminals   attaching, typing, reading recordings, tmux itself
 *   npm run test:together   groups, messages between sessions, MCP tools, the SDK and its examples
 */
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";
import { ensureProgram } from "./system.mjs";

const SUITES = ["documentation", "faults", "places", "terminals", "together"];
const words = process.argv.slice(2);
const end = words.findIndex((word) => !SUITES.includes(word));
const suites = end === -1 ? words : words.slice(0, end);
const part = words.slice(suites.length);

try {
  await ensureBuilt();
  ensureProgram("faketime");
  ensureProgram("sshd", "openssh-server");
  ensureProgram("ssh", "openssh-client");
  // The shell in which README and guides run too.
  if (suites.includes("documentation")) ensureProgram("zsh");
  // The SDK also runs in a real browser.
  if (suites.includes("together")) ensureProgram("chromium");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...cleanEnvironment(), TEST_SUITES: suites.join(","), ...(part.length === 0 ? { TEST_PROOFS: "check" } : {}) };
  process.exitCode = await run(node, [vitest, "run", ...suites.flatMap((suite) => ["--project", suite]), ...part], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
