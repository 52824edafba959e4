/**
 * npm run check: static checks and unit tests. Runs one step per core in parallel and prints one line per step; a failed step prints its
 * output. `--without-tests` skips the steps that `npm test` runs too.
 */
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { root, say } from "./root.mjs";
import { cleanEnvironment } from "./run.mjs";
import { ensure, ensureBuilt, node } from "./setup.mjs";

const TSC = "node_modules/typescript/bin/tsc";
const VITEST = "node_modules/vitest/vitest.mjs";

const steps = [
  { name: "types", run: () => run(TSC, "-p", ".") },
  { name: "CLI bundle", run: checkBundle },
  { name: "contract is browser-safe", run: () => run(TSC, "-p", "packages/contract") },
  {
    name: "format and lint",
    run: () => run("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "--max-diagnostics=none", "--colors=off"),
  },
  { name: "layering and canaries", run: () => run("script/layering.mjs") },
  { name: "prose", run: () => run("script/prose/main.ts") },
  { name: "generated files", run: () => run("script/openapi.mjs", "--check") },
  { name: "unit tests", run: () => run(VITEST, "run", "--project", "unit"), isTest: true },
  { name: "requirements table", run: () => run(VITEST, "run", "tests/requirements.test.ts"), isTest: true },
];

const began = performance.now();
try {
  await ensure();
  const wanted = steps.filter(({ isTest }) => !isTest || !process.argv.includes("--without-tests"));
  const failed = await runAll(wanted);
  console.log(failed === 0 ? `check passed in ${since(began)}` : `check failed: ${failed} of ${wanted.length} steps, in ${since(began)}`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

async function runAll(waiting) {
  const queue = [...waiting];
  const workers = Array.from({ length: Math.max(2, os.availableParallelism()) }, async () => {
    let failed = 0;
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) failed += await report(step);
    return failed;
  });
  return (await Promise.all(workers)).reduce((sum, failed) => sum + failed, 0);
}

async function report({ name, run }) {
  const began = performance.now();
  const { ok, output } = await run().catch((error) => ({ ok: false, output: error.message }));
  console.log(`${ok ? "✓" : "✗"} ${name}  ${since(began)}`);
  if (!ok) console.log(`${output.trimEnd()}\n`);
  return ok ? 0 : 1;
}

/** zod in the CLI would double the CPU time of every command. */
async function checkBundle() {
  await ensureBuilt();
  const { inputs } = JSON.parse(fs.readFileSync(path.join(root, "dist/meta.json"), "utf8"));
  const files = Object.keys(inputs);
  const zod = files.filter((file) => /(^|\/)node_modules\/zod\//.test(file));
  if (files.length === 0) return { ok: false, output: "dist/meta.json lists no file" };
  return { ok: zod.length === 0, output: `the CLI bundle contains zod: ${zod.join(", ")}` };
}

function run(script, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [path.join(root, script), ...args], {
      cwd: root,
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        output += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ ok: code === 0, output }));
  });
}

function since(began) {
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}
