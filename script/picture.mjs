/** npm run picture: records a session with real agents and draws docs/images/demo.svg; arguments go to script/picture/main.ts. */
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";

try {
  await ensureBuilt();
  process.exitCode = await run(node, [path.join(root, "script/picture/main.ts"), ...process.argv.slice(2)], { env: cleanEnvironment() });
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
