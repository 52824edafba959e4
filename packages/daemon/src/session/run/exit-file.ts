import { statSync } from "node:fs";
import { join } from "node:path";
import type { Exit } from "@holdfast/contract";
import { readJsonFile, writeFileAtomic } from "@holdfast/platform";
import { parseExit } from "../../host/exit.ts";

export interface RecordedExit {
  exit: Exit;
  endedAt: number;
  /** Milliseconds between the machine's boot and the end (monotonic), if the keeper reports it. */
  endedAfterBootMs?: number;
  beganAfterBootMs?: number;
  /** The program's pid, if the keeper reports it: nobody else may have survived to record the start. */
  pid?: number;
}

/** The exit that the keeper recorded; undefined while the run lasts, with an unknown `exit` if the file is damaged. */
export function readExitFile(directory: string): RecordedExit | undefined {
  const path = join(directory, "exit.json");
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const file = readJsonFile(path) as Partial<Record<"status" | "signal" | "uptime" | "began" | "pid" | "at", unknown>> | undefined;
  const exit =
    typeof file?.status === "string" && typeof file.signal === "string"
      ? parseExit(file.status, file.signal)
      : { code: null, signal: null };
  // A file that was written late contains the time of the end.
  const endedAt = typeof file?.at === "number" ? file.at : stat.mtimeMs;
  const ended = milliseconds(file?.uptime);
  const began = milliseconds(file?.began);
  return {
    exit,
    endedAt,
    ...(ended === undefined ? {} : { endedAfterBootMs: ended }),
    ...(began === undefined ? {} : { beganAfterBootMs: began }),
    ...(typeof file?.pid === "number" && file.pid > 0 ? { pid: file.pid } : {}),
  };
}

function milliseconds(seconds: unknown): number | undefined {
  return typeof seconds === "string" && /^\d+(\.\d+)?$/.test(seconds) ? Math.round(Number(seconds) * 1000) : undefined;
}

/** For a keeper that could not write the file; afterwards the keeper may be removed. */
export function writeExitFile(directory: string, { exit, endedAt, endedAfterBootMs }: RecordedExit): void {
  const uptime = endedAfterBootMs === undefined ? {} : { uptime: String(endedAfterBootMs / 1000) };
  const how = { status: exit.code === null ? "" : String(exit.code), signal: exit.signal ?? "", at: endedAt, ...uptime };
  writeFileAtomic(join(directory, "exit.json"), `${JSON.stringify(how)}\n`);
}
