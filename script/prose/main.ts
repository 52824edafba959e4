/**
 * The prose check: fails when a file breaks a rule more often than prose-baseline.json allows. `--update` lowers the baseline to the
 * remaining violations; `--all [FILE…]` lists all violations, including those that the baseline allows.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { above, type Counts, lowered, total } from "./baseline.ts";
import { checkProse, countsOf, lineOf } from "./check.ts";

const root = path.join(import.meta.dirname, "../..");
const file = path.join(root, "script/prose-baseline.json");
const { values, positionals } = parseArgs({
  options: { all: { type: "boolean" }, update: { type: "boolean" } },
  allowPositionals: true,
});

const { violations, read } = checkProse(root);
const found = countsOf(violations);
const baseline: Counts = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};

for (const [kind, count] of Object.entries(read)) if (count === 0) fail(`no sentence was read from ${kind}: the check sees nothing`);
if (values.all) {
  const wanted = violations.filter((each) => positionals.length === 0 || positionals.includes(each.file));
  for (const violation of wanted) console.log(lineOf(violation));
}
if (values.update)
  writeFileSync(
    file,
    `${JSON.stringify(
      lowered(baseline, found, (name) => existsSync(path.join(root, name))),
      null,
      2,
    )}\n`,
  );

const allowed: Counts = values.update ? JSON.parse(readFileSync(file, "utf8")) : baseline;
const broken = above(found, allowed);
for (const { file: name, rule, allowed: most } of broken) {
  const those = violations.filter((each) => each.file === name && each.rule.name === rule);
  fail(`${name}: ${rule}: ${those.length} found, ${most} allowed\n${those.map(lineOf).join("\n")}\n`);
}
const fewer = total(allowed) - total(found);
if (broken.length === 0 && fewer > 0) console.log(`${fewer} fewer than the baseline allows; lower it: npm run prose -- --update`);
console.log(`${read.markdown + read.source} sentences read, ${total(found)} break a rule, ${total(allowed)} allowed`);

function fail(message: string): void {
  console.log(message);
  process.exitCode = 1;
}
