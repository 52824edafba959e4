/**
 * What the daemon left for a person to read (a restored journal), after whatever they asked for. Every command says it until one has
 * said it on a terminal; what a program reads (`--json`, a pipe, an agent's own commands) must not be the only one to hear it. `status` counts as seen wherever it goes: it says the same at length.
 */
import { readFileSync, rmSync } from "node:fs";
import { color } from "./color.ts";
import { plain } from "./plain.ts";

export function showNotice(path: string, options: { seen: boolean }): void {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").trimEnd().split("\n");
    if ((options.seen || process.stderr.isTTY) && process.env.HOLDFAST_SESSION === undefined) rmSync(path);
  } catch {
    // Another command was faster.
    return;
  }
  const [first = "", ...more] = lines.map(plain);
  process.stderr.write(`${[`${color("yellow", "holdfast:", process.stderr)} ${first}`, ...more.map((line) => `  ${line}`)].join("\n")}\n`);
}
