/**
 * The token of one run. Its text is in the launch file and so in the run's environment, its hash in `runs/<n>/token`. The hash is with the
 * run and not in the journal, so that an adopted run, or one whose record is restored, keeps it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "@holdfast/contract";
import { type Home, runDirectory, writeFileAtomic } from "@holdfast/platform";
import { hashOf, isTextOf, newSecret } from "./secret.ts";

/** Returns the text. The run's directory must exist. */
export function newRunToken(home: Home, run: { session: SessionId; run: number }): string {
  const text = newSecret(run);
  writeFileAtomic(hashFile(home, run), `${hashOf(text)}\n`);
  return text;
}

export function isRunToken(home: Home, run: { session: SessionId; run: number }, text: string): boolean {
  try {
    return isTextOf(readFileSync(hashFile(home, run), "utf8").trim(), text);
  } catch {
    return false;
  }
}

export function hashFile(home: Home, run: { session: SessionId; run: number }): string {
  return join(runDirectory(home, run.session, run.run), "token");
}
