/** `npm run chaos:delivery [-- --sends 1000] [--sessions 24]`: sends messages to demo agents while the daemon is killed at random times. */
import { parseArgs } from "node:util";
import { deliver } from "./delivery.ts";

const { values } = parseArgs({ options: { sends: { type: "string", default: "1000" }, sessions: { type: "string", default: "24" } } });
const sends = Number(values.sends);
const began = performance.now();
const outcome = await deliver({
  sends,
  sessions: Number(values.sessions),
  random: Math.random,
  killMs: [50, 8000],
  onProgress: (messages, kills) => process.stderr.write(`\r${messages} of ${sends} messages, ${kills} kills `),
});
const seconds = Math.round((performance.now() - began) / 1000);
process.stderr.write("\n");
process.stdout.write(`${JSON.stringify({ ...outcome, seconds }, null, 2)}\n`);
process.exitCode = outcome.wrong.length === 0 && outcome.sends === sends ? 0 : 1;
