/**
 * Who left by the key, and was not sent away or cut off: the client that leaves makes a file of its pid (configuration.ts), beside the
 * sockets. No daemon is needed for it then; one that starts later forgets them, for it does not know when that was.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSameProcess } from "@holdfast/platform";

export const LEFT = "left.";

const LOOK_MS = 10;
/** The file is made at once; whatever hangs longer than that will not say it. */
const PATIENCE_MS = 2000;

/** Of a client that has gone from the server: its process makes the file before it ends. Once: then the file is gone. */
export async function tookLeave(directory: string, { pid, pidStart }: { pid: number; pidStart: string }): Promise<boolean> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    const isGone = !isSameProcess(pid, pidStart);
    if (takeAway(directory, String(pid))) return true;
    if (isGone) return false;
    await sleep(LOOK_MS);
  }
  return false;
}

export function forgetLeft(directory: string): void {
  for (const name of names(directory)) if (name.startsWith(LEFT)) rmSync(join(directory, name), { force: true });
}

function takeAway(directory: string, pid: string): boolean {
  try {
    rmSync(join(directory, `${LEFT}${pid}`));
    return true;
  } catch {
    return false;
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
