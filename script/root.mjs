import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Whether `module` (its import.meta.url) is the main program. */
export function isMain(module) {
  return process.argv[1] !== undefined && fileURLToPath(module) === fs.realpathSync(process.argv[1]);
}

export function say(line) {
  process.stderr.write(`holdfast: ${line}\n`);
}
