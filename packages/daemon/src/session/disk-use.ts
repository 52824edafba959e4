/**
 * Disk usage in bytes of files. Each directory is listed once and each file's size is read once; the daemon does other work between sessions.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import type { DiskUse } from "@holdfast/contract";
import { type Home, isMissing, parseSegmentName } from "@holdfast/platform";
import type { SessionQueries } from "../projection/session-queries.ts";

/** Sessions between two pauses: about five milliseconds. */
const AT_ONCE = 20;

type SessionUse = Pick<DiskUse["sessions"][number], "recordingBytes" | "transcriptBytes" | "otherBytes" | "totalBytes">;

export async function diskUse(home: Home, queries: SessionQueries): Promise<DiskUse> {
  const names = new Map(queries.select({ all: true }).map(({ id, name, status }) => [id as string, { name, status }]));
  const bytes = await bytesOfSessions(home);
  const sessions = [...bytes]
    .map(([id, use]) => ({ id, name: names.get(id)?.name ?? null, status: names.get(id)?.status ?? null, ...use }))
    .sort((a, b) => b.totalBytes - a.totalBytes || (a.id < b.id ? -1 : 1));
  const part = { journalBytes: 0, backupBytes: 0, damagedBytes: 0, workspaceBytes: 0, otherBytes: 0 };
  for (const entry of list(home.path)) {
    if (entry.name === basename(home.sessions)) continue;
    part[partOf(entry.name, home)] += sum(filesBelow(home.path, entry));
  }
  const totalBytes = sum(sessions.map((session) => session.totalBytes)) + sum(Object.values(part));
  return { home: home.path, sessions, ...part, totalBytes };
}

/** Every session that has files, including those without a record. */
export async function bytesOfSessions(home: Home): Promise<Map<string, SessionUse>> {
  const sizes = new Map<string, SessionUse>();
  for (const [index, { name }] of list(home.sessions).entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await breathe();
    sizes.set(name, bytesOfSession(home, name));
  }
  return sizes;
}

export function bytesOfSession(home: Home, session: string): SessionUse {
  const use = { recordingBytes: 0, transcriptBytes: 0, otherBytes: 0, totalBytes: 0 };
  const directory = join(home.sessions, session);
  for (const entry of list(directory)) {
    for (const { name, size } of filesIn(directory, entry)) {
      use[kindOf(name)] += size;
      use.totalBytes += size;
    }
  }
  return use;
}

function kindOf(name: string): "recordingBytes" | "transcriptBytes" | "otherBytes" {
  if (parseSegmentName(name) || name === "times.idx") return "recordingBytes";
  return name === "transcript.jsonl" ? "transcriptBytes" : "otherBytes";
}

function partOf(name: string, home: Home): "journalBytes" | "backupBytes" | "damagedBytes" | "workspaceBytes" | "otherBytes" {
  if (name.startsWith(basename(home.database))) return "journalBytes";
  if (name === "backups") return "backupBytes";
  if (name === "damaged") return "damagedBytes";
  return name === "workspaces" ? "workspaceBytes" : "otherBytes";
}

function filesBelow(directory: string, entry: Dirent): number[] {
  return filesIn(directory, entry).map(({ size }) => size);
}

/** Does not follow links: their targets are not in the home. */
function filesIn(directory: string, entry: Dirent): { name: string; size: number }[] {
  const path = join(directory, entry.name);
  if (entry.isDirectory()) return list(path).flatMap((each) => filesIn(path, each));
  // The file may have been deleted meanwhile.
  const size = entry.isFile() ? (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : 0;
  return [{ name: entry.name, size }];
}

function list(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw error;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
