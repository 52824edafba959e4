/**
 * Records which clients detached by the key instead of being detached or cut off. A detaching client creates a file named after its pid beside the
 * sockets (configuration.ts), which needs no daemon. A daemon deletes old files at its start, because it does not know their age.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isSameProcess } from "@holdfast/platform";

export const LEFT = "left.";

const LOOK_MS = 10;
/** The client creates the file at once. A client that hangs longer will not create it. */
const PATIENCE_MS = 2000;

/** True if this client, gone from the server, detached by the key. Its process creates the file before it ends. The answer deletes the file. */
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
