/** A directory for homes that only root can write to, which Gemini CLI requires for a settings file; only where the tests run as root. */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

const DIRECTORY = path.join(homedir(), ".cache/holdfast/tests");

/** Creates homes there until the test is over. Returns true if only root can write to it. */
export function inRootsPlace(): boolean {
  mkdirSync(DIRECTORY, { recursive: true });
  const before = process.env.TMPDIR;
  process.env.TMPDIR = DIRECTORY;
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(DIRECTORY, { recursive: true, force: true });
  });
  return isRoots(DIRECTORY);
}

function isRoots(directory: string): boolean {
  const { uid, mode } = statSync(directory);
  const isOurs = uid === 0 && (mode & 0o022) === 0;
  return isOurs && (directory === path.dirname(directory) || isRoots(path.dirname(directory)));
}
