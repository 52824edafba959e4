// Starts the scripted model by hand: `npm run model -- --port 8088`. agents/README.md describes the prompts.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { startModel } from "./model/server.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    socket: { type: "string" },
    /** A JSON file with prompts and the script that answers each. */
    plays: { type: "string" },
    /** End with standard input, because the starter may be killed. */
    attended: { type: "boolean", default: false },
  },
});
const plays = values.plays === undefined ? undefined : JSON.parse(readFileSync(values.plays, "utf8"));
const model = await startModel({ port: Number(values.port), socket: values.socket, plays });
console.log(model.url);
if (values.attended) process.stdin.resume().once("end", () => process.exit(0));
