// The scripted model by hand: `npm run model -- --port 8088`. What a prompt may say is in agents/README.md.

import { parseArgs } from "node:util";
import { startModel } from "./model/server.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    socket: { type: "string" },
    /** Ends with its standard input: whoever started it may be killed. */
    attended: { type: "boolean", default: false },
  },
});
const model = await startModel({ port: Number(values.port), socket: values.socket });
console.log(model.url);
if (values.attended) process.stdin.resume().once("end", () => process.exit(0));
