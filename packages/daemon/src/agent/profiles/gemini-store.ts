/**
 * Where Gemini CLI keeps conversations, and how one is copied to another directory. They are below a name for each project, which it finds by a mark there
 * (`.project_root`); of a directory that it does not know yet, the mark is made here, under a name that no other project has.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "@holdfast/platform";
import { isOf, type Running } from "../find-conversation.ts";
import { type Copied, type CopyPlace, copiedLines, oneTranscript } from "../fork.ts";

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
 * It writes a conversation down when it begins, or goes on with one: where only one was written to since, that is its own. One that has just begun
 * may not have come to that: then only what began with it counts. What is known is not doubted by it.
 */
export function findGeminiConversation(running: Running): string | undefined {
  const project = running.known === null ? projectOf(storeOf(running.env), running.cwd) : undefined;
  const files = project === undefined ? [] : globSync("chats/session-*.jsonl", { cwd: project }).map((path) => join(project, path));
  const found = files.filter((file) => isOf(running, file)).map(headOf);
  const own = found.filter(({ sessionId }) => typeof sessionId === "string" && !running.isTaken(sessionId));
  const ids = new Set(own.map(({ sessionId }) => sessionId as string));
  const isYoung = Date.now() - running.since < WRITTEN_MS;
  if (ids.size !== 1 || (isYoung && !own.some(({ startTime }) => Date.parse(String(startTime)) >= running.since))) return undefined;
  return [...ids][0];
}

/** From its start to its first file, on a machine that is overloaded. */
const WRITTEN_MS = 120_000;

/** The first line tells whose it is; so does one, and another that sets it once more, each time it is gone on with. The others are what was said. */
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
  const mark = marks.find((path) => readFileSync(path, "utf8").trim() === directory);
  const project = mark?.slice(0, -MARK.length - 1);
  return project !== undefined && existsSync(project) ? project : undefined;
}

function headOf(file: string): { sessionId?: unknown; startTime?: unknown } {
  try {
    return JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] ?? "") as object;
  } catch {
    return {};
  }
}
