/** `npm run bench`: runs benchmarks one after the other, prints a table, writes JSON; `--write` also rewrites docs/BENCHMARKS.md. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { accuracy } from "./accuracy.ts";
import { append } from "./append.ts";
import { attachEcho } from "./attach-echo.ts";
import { attachOverSsh } from "./attach-over-ssh.ts";
import { backup } from "./backup.ts";
import { chatStart } from "./chat.ts";
import { conversationHolder, firstToken, updates } from "./conversation.ts";
import { digest } from "./digest.ts";
import { flood } from "./flood.ts";
import { groupMessages } from "./group-messages.ts";
import type { Benchmark, Scale } from "./harness.ts";
import { holder } from "./holder.ts";
import { idle } from "./idle.ts";
import { lsCpu } from "./ls-cpu.ts";
import { describeMachine, load } from "./machine.ts";
import { mcpCall, mcpStart } from "./mcp.ts";
import { redrawing, spinning } from "./redraw.ts";
import { markdown, type Result, textTable } from "./report.ts";
import { restart } from "./restart.ts";
import { restartEnded } from "./restart-ended.ts";
import { restore } from "./restore.ts";
import { closeAll } from "./rig/left-over.ts";
import { query, sdkConnect } from "./sdk.ts";
import { signal } from "./signal.ts";
import { spawn } from "./spawn.ts";
import { hookToStatus, screenToStatus } from "./status.ts";
import { stop } from "./stop.ts";
import { workspaces } from "./workspaces.ts";

const BENCHMARKS: readonly Benchmark[] = [
  attachEcho,
  attachOverSsh,
  lsCpu,
  spawn,
  idle,
  redrawing,
  spinning,
  append,
  flood,
  holder,
  restart,
  restartEnded,
  restore,
  digest,
  signal,
  hookToStatus,
  screenToStatus,
  stop,
  backup,
  accuracy,
  workspaces,
  firstToken,
  updates,
  conversationHolder,
  chatStart,
  groupMessages,
  mcpCall,
  mcpStart,
  query,
  sdkConnect,
];

const { values: options } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string" },
    from: { type: "string" },
    list: { type: "boolean" },
    quick: { type: "boolean", default: false },
    write: { type: "boolean" },
  },
});

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => closeAll().finally(() => process.exit(code)));
}

if (options.list) {
  for (const { name, measures, budget } of BENCHMARKS) console.log(`${name}\n  ${measures}\n  budget: ${budget}\n`);
} else {
  const result = options.from === undefined ? await runAll(chosen(options.only)) : await again(options.from, options.only);
  console.log(textTable(result));
  if (options.from === undefined) console.log(`\n${Math.round(result.seconds)} s; written to ${keep(result)}`);
  if (options.write) writeFileSync(path.join(import.meta.dirname, "../docs/BENCHMARKS.md"), markdown(result));
  if (result.benchmarks.some(({ failed }) => failed !== undefined)) process.exitCode = 1;
}

async function runAll(benchmarks: readonly Benchmark[]): Promise<Result> {
  const began = performance.now();
  const before = load();
  const machine = describeMachine();
  if (before > machine.cores / 4) console.error(`the load average is ${before}: something else runs, and the numbers will be worse for it`);
  const results: Result["benchmarks"] = [];
  for (const benchmark of benchmarks) results.push(await runOne(benchmark));
  return {
    at: new Date().toISOString(),
    quick: options.quick,
    seconds: (performance.now() - began) / 1000,
    load: { before, after: load() },
    machine,
    benchmarks: results,
  };
}

/** An earlier run, in which these benchmarks are replaced. */
async function again(file: string, only: readonly string[] | undefined): Promise<Result> {
  const earlier = JSON.parse(readFileSync(file, "utf8")) as Result;
  if (!only) return earlier;
  const benchmarks = new Map(earlier.benchmarks.map((benchmark) => [benchmark.name, benchmark]));
  for (const benchmark of chosen(only)) benchmarks.set(benchmark.name, await runOne(benchmark));
  return { ...earlier, benchmarks: [...benchmarks.values()], anew: chosen(only).map(({ name }) => name) };
}

async function runOne({ run, table, ...benchmark }: Benchmark): Promise<Result["benchmarks"][number]> {
  const began = performance.now();
  process.stderr.write(`${benchmark.name} …`);
  try {
    return { ...benchmark, rows: await run(scale()), ...(table ? { table: table() } : {}) };
  } catch (error) {
    console.error(error);
    return { ...benchmark, rows: [], failed: error instanceof Error ? error.message : String(error) };
  } finally {
    process.stderr.write(` ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  }
}

function scale(): Scale {
  const asked = options.rounds === undefined ? undefined : Math.max(1, Number.parseInt(options.rounds, 10));
  return {
    quick: options.quick,
    rounds: (usual) => asked ?? (options.quick ? Math.ceil(usual / 3) : usual),
    samples: (usual) => (options.quick ? Math.ceil(usual / 2) : usual),
  };
}

function chosen(only: readonly string[] | undefined): readonly Benchmark[] {
  if (!only) return BENCHMARKS;
  return only
    .flatMap((names) => names.split(","))
    .map((name) => {
      const found = BENCHMARKS.find((benchmark) => benchmark.name === name);
      if (!found) throw new Error(`there is no benchmark ${name}; there are ${BENCHMARKS.map((benchmark) => benchmark.name).join(", ")}`);
      return found;
    });
}

function keep(result: Result): string {
  const file = path.join("bench/results", `${result.at.slice(0, 19).replaceAll(":", "")}.json`);
  const whole = path.join(import.meta.dirname, "..", file);
  mkdirSync(path.dirname(whole), { recursive: true });
  writeFileSync(whole, `${JSON.stringify(result, null, 1)}\n`);
  return file;
}
