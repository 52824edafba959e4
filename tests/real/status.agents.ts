import { mkdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { AGENT_NAMES } from "./agents.ts";
import { asksAboutOtherHooks, followsStatus, isNotEndedByASubagent } from "./status.ts";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test("is idle, works, waits for an approval that it names, and is idle again; Esc makes it idle too (NEW-03 agents)", () =>
    followsStatus(agent));
});

test("codex works on when a subagent of its has ended, in the same conversation", isNotEndedByASubagent);

test("codex asks about hooks that are a user's own, and that is told", asksAboutOtherHooks);

test("gemini takes hooks where nobody but root could have put them, and only there", async () => {
  const directory = path.join(homedir(), ".cache/holdfast/tests");
  mkdirSync(directory, { recursive: true });
  const before = process.env.TMPDIR;
  process.env.TMPDIR = directory;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(directory, { recursive: true, force: true });
  });
  await followsStatus("gemini", isRoots(directory));
});

function isRoots(directory: string): boolean {
  const { uid, mode } = statSync(directory);
  const isOurs = uid === 0 && (mode & 0o022) === 0;
  return isOurs && (directory === path.dirname(directory) || isRoots(path.dirname(directory)));
}
