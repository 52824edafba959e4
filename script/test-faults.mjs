/** npm run test:faults: damaged files, full disks, jumping clocks, upgrades in a flood. Arguments (file filters, vitest options) make it a part. */
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";
import { ensureProgram } from "./system.mjs";

try {
  await ensureBuilt();
  ensureProgram("faketime");
  const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
  const env = { ...cleanEnvironment(), TEST_FAULTS: "all" };
  process.exitCode = await run(node, [vitest, "run", "--project", "faults", ...process.argv.slice(2)], { env });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
