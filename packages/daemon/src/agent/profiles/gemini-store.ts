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
    found.filter((file) => idOf(file) === from),
    { agent: "Gemini CLI", id: from, where: store },
  );
  const known = projectOf(store, directory);
  const project = known ?? join(store, `holdfast-${id.slice(0, 13)}`);
  const at = new Date().toISOString();
  const copy = join(project, "chats", `session-${at.slice(0, 16).replace(":", "-")}-${id.slice(0, 8)}.jsonl`);
  // The first line tells whose it is; the others are what was said.
  const text = copiedLines(original, (entry, index) => (index === 0 ? { ...entry, sessionId: id, startTime: at } : entry));
  mkdirSync(join(project, "chats"), { recursive: true });
  if (known === undefined) writeFileAtomic(join(project, MARK), directory);
  writeFileAtomic(copy, text);
  return { id, undo: async () => rmSync(known === undefined ? project : copy, { recursive: true, force: true }) };
}

/** It writes one down when it begins, and again when it is gone on with: where a single one was, that is its own. */
export function findGeminiConversation(running: Running): string | undefined {
  const project = projectOf(storeOf(running.env), running.cwd);
  const files = project === undefined ? [] : globSync("chats/session-*.jsonl", { cwd: project }).map((path) => join(project, path));
  const ids = new Set(files.filter((file) => isOf(running, file)).map(idOf));
  const own = [...ids].filter((id): id is string => typeof id === "string" && !running.isTaken(id));
  return own.length === 1 ? own[0] : undefined;
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

function idOf(file: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, "utf8").split("\n", 1)[0] ?? "") as { sessionId?: unknown }).sessionId;
  } catch {
    return undefined;
  }
}
