/** npm run model: the scripted model on 127.0.0.1, in the foreground; arguments go to agents/src/model.ts. */
import path from "node:path";
import { root, say } from "./root.mjs";
import { run } from "./run.mjs";
import { ensure, node } from "./setup.mjs";

try {
  await ensure();
  process.exitCode = await run(node, [path.join(root, "agents/src/model.ts"), ...process.argv.slice(2)]);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}
