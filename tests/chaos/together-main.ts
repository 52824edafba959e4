/**
 * `npm run chaos:together [-- --members 64] [--keys 1000] [--messages 10000]`: a group shares values and messages while the daemon is killed at
 * random times.
 */
import { parseArgs } from "node:util";
import { together } from "./together.ts";

const options = {
  members: { type: "string", default: "64" },
  conversations: { type: "string", default: "4" },
  keys: { type: "string", default: "1000" },
  messages: { type: "string", default: "10000" },
} as const;
const { values } = parseArgs({ options });
const [members, conversations, keys, messages] = [values.members, values.conversations, values.keys, values.messages].map(Number) as [
  number,
  number,
  number,
  number,
];
const outcome = await together({
  members,
  conversations,
  keys,
  messages,
  random: Math.random,
  killMs: [200, 5000],
  onProgress: (sent, read, kills) => process.stderr.write(`\r${sent} of ${messages} said, ${read} read, ${kills} kills `),
});
process.stderr.write("\n");
process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`);
process.exitCode = outcome.wrong.length === 0 && outcome.sent === messages ? 0 : 1;
