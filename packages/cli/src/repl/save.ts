/** A conversation as a markdown file: messages, tools, and the outcome of each turn. */
import { randomBytes } from "node:crypto";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { nameOf } from "./view.ts";

export async function asMarkdown(session: Session, entries: AsyncIterable<PlacedEntry>): Promise<string> {
  const parts: string[] = [`# ${session.name}`, `A conversation with ${session.agent}, started ${session.createdAt}.`];
  let text = "";
  /** The last part was a person's message, so the agent's heading comes next. */
  let isAsked = false;
  const put = (part: string) => {
    if (isAsked) parts.push(`## ${session.agent}`);
    isAsked = false;
    parts.push(part);
  };
  const flush = () => {
    if (text.trim() !== "") put(text.trim());
    text = "";
  };
  const titles = new Map<string, string>();
  for await (const { entry } of entries) {
    if (entry.type === "text") {
      text += entry.text;
      continue;
    }
    if (entry.type === "tool_started") titles.set(entry.call, entry.title);
    if (entry.type === "tool_output" && entry.title !== null) titles.set(entry.call, entry.title);
    const part = partOf(entry, titles);
    if (part === undefined) continue;
    flush();
    if (entry.type === "user") parts.push(part);
    else put(part);
    if (entry.type === "user") isAsked = true;
  }
  flush();
  return `${parts.join("\n\n")}\n`;
}

function partOf(entry: Entry, titles: ReadonlyMap<string, string>): string | undefined {
  switch (entry.type) {
    case "user":
      return `## ${nameOf(entry.from)}\n\n${entry.text.trim()}`;
    case "tool_completed":
      return `- ${entry.ok ? "✓" : "✗"} ${(titles.get(entry.call) ?? "a tool").split("\n")[0]}`;
    case "approval_answered":
      return entry.option === null
        ? undefined
        : `- ${entry.allowed ? "allowed" : "denied"}${entry.by === null ? "" : ` by ${nameOf(entry.by)}`}`;
    case "error":
      return `> Error: ${entry.message.replaceAll("\n", "\n> ")}`;
    case "turn_ended":
      return entry.reason === "completed" ? undefined : `> The turn ended: ${entry.reason.replace("_", " ")}.`;
    case "note":
      return entry.about === "cleared" ? "---\n\nThe agent's memory was cleared." : undefined;
    default:
      return undefined;
  }
}

/** Writes the file completely or not at all; never overwrites. */
export function writeNew(file: string, text: string): string {
  const path = resolve(file.startsWith("~/") ? join(homedir(), file.slice(2)) : file);
  if (existsSync(path))
    throw new HoldfastError("file_exists", `${file} already exists`, { hint: "choose another name, or remove that file" });
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new HoldfastError("file_unusable", `${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
  return path;
}
