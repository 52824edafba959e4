import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ASKED, areaFiles, areaTests, NOT_MEASURED } from "./coverage-area.mjs";
import { linesOf, verdict } from "./coverage-lines.mjs";

const root = join(import.meta.dirname, "..");

/** Selects files of the area by name, independent of the script's own patterns. */
const OF_THE_AREA =
  /^(packages\/(holder\/src\/(conversation|agents)|daemon\/src\/(conversation|usage|persona|task)|cli\/src\/(repl|task|commands\/(personas|task)))\/|agents\/src\/acp\/)/;
const SINGLE = [
  "packages/contract/src/conversation/transcript.ts",
  "packages/contract/src/conversation/holder.ts",
  "packages/contract/src/usage/spent.ts",
  "packages/daemon/src/projection/usage.ts",
  "packages/daemon/src/record/transcript.ts",
  "packages/cli/src/commands/chat.ts",
  "packages/cli/src/commands/cancel.ts",
  "packages/cli/src/transcript/follow-entries.ts",
  "packages/cli/src/transcript/text.ts",
];

test("every file of the area is measured or excluded with a reason, and CI requires 95 % of its lines (TURN-12 conversations)", () => {
  const ours = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "packages", "agents"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => OF_THE_AREA.test(file) && file.endsWith(".ts") && !file.endsWith(".test.ts") && existsSync(join(root, file)));
  expect(ours.length).toBeGreaterThan(100);
  expect(areaFiles()).toEqual(expect.arrayContaining(SINGLE));
  expect([...areaFiles(), ...Object.keys(NOT_MEASURED)]).toEqual(expect.arrayContaining(ours));
  for (const file of [...Object.keys(NOT_MEASURED), ...areaTests()]) expect(existsSync(join(root, file)), file).toBe(true);

  expect(ASKED).toBe(95);
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(/^npm run --silent coverage$/m);
  expect(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts.coverage).toBe("node script/coverage.mjs");
});

test("less than 95 % fails, however it is rounded, and the worst files are named", () => {
  const few = verdict([count("a.ts", 9499, 10_000), count("b.ts", 0, 0)]);
  expect(few).toEqual({ isEnough: false, lines: ["coverage: 94.9 % of lines (95 % asked for)"] });
  const enough = verdict([count("good.ts", 99, 100), count("bad.ts", 1, 2), count("worse.ts", 0, 1)]);
  expect(enough.isEnough).toBe(true);
  expect(enough.lines.map((line) => line.trim().replace(/ +/g, " "))).toEqual([
    "0.0 % 0/1 worse.ts",
    "50.0 % 1/2 bad.ts",
    "coverage: 97.0 % of lines (95 % asked for)",
  ]);
  expect(() => verdict([count("types.ts", 0, 0)])).toThrow("no line was measured");
});

test("a line counts as run if one of its statements ran, in a test or in a process that a test started", () => {
  const place = mkdtempSync(join(tmpdir(), "holdfast-coverage-"));
  try {
    const source =
      "type Word = string;\nexport const ran: Word = f();\nfunction f(): Word {\n  return 'f';\n}\nexport function g(): Word {\n  return 'g';\n}\n";
    writeFileSync(join(place, "a.ts"), source);
    mkdirSync(join(place, "processes"));
    const env = { PATH: process.env.PATH, NODE_V8_COVERAGE: join(place, "processes") };
    execFileSync(process.execPath, [join(place, "a.ts")], { env });
    const statementMap = { 0: at(2), 1: at(4, 2), 2: at(7, 2), 3: at(7, 9), 4: at(8) };
    const of = (s: object) =>
      linesOf({
        measured: { [join(place, "a.ts")]: { statementMap, s } },
        processes: join(place, "processes"),
        root: place,
        files: ["a.ts"],
      });
    expect(of({ 0: 0, 1: 0, 2: 0, 3: 0, 4: 1 })).toEqual([{ file: "a.ts", total: 4, covered: 3, missing: [7] }]);
    expect(of({ 0: 0, 1: 0, 2: 0, 3: 1, 4: 0 })).toMatchObject([{ covered: 3, missing: [8] }]);
    expect(linesOf({ measured: {}, processes: join(place, "none"), root: place, files: ["a.ts"] })).toMatchObject([{ total: 0 }]);
  } finally {
    rmSync(place, { recursive: true });
  }
});

function count(file: string, covered: number, total: number) {
  return { file, covered, total, missing: [] };
}

function at(line: number, column = 0) {
  return { start: { line, column }, end: { line, column: column + 1 } };
}
