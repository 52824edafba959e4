/**
 * Prints one line per file, failures in full, and a last line that scripts can read: `N passed, N failed`. After a full run
 * (TEST_PROOFS=check) a passed test must name every requirement of a landed issue. A missing requirement counts as a failure, and so does
 * an error outside any test: the last line never looks better than the exit code.
 */
import path from "node:path";
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node";
import { unproven } from "./proofs.ts";
import { LANDED, REQUIREMENTS, type Suite } from "./requirements.ts";

const SLOW_MS = { unit: 500, product: 10_000 } as const;

export default class HoldfastReporter implements Reporter {
  #vitest!: Vitest;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()];
    const took = module.diagnostic().duration;
    print(`${module.state() === "failed" ? "✗" : "✓"} ${nameOf(module)}  ${tests.length} tests  ${seconds(took)}`);
    for (const test of tests.filter((each) => each.result().state === "failed")) print(`    ✗ ${test.fullName}`);
    for (const test of tests.filter((each) => each.result().state === "passed" && each.diagnostic()?.flaky)) {
      print(`    needed a second try: ${test.fullName}`);
      for (const { message, stacks } of test.result().errors ?? []) {
        const [at] = stacks ?? [];
        print(`      ${message.slice(0, 500).replaceAll("\n", "\n      ")}${at ? `\n      at ${at.file}:${at.line}` : ""}`);
      }
    }
    for (const test of tests.filter((each) => each.result().state === "skipped")) print(`    skipped: ${test.fullName}`);
    const limit = module.project.name === "unit" ? SLOW_MS.unit : SLOW_MS.product;
    for (const test of tests.filter((each) => durationOf(each) > limit)) print(`    slow, ${seconds(durationOf(test))}: ${test.fullName}`);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === "passed");
    const failed = tests.filter((test) => test.result().state === "failed");
    const skipped = tests.length - passed.length - failed.length;

    const outside = modules.reduce((count, module) => count + this.#showSuiteErrors(module), 0);
    for (const test of failed) this.#show(`${nameOf(test.module)} > ${test.fullName}`, test.result().errors ?? [], test.project);
    if (unhandled.length > 0) this.#show("errors outside of any test", unhandled);
    if (reason === "interrupted") print("\ninterrupted: not all tests ran");

    const unprovenCount = process.env.TEST_PROOFS === "check" && reason !== "interrupted" ? showUnproven(passed) : 0;
    const failures = failed.length + outside + unhandled.length + unprovenCount;
    if (failures > 0 || reason !== "passed") process.exitCode = 1;
    print(`\n${passed.length} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  }

  /** A file that cannot be loaded, or a hook that throws, has no test to carry the error. */
  #showSuiteErrors(module: TestModule): number {
    const broken = [module, ...module.children.allSuites()].filter((each) => each.errors().length > 0);
    for (const each of broken)
      this.#show(each.type === "suite" ? `${nameOf(module)} > ${each.fullName}` : nameOf(module), each.errors(), module.project);
    return broken.length;
  }

  #show(title: string, errors: readonly SerializedError[], project = this.#vitest.getRootProject()): void {
    // The stream that printError uses, so that title and error stay together.
    this.#vitest.logger.error(`\n✗ ${title}`);
    for (const error of errors) this.#vitest.logger.printError(error, { project });
  }
}

function showUnproven(passed: readonly TestCase[]): number {
  const { missing, unknown } = unproven({
    requirements: REQUIREMENTS,
    landed: LANDED,
    passedTitles: passed.map((test) => test.name),
    ...(process.env.TEST_AGENTS === "all" ? { suites: ["agents" as const] } : {}),
    ...(process.env.TEST_SUITES ? { suites: process.env.TEST_SUITES.split(",") as Suite[] } : {}),
  });
  if (missing.length > 0) print("\nrequirements that no passed test names:");
  for (const { id, issue, text } of missing) print(`  ${id} ${issue}: ${text}`);
  if (unknown.length > 0) print(`\ntests name requirements that do not exist: ${unknown.join(", ")}`);
  return missing.length + unknown.length;
}

function nameOf(module: TestModule): string {
  return path.relative(process.cwd(), module.moduleId);
}

function durationOf(test: TestCase): number {
  return test.diagnostic()?.duration ?? 0;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
