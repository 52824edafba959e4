/**
 * `npm run chaos [-- --histories 50] [--longest 40] [--seed N] [--out FILE]`: prints the injected faults. The full run, without arguments, writes
 * docs/CHAOS.md; a shortened or repeated run writes only to `--out`.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { histories } from "./history.ts";
import { fileFor, page } from "./page.ts";

const { values } = parseArgs({
  options: {
    histories: { type: "string" },
    longest: { type: "string" },
    seed: { type: "string" },
    out: { type: "string" },
  },
});
const [count, longest] = [Number(values.histories ?? 50), Number(values.longest ?? 40)];
const out = fileFor(values);
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
  if (out !== undefined) writeFileSync(out, text);
}
