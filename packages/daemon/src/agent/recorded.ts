/**
 * The versions of agents whose screens and hooks were recorded, and from which their rules were made. A newer agent may look different, so its
 * status may be wrong or unknown. `npm run record:agents -- AGENT --version VERSION` records it again and writes its version here.
 */
import { readlinkSync } from "node:fs";
import type { Newer } from "@holdfast/contract";
import { argumentsOf } from "@holdfast/platform";
import { packagedVersion } from "./version.ts";

export const RECORDED: Readonly<Record<string, string>> = {
  claude: "2.1.325",
  codex: "0.166.0",
  gemini: "0.61.0",
  opencode: "1.18.33",
  qwen: "0.24.4",
};

/** A package can claim any version, and Holdfast shows it as part of a command, so anything else is refused. */
const VERSION = /^\d+(?:\.\d+)*(?:[-+][\w.+-]{1,60})?$/;

/** Null: this version or a newer one was recorded, or none was. */
export function newerThanRecorded(agent: string, version: string | null): Newer | null {
  const recorded = RECORDED[agent];
  if (recorded === undefined || version === null || !VERSION.test(version)) return null;
  return isNewer(version, recorded) ? { version, recorded } : null;
}

/** The version of the named program that a process runs, if its package tells. */
export function runningVersion(pid: number, program: string): string | null {
  // For a script, the first argument is the script itself.
  const files = [executableOf(pid), ...argumentsOf(pid).slice(0, 2)].filter((file) => file?.startsWith("/"));
  for (const file of files) {
    const version = packagedVersion(file ?? "", program);
    if (version !== undefined) return version;
  }
  return null;
}

function executableOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** Compares numbers; ignores everything after a dash or a plus. */
export function isNewer(version: string, than: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(than)];
  const at = ours.findIndex((number, i) => number !== (theirs[i] ?? 0));
  return at >= 0 && (ours[at] ?? 0) > (theirs[at] ?? 0);
}

function numbersOf(version: string): number[] {
  return (version.split(/[-+]/)[0] ?? "").split(".").map(Number);
}
