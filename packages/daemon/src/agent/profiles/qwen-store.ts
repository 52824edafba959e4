/** Qwen Code's conversation files. Holdfast copies them itself, since `--fork-session` takes only conversations of the current directory. */
import { globSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readJsonFile, writeFileAtomic } from "@holdfast/platform";
import { isOf, type Running } from "../find-conversation.ts";
import { type Copied, type CopyPlace, copiedLines, oneTranscript } from "../fork.ts";
import { textAt } from "../hooks/hook-rules.ts";

export async function copyQwenConversation({ from, id, directory, env }: CopyPlace): Promise<Copied> {
  const projects = qwenProjects(env);
  const found = globSync(`*/chats/${from}.jsonl`, { cwd: projects }).map((path) => join(projects, path));
  const original = oneTranscript(found, { agent: "Qwen Code", id: from, where: projects });
  const copy = join(chatsOf(directory, env), `${id}.jsonl`);
  const text = copiedLines(original, (entry) => ({ ...entry, sessionId: id, cwd: directory }));
  mkdirSync(dirname(copy), { recursive: true });
  writeFileAtomic(copy, text);
  return { id, undo: async () => rmSync(copy, { force: true }) };
}

/** Next to a conversation, a file tells other programs which process has it. */
export function findQwenConversation(running: Running): string | undefined {
  const chats = chatsOf(running.cwd, running.env);
  const files = globSync("*.runtime.json", { cwd: chats }).map((name) => join(chats, name));
  const own = files.filter((file) => isOf(running, file)).map((file) => readJsonFile(file));
  const [newest] = own
    .filter((status) => running.pids.includes(Number(textAt(status, "pid"))))
    .sort((a, b) => Number(textAt(b, "started_at")) - Number(textAt(a, "started_at")));
  return textAt(newest, "session_id");
}

function chatsOf(directory: string, env: Readonly<Record<string, string>>): string {
  return join(qwenProjects(env), directory.replace(/[^a-zA-Z0-9]/g, "-"), "chats");
}

export function qwenProjects(env: Readonly<Record<string, string>>): string {
  const own = env.QWEN_RUNTIME_DIR || env.QWEN_HOME;
  const home = env.HOME || homedir();
  return join(own ? resolve(home, own.replace(/^~(?=\/|$)/, home)) : join(home, ".qwen"), "projects");
}
