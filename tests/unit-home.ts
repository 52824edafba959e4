/** Gives unit tests their own home, so that they never touch the home of the person who runs them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

if (process.env.HOLDFAST_HOME === undefined) {
  const home = mkdtempSync(join(tmpdir(), "hf-unit-"));
  process.env.HOLDFAST_HOME = home;
  process.once("exit", () => rmSync(home, { recursive: true, force: true }));
}
