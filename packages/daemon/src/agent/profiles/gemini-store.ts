/**
 * Gemini CLI's conversation files, and how to copy one to another directory. Each project has a folder, which Gemini finds by a mark in it
 * (`.project_root`). For a directory that Gemini does not know yet, the copy creates the folder and its mark, under a unique name.
 */
import { closeSync, constants, existsSync, globSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readOrdinaryFile, writeFileAtomic } from "@holdfast/platform";
import { isOf, type Running } from "../find-conversation.ts";
import { type Copied, type CopyPlace, copiedLines, oneTranscript } from "../fork.ts";
import { textAt } from "../hooks/hook-rules.ts";

const MARK = ".project_root";

export async function copyGeminiConversation({ from, id, directory, env }: CopyPlace): Promise<Copied> {
  const store = storeOf(env);
  const short = from.slice(0, 8);
  const found = globSync(`*/chats/session-*-${short}.jsonl`, { cwd: store }).map((path) => join(store, path));
  const original = oneTranscript(
    found.filter((file) => headOf(file).sessionId === from),
    { agent: "Gemini CLI", id: from, where: store },
  );
  const known = projectOf(store, directory);
  const project = known ?? join(store, `holdfast-${id.slice(0, 13)}`);
  const at = new Date().toISOString();
  const copy = join(project, "chats", `session-${at.slice(0, 16).replace(":", "-")}-${id.slice(0, 8)}.jsonl`);
  const text = copiedLines(original, (entry) => ofAnother(entry, { sessionId: id, startTime: at }));
  mkdirSync(join(project, "chats"), { recursive: true });
  if (known === undefined) writeFileAtomic(join(project, MARK), directory);
  writeFileAtomic(copy, text);
  return { id, undo: async () => rmSync(known === undefined ? project : copy, { recursive: true, force: true }) };
}

/**
 * Gemini writes to a conversation's file when it begins or continues one. If only one file was written since the start, it is the agent's. An agent
 * that has just started may not have written yet, so then only a conversation begun since counts. A known conversation changes only by `/clear`.
 */
export function findGeminiConversation(running: Running): string | undefined {
  const project = projectOf(storeOf(running.env), running.cwd);
  const files = project === undefined ? [] : globSync("chats/session-*.jsonl", { cwd: project }).map((path) => join(project, path));
  const written = files.filter((file) => isOf(running, file));
  if (running.known !== null) return project === undefined ? undefined : clearedInto(running, { project, written });
  const found = written.map(headOf);
  const own = found.filter(({ sessionId }) => typeof sessionId === "string" && !running.isTaken(sessionId));
  const ids = new Set(own.map(({ sessionId }) => sessionId as string));
  const isYoung = Date.now() - running.since < WRITTEN_MS;
  if (ids.size !== 1 || (isYoung && !own.some(({ startTime }) => Date.parse(String(startTime)) >= running.since))) return undefined;
  return [...ids][0];
}

/**
 * `/clear` begins another conversation in another file. The project's log of typed input has the command and its time, under the id with which the
 * program started.
 */
function clearedInto(running: Running, { project, written }: { project: string; written: readonly string[] }): string | undefined {
  const known = running.known?.slice(0, 8);
  if (written.every((file) => file.endsWith(`-${known}.jsonl`))) return undefined;
  const cleared = typedIn(project).findLast(
    (entry) =>
      running.conversations.includes(textAt(entry, "sessionId") ?? "") &&
      /^\/(clear|new)\b/.test(textAt(entry, "message") ?? "") &&
      Date.parse(textAt(entry, "timestamp") ?? "") >= running.since,
  );
  const since = cleared === undefined ? Number.POSITIVE_INFINITY : Date.parse(textAt(cleared, "timestamp") ?? "");
  const begun = written
    .map(headOf)
    .map(({ sessionId, startTime }) => ({ id: String(sessionId), at: Date.parse(String(startTime)) }))
    .filter(({ id, at }) => at >= since && !running.isTaken(id))
    .sort((a, b) => a.at - b.at);
  return begun.some(({ id }) => id === running.known) ? undefined : begun[0]?.id;
}

/** People type less than this in a project. */
const LARGEST_LOG = 32 << 20;

function typedIn(project: string): unknown[] {
  try {
    const typed: unknown = JSON.parse(readOrdinaryFile(join(project, "logs.json"), LARGEST_LOG));
    return Array.isArray(typed) ? typed : [];
  } catch {
    return [];
  }
}

/** Longest time from a start to its first file, on an overloaded machine. */
const WRITTEN_MS = 120_000;

/** Replaces the conversation's id: in the first line, and in the two lines of each continuation. Other lines are messages. */
function ofAnother(entry: Record<string, unknown>, whose: { sessionId: string; startTime: string }): Record<string, unknown> {
  if ("sessionId" in entry) return { ...entry, ...whose };
  const { $set: set } = entry;
  return typeof set === "object" && set !== null && "sessionId" in set ? { ...entry, $set: { ...set, sessionId: whose.sessionId } } : entry;
}

function storeOf(env: Readonly<Record<string, string>>): string {
  return join(env.GEMINI_CLI_HOME || env.HOME || homedir(), ".gemini", "tmp");
}

function projectOf(store: string, directory: string): string | undefined {
  const marks = globSync(`*/${MARK}`, { cwd: store }).map((path) => join(store, path));
  const mark = marks.find((path) => markIn(path) === directory);
  const project = mark?.slice(0, -MARK.length - 1);
  return project !== undefined && existsSync(project) ? project : undefined;
}

/** No path is longer. */
const LONGEST_MARK = 64 << 10;

function markIn(path: string): string | undefined {
  try {
    return readOrdinaryFile(path, LONGEST_MARK).trim();
  } catch {
    return undefined;
  }
}

/** The first line is short; later lines may be long. */
const HEAD_BYTES = 16 << 10;

function headOf(path: string): { sessionId?: unknown; startTime?: unknown } {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      const read = readSync(file, bytes, 0, HEAD_BYTES, 0);
      return JSON.parse(bytes.toString("utf8", 0, read).split("\n", 1)[0] ?? "") as object;
    } finally {
      closeSync(file);
    }
  } catch {
    return {};
  }
}
