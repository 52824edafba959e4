/** The files with an agent's version: the one for tests to install, and the one by which the daemon recognizes a newer agent. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

export const VERSION_FILES = ["tests/real/versions.json", "packages/daemon/src/agent/recorded.ts"];

/** Writes another version of the agent into both files. */
export function writeVersion(root: string, { agent, before, version }: { agent: string; before: string; version: string }): void {
  const isIts = new RegExp(`^\\s*"?${agent}"?:`);
  for (const file of VERSION_FILES.map((name) => path.join(root, name))) {
    const lines = readFileSync(file, "utf8").split("\n");
    const changed = lines.map((line) => (isIts.test(line) ? line.replace(`"${before}"`, `"${version}"`) : line));
    writeFileSync(file, changed.join("\n"));
  }
}
