/**
 * Finds the lines that were run: in the test processes, from the test runner; in processes that tests started, from Node
 * (NODE_V8_COVERAGE). Node strips types without moving code, so positions match the source.
 */
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ASKED } from "./coverage-area.mjs";

/** Files below this percentage are listed. */
const NAMED_BELOW = 90;

/** The NODE_V8_COVERAGE directory that tests pass to processes they start. */
export const PROCESSES = "HOLDFAST_TEST_COVERAGE";

/** Runnable lines and covered lines by file, relative to `root`. `measured` is an istanbul coverage map. */
export function linesOf({ measured, processes, root, files }) {
  const ran = rangesOf(processes);
  return files.map((file) => {
    const absolute = path.join(root, file);
    const { statementMap = {}, s = {} } = measured[absolute] ?? {};
    const elsewhere = ran.get(pathToFileURL(absolute).href) ?? [];
    const begins = elsewhere.length === 0 ? [] : lineBegins(fs.readFileSync(absolute, "utf8"));
    const lines = new Map();
    for (const [id, { start }] of Object.entries(statementMap)) {
      const isRun = s[id] > 0 || elsewhere.some((ranges) => countAt(ranges, begins[start.line - 1] + start.column) > 0);
      lines.set(start.line, isRun || lines.get(start.line) === true);
    }
    const missing = [...lines].filter(([, isRun]) => !isRun).map(([line]) => line);
    return { file, total: lines.size, covered: lines.size - missing.length, missing: missing.sort((a, b) => a - b) };
  });
}

/** The ranges of each process, by file URL. */
function rangesOf(directory) {
  const found = new Map();
  for (const name of fs.existsSync(directory) ? fs.readdirSync(directory) : []) {
    for (const { url, functions } of JSON.parse(fs.readFileSync(path.join(directory, name), "utf8")).result) {
      found.set(url, [...(found.get(url) ?? []), functions.flatMap(({ ranges }) => ranges)]);
    }
  }
  return found;
}

/** The innermost of nested ranges decides. */
function countAt(ranges, offset) {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset);
  const [inner] = around.sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
  return inner?.count ?? 0;
}

function lineBegins(text) {
  const begins = [0];
  for (let newline = text.indexOf("\n"); newline !== -1; newline = text.indexOf("\n", newline + 1)) begins.push(newline + 1);
  return begins;
}

/** A table of the worst files, and the total. */
export function verdict(counts, allLines = false) {
  const sum = (of) => counts.reduce((before, each) => before + each[of], 0);
  if (sum("total") === 0) throw new Error("no line was measured");
  const total = percent({ covered: sum("covered"), total: sum("total") });
  const named = counts.filter((each) => (allLines ? each.missing.length > 0 : percent(each) < NAMED_BELOW));
  const table = named
    .sort((a, b) => percent(a) - percent(b))
    .map((each) => {
      const which = allLines ? `  lines ${each.missing.join(" ")}` : "";
      return `${percent(each).toFixed(1).padStart(6)} %  ${`${each.covered}/${each.total}`.padStart(7)}  ${each.file}${which}`;
    });
  return { lines: [...table, `coverage: ${rounded(total)} % of lines (${ASKED} % asked for)`], isEnough: total >= ASKED };
}

/** A file that holds only types has no line to run. */
function percent({ covered, total }) {
  return total === 0 ? 100 : (covered / total) * 100;
}

/** Rounded down, so that the target never looks reached when it is not. */
function rounded(number) {
  return (Math.floor(number * 10) / 10).toFixed(1);
}
