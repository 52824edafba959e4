/**
 * Prints the daemon's notice for a person (such as a restored journal) after the command's own output. Every command prints it until one has
 * done so on a terminal: a program (`--json`, a pipe, an agent's commands) must not be its only reader. `status` always counts as read, because
 * it prints the same in detail.
 */
import { readFileSync, rmSync } from "node:fs";
import { color } from "../text/color.ts";
import { plain } from "../text/plain.ts";

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
