/** A conversation of Qwen Code, copied to another directory: its own `--fork-session` takes only those of the directory it is started in. */
import { globSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { writeFileAtomic } from "@holdfast/platform";
import { type Copied, type CopyPlace, copiedLines, oneTranscript } from "../fork.ts";

export async function copyQwenConversation({ from, id, directory, env }: CopyPlace): Promise<Copied> {
  const own = env.QWEN_RUNTIME_DIR || env.QWEN_HOME;
  const home = env.HOME || homedir();
  const projects = join(own ? resolve(home, own.replace(/^~(?=\/|$)/, home)) : join(home, ".qwen"), "projects");
  const found = globSync(`*/chats/${from}.jsonl`, { cwd: projects }).map((path) => join(projects, path));
  const original = oneTranscript(found, { agent: "Qwen Code", id: from, where: projects });
  const copy = join(projects, directory.replace(/[^a-zA-Z0-9]/g, "-"), "chats", `${id}.jsonl`);
  const text = copiedLines(original, (entry) => ({ ...entry, sessionId: id, cwd: directory }));
  mkdirSync(dirname(copy), { recursive: true });
  writeFileAtomic(copy, text);
  return { id, undo: async () => rmSync(copy, { force: true }) };
}
