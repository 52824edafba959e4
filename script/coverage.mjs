/**
 * npm run coverage: runs the tests of conversations and fails when they cover too few lines. Lists the worst files; `--lines` lists the
 * uncovered lines of every file.
 */
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { areaFiles, areaTests } from "./coverage-area.mjs";
import { linesOf, PROCESSES, verdict } from "./coverage-lines.mjs";
import { root, say } from "./root.mjs";
import { cleanEnvironment, run } from "./run.mjs";
import { ensureBuilt, node } from "./setup.mjs";

try {
  await ensureBuilt();
  // The area uses globs of Node 22, and npm may have started an older Node.
  const isOurs = fs.realpathSync(process.execPath) === fs.realpathSync(node);
  process.exitCode = isOurs ? await measure() : await run(node, process.argv.slice(1));
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

async function measure() {
  const reports = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-coverage-"));
  const processes = path.join(reports, "processes");
  const files = areaFiles();
  try {
    const options = [
      // A busy machine may fail a test once. The retry is reported, and a second failure counts.
      "--retry=1",
      "--coverage.enabled",
      "--coverage.provider=v8",
      "--coverage.reporter=json",
      "--coverage.reportOnFailure",
      `--coverage.reportsDirectory=${path.join(reports, "report")}`,
      ...files.map((file) => `--coverage.include=${file}`),
    ];
    const vitest = path.join(root, "node_modules/vitest/vitest.mjs");
    const env = { ...cleanEnvironment(), [PROCESSES]: processes };
    const code = await run(node, [vitest, "run", ...options, ...areaTests()], { env });
    const measured = JSON.parse(fs.readFileSync(path.join(reports, "report/coverage-final.json"), "utf8"));
    const { lines, isEnough } = verdict(linesOf({ measured, processes, root, files }), process.argv.includes("--lines"));
    for (const line of lines) console.log(line);
    return code || (isEnough ? 0 : 1);
  } finally {
    fs.rmSync(reports, { recursive: true, force: true });
  }
}
