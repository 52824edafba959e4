/**
 * Which conversation an agent has that nobody told us of: one that was started without us, or without our hooks. Read from files of its own, and
 * only where these leave no doubt: somebody goes on with what is found.
 */
import { statSync } from "node:fs";
import { readJsonFile } from "@holdfast/platform";
import { textAt } from "./hooks/hook-rules.ts";
import type { Profile } from "./profile.ts";

export interface Running {
  /** The process, and those that it has started, nearest first. */
  pids: readonly number[];
  /** When it began, in milliseconds since 1970. */
  since: number;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** What it was in when that was last known. */
  known: string | null;
  /** All that it was in, as far as that is known. */
  conversations: readonly string[];
  /** Whether it is known to be another session's. */
  isTaken(conversation: string): boolean;
}

/** The agent may take its time a little before ours. */
const CLOCK_MS = 1000;

export function findConversation(profile: Profile, running: Running): string | null {
  return inStateFile(profile, running) ?? profile.conversation?.find?.(running) ?? null;
}

/** Whether it could be, of another one of this agent. */
export function canFind({ stateFile, conversation }: Profile): boolean {
  return stateFile?.conversation !== undefined || conversation?.find !== undefined;
}

/** Written since it began: what is older is of another process, which had its pid, or worked in its directory. */
export function isOf({ since }: Running, file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since - CLOCK_MS;
}

function inStateFile({ stateFile }: Profile, running: Running): string | undefined {
  if (stateFile?.conversation === undefined) return undefined;
  const { conversation } = stateFile;
  const files = running.pids.map((pid) => stateFile.path({ pid, env: running.env })).filter((file) => isOf(running, file));
  return files.map((file) => textAt(readJsonFile(file), conversation)).find((id) => id !== undefined);
}
