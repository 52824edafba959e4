/** npm run accuracy: what Holdfast says of the real agents, against what is so; arguments go to tests/accuracy/main.ts. */
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
