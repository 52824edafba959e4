/**
 * npm run accuracy: compares the status that Holdfast reports for real agents with the true one; arguments go to
 * tests/accuracy/main.ts.
 */
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";

try {
  await ensureBuilt();
  process.exitCode = await run(node, [path.join(root, "tests/accuracy/main.ts"), ...process.argv.slice(2)], { env: cleanEnvironment() });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
