import { statSync } from "node:fs";
import { join } from "node:path";
import type { Exit } from "@holdfast/contract";
import { readJsonFile } from "@holdfast/platform";
import { parseExit } from "../host/exit.ts";

export interface RecordedExit {
  exit: Exit;
  endedAt: number;
  /** Milliseconds between the machine's boot and the end, where the keeper says: nobody sets that clock. */
  endedAfterBootMs?: number;
}

/** How the keeper says a run ended; undefined while it has not, `exit` unknown when the file is damaged. */
export function readExitFile(directory: string): RecordedExit | undefined {
  const path = join(directory, "exit.json");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const file = readJsonFile(path) as { status?: unknown; signal?: unknown; uptime?: unknown } | undefined;
  const exit =
    typeof file?.status === "string" && typeof file.signal === "string"
      ? parseExit(file.status, file.signal)
      : { code: null, signal: null };
  const uptime = typeof file?.uptime === "string" && /^\d+(\.\d+)?$/.test(file.uptime) ? Number(file.uptime) : undefined;
  return { exit, endedAt: stat.mtimeMs, ...(uptime === undefined ? {} : { endedAfterBootMs: Math.round(uptime * 1000) }) };
}
