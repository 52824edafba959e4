/**
 * Codex's conversation files (rollouts). A Codex keeps the file of each conversation open from its first prompt on, also after it has changed to
 * another. By default all Codexes of a user share one server process, which then holds the files of all.
 */
import { closeSync, constants, globSync, openSync, readlinkSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { allProcesses, argumentsOf } from "@holdfast/platform";
import { isOf, type Running } from "../find-conversation.ts";
import { parsed } from "../transcript.ts";
import type { Conversing } from "../usage-source.ts";

/** The server also holds the files of Codexes that have ended. A file written this recently is that of the only one that runs. */
const RECENT_MS = 2000;

/** The conversation written last. Undefined if it may be that of another Codex. */
export function findCodexConversation(running: Running): string | undefined {
  const { pids, cwd, env } = running;
  // The nearest process: a tool may have started another Codex.
  const own = pids.filter((pid) => !isServer(pid)).map((pid) => openRollouts(pid));
  const held = own.find((files) => files.length > 0);
  if (held) return idOf(lastWritten(held));
  const all = [...allProcesses().values()].filter(({ name, zombie }) => name === "codex" && !zombie).map(({ pid }) => pid);
  const [only, ...others] = all.filter((pid) => !isServer(pid) && linkOf(`/proc/${pid}/cwd`) === cwd);
  if (only === undefined || !pids.includes(only) || others.length > 0) return undefined;
  const served = all.filter((pid) => isServer(pid)).flatMap((pid) => openRollouts(pid));
  const here = served.filter((file) => file.startsWith(`${sessionsOf(env)}/`) && beginningOf(file).cwd === cwd && isOf(running, file));
  const last = lastWritten(here);
  return last !== undefined && writtenAt(last) >= Date.now() - RECENT_MS ? idOf(last) : undefined;
}

/** Cached, because the search goes through a folder for each day. */
const rollouts = new Map<string, string[]>();

export function rolloutsOf({ conversation, env }: Conversing): string[] {
  const sessions = sessionsOf(env);
  const key = `${sessions} ${conversation}`;
  const known = rollouts.get(key);
  if (known) return known;
  const found = globSync(`*/*/*/rollout-*-${conversation}.jsonl`, { cwd: sessions }).map((path) => join(sessions, path));
  if (found.length > 0) rollouts.set(key, found);
  return found;
}

function sessionsOf(env: Readonly<Record<string, string>>): string {
  return join(env.CODEX_HOME || join(env.HOME || homedir(), ".codex"), "sessions");
}

function isServer(pid: number): boolean {
  return argumentsOf(pid).includes("app-server");
}

function openRollouts(pid: number): string[] {
  const open = new Set(globSync(`/proc/${pid}/fd/*`).map(linkOf));
  return [...open].filter((file) => idOf(file) !== undefined && !beginningOf(file).isSubagents);
}

function lastWritten(files: readonly string[]): string | undefined {
  // File names begin with the time at which the conversation began.
  return [...files].sort((a, b) => writtenAt(a) - writtenAt(b) || a.localeCompare(b)).at(-1);
}

function writtenAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function idOf(file: string | undefined): string | undefined {
  return /\/rollout-[\dT-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(file ?? "")?.[1];
}

interface Beginning {
  /** A subagent's conversation has its own file. */
  isSubagents: boolean;
  cwd: string | undefined;
}

const beginnings = new Map<string, Beginning>();

/** What the first line says; it never changes. */
function beginningOf(file: string): Beginning {
  const known = beginnings.get(file);
  if (known) return known;
  const text = firstBytesOf(file);
  const cwd = parsed(/"cwd":("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? "");
  const beginning = {
    isSubagents: /"source":\{"subagent"|"thread_source":"subagent"/.test(text),
    cwd: typeof cwd === "string" ? cwd : undefined,
  };
  if (text.includes('"session_meta"')) beginnings.set(file, beginning);
  return beginning;
}

/** Enough to reach the source; the long instructions follow in the same line. */
const BEGINNING_BYTES = 16 << 10;

function firstBytesOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const bytes = Buffer.alloc(BEGINNING_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
