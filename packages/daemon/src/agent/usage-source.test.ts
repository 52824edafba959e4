import { appendFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Memory } from "./line-memory.ts";
import { type Call, count, less, usageInLines } from "./usage-source.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-usage-"));
  file = join(directory, "a.jsonl");
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

const OF = { conversation: "c", cwd: "/", env: {} };

function call(entry: unknown, memory: Memory): Call | undefined {
  const line = (entry ?? {}) as { id?: string; out?: number | null; at?: string; model?: string };
  if (line.model !== undefined) memory.model = line.model;
  if (line.id === undefined) return undefined;
  const known = { input: 1, output: line.out ?? null, cacheRead: 0, cacheWrite: 0, cost: null, context: null };
  return { id: line.id, at: line.at ?? null, model: memory.model ?? null, ...known };
}

const source = usageInLines({ files: () => [file], call });

function append(...lines: unknown[]): void {
  appendFileSync(file, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
}

const outputs = (calls: readonly Call[]) => calls.map(({ id, output }) => `${id} ${output}`);

test("each reading continues where the last one ended", () => {
  expect(source.places(OF)).toEqual([file]);
  expect(source.read(file, undefined, OF).calls).toEqual([]);
  append({ id: "a", out: 1 }, "no JSON", { other: 1 }, "");
  const first = source.read(file, undefined, OF);
  expect(outputs(first.calls)).toEqual(["a 1"]);
  expect(source.read(file, first.state, OF)).toEqual({ calls: [], state: first.state, more: false });
  append({ id: "b", out: 2 });
  expect(outputs(source.read(file, first.state, OF).calls)).toEqual(["b 2"]);
});

test("a half-written line is read once it is complete", () => {
  append({ id: "a", out: 1 });
  appendFileSync(file, '{"id":"b",');
  const first = source.read(file, undefined, OF);
  expect(outputs(first.calls)).toEqual(["a 1"]);
  appendFileSync(file, '"out":2}\n');
  expect(outputs(source.read(file, first.state, OF).calls)).toEqual(["b 2"]);
});

test("a repeated call counts once, plus its additional tokens", () => {
  append({ id: "a", out: 2 }, { id: "a", out: 2 }, { id: "b", out: 1 }, { id: "a", out: 7 });
  const { calls, state } = source.read(file, undefined, OF);
  expect(calls.map(({ id, input, output }) => [id, input, output])).toEqual([
    ["a", 1, 2],
    ["b", 1, 1],
    ["a", 0, 5],
  ]);
  append({ id: "a", out: 7 }, { id: "b", out: 4 }, { id: "c", out: null }, { id: "c", out: null }, { id: "c", out: 3 });
  expect(outputs(source.read(file, state, OF).calls)).toEqual(["b 3", "c null", "c 3"]);
});

test("the next reading remembers the model named before", () => {
  append({ model: "fine" });
  const { state } = source.read(file, undefined, OF);
  append({ id: "a", out: 1 });
  expect(source.read(file, state, OF).calls[0]?.model).toBe("fine");
});

test("in a file replaced by a shorter one only newer calls count", () => {
  append({ id: "a", out: 1, at: "2026-11-15T01:00:00.000Z" }, { id: "b", out: 1, at: "2026-11-15T02:00:00.000Z" }, "x".repeat(100));
  const { state } = source.read(file, undefined, OF);
  writeFileSync(file, "");
  append({ id: "b2", out: 1, at: "2026-11-15T02:00:00.000Z" }, { id: "c", out: 1, at: "2026-11-15T03:00:00.000Z" });
  expect(outputs(source.read(file, state, OF).calls)).toEqual(["c 1"]);
});

test("a large file is read in parts, and a line longer than a part is read in full", () => {
  const parts = usageInLines({ files: () => [file], call, limits: { atOnce: 64 } });
  append({ id: "a", out: 1, more: "x".repeat(5000) }, { id: "b", out: 2 }, { id: "c", out: 3 });
  const seen: string[] = [];
  let state: string | undefined;
  for (let more = true; more; ) {
    const reading = parts.read(file, state, OF);
    seen.push(...outputs(reading.calls));
    ({ state, more } = reading);
  }
  expect(seen).toEqual(["a 1", "b 2", "c 3"]);
});

test("a line longer than any call is skipped, with or without an end (mend 8)", () => {
  const parts = usageInLines({ files: () => [file], call, limits: { atOnce: 64, longest: 256 } });
  const read = (state?: string) => {
    const seen: string[] = [];
    for (let more = true; more; ) {
      const reading = parts.read(file, state, OF);
      seen.push(...outputs(reading.calls));
      ({ state, more } = reading);
    }
    return { seen, state };
  };
  append({ id: "a", out: 1 }, { id: "huge", out: 9, more: "x".repeat(5000) }, { id: "b", out: 2 });
  expect(read().seen).toEqual(["a 1", "b 2"]);
  appendFileSync(file, "x".repeat(5000));
  const { state } = read();
  expect(Number(JSON.parse(state ?? "{}").offset)).toBeGreaterThan(statSync(file).size - 257);
  appendFileSync(file, `x\n${JSON.stringify({ id: "c", out: 3 })}\n`);
  expect(read(state).seen).toEqual(["c 3"]);
});

test("the sums are correct however a file grows and is read", () => {
  const steps = fc.array(fc.array(fc.record({ id: fc.constantFrom("a", "b", "c"), out: fc.nat(20) }), { maxLength: 5 }), { maxLength: 6 });
  fc.assert(
    fc.property(steps, (all) => {
      writeFileSync(file, "");
      let state: string | undefined;
      let sum = 0;
      const most = new Map<string, number>();
      for (const lines of all) {
        append(...lines);
        for (const { id, out } of lines) most.set(id, Math.max(most.get(id) ?? 0, out));
        const reading = source.read(file, state, OF);
        ({ state } = reading);
        sum += reading.calls.reduce((total, { output }) => total + (output ?? 0), 0);
      }
      expect(sum).toBe([...most.values()].reduce((total, each) => total + each, 0));
    }),
    { numRuns: 200 },
  );
});

test("only a finite, non-negative number is a token count", () => {
  expect([count(3), count(2.6), count(0)]).toEqual([3, 3, 0]);
  expect([count(-1), count("3"), count(null), count(undefined), count(Number.NaN), count(Number.POSITIVE_INFINITY)]).toEqual(
    Array.from({ length: 6 }, () => null),
  );
  expect([less(5, 2), less(2, 5), less(null, 1), less(1, null)]).toEqual([3, 0, null, null]);
});
