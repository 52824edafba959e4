/**
 * The versions of agents whose screens and hooks were recorded, by which their rules were made. An agent that is newer may look different: its
 * status may then be wrong or unknown. `npm run record:agents -- AGENT --version VERSION` records it anew and writes its version here.
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

/** A package says what it likes, and the version is shown as part of a command: anything else is no version. */
const VERSION = /^\d+(?:\.\d+)*(?:[-+][\w.+-]{1,60})?$/;

/** Null: its rules were made by this version or a newer one, or none were recorded. */
export function newerThanRecorded(agent: string, version: string | null): Newer | null {
  const recorded = RECORDED[agent];
  if (recorded === undefined || version === null || !VERSION.test(version)) return null;
  return isNewer(version, recorded) ? { version, recorded } : null;
}

/** The version of the program of that name that a process runs, as far as its package says. */
export function runningVersion(pid: number, program: string): string | null {
  // A script's first argument is the script.
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

/** By their numbers; what follows a dash or a plus does not count. */
function isNewer(version: string, than: string): boolean {
  const [ours, theirs] = [numbersOf(version), numbersOf(than)];
  const at = ours.findIndex((number, i) => number !== (theirs[i] ?? 0));
  return at >= 0 && (ours[at] ?? 0) > (theirs[at] ?? 0);
}

function numbersOf(version: string): number[] {
  return (version.split(/[-+]/)[0] ?? "").split(".").map(Number);
}
