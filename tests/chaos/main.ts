/** `npm run chaos [-- --histories 50] [--longest 40] [--seed N] [--write]`: prints which faults were brought about; `--write` rewrites docs/CHAOS.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { ROOT } from "../home.ts";
import { histories } from "./history.ts";
import { page } from "./page.ts";

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "50" },
    longest: { type: "string", default: "40" },
    seed: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const [count, longest] = [Number(values.histories), Number(values.longest)];
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const faults = new Map<string, number>();
const began = performance.now();
let done = 0;
process.stderr.write(`${count} histories of up to ${longest} steps, seed ${seed}\n`);
const property = histories({
  longest,
  faults,
  onStep: () => process.stderr.write(`\r${++done} of ${count}, ${Math.round((performance.now() - began) / 1000)} s `),
});
const result = await fc.check(property, { numRuns: count, seed });
process.stderr.write("\n");
if (result.failed) {
  process.stdout.write(`${fc.defaultReportMessage(result)}\n${result.errorInstance instanceof Error ? result.errorInstance.stack : ""}\n`);
  process.exitCode = 1;
} else {
  const text = page({ faults, count, longest, seed, seconds: Math.round((performance.now() - began) / 1000) });
  process.stdout.write(text);
  if (values.write) writeFileSync(join(ROOT, "docs/CHAOS.md"), text);
}
