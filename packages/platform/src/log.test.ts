import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

test("a log line that cannot be written is lost without further effect", () => {
  const log = JSON.stringify(join(import.meta.dirname, "log.ts"));
  const script = `import { log } from ${log}; log("one"); setTimeout(() => { log("two"); console.log("lives"); }, 20);`;
  // Every write to /dev/full fails as on a full disk.
  const args = ["-c", 'exec "$0" --input-type=module -e "$1" 2>/dev/full', process.execPath, script];
  expect(spawnSync("sh", args, { encoding: "utf8" })).toMatchObject({ status: 0, stdout: "lives\n" });
});
