/** npm run prose: checks docs, help and error texts; arguments go to script/prose/main.ts. */
import path from "node:path";
import { root, say } from "./root.mjs";
import { run } from "./run.mjs";
import { ensure, node } from "./setup.mjs";

try {
  await ensure();
  process.exitCode = await run(node, [path.join(root, "script/prose/main.ts"), ...process.argv.slice(2)]);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
