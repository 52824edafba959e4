import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { AGENTS } from "../../../script/real-agents.mjs";
import { ROOT } from "../../home.ts";
import { VERSION_FILES, writeVersion } from "./version.ts";

test("a recorded version is the one that tests install and that the daemon compares with", () => {
  const root = mkdtempSync(path.join(tmpdir(), "hf-"));
  try {
    for (const name of VERSION_FILES) {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
      cpSync(path.join(ROOT, name), path.join(root, name));
    }
    writeVersion(root, { agent: "qwen", before: AGENTS.qwen.version, version: "99.1.0" });
    for (const name of VERSION_FILES) {
      const [before, after] = [ROOT, root].map((each) => readFileSync(path.join(each, name), "utf8").split("\n"));
      const changed = after?.filter((line, i) => line !== before?.[i]);
      expect(changed, name).toEqual([expect.stringMatching(/qwen.*"99\.1\.0"/)]);
    }
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("the command that doctor names runs: a version is taken before anything is recorded", async () => {
  const main = path.join(ROOT, "tests/real/record/main.ts");
  // The recorded version again, and no state: nothing changes.
  const args = [main, "qwen", "--version", AGENTS.qwen.version, "--state", "none"];
  expect(await promisify(execFile)(process.execPath, args, { cwd: ROOT })).toEqual({ stdout: "", stderr: "" });
});
