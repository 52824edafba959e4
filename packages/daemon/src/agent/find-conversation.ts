/**
 * Finds the conversation of an agent that did not report it: started outside Holdfast, or without its hooks. The agent's own files must leave no
 * doubt, because the conversation found will be continued.
 */
import { statSync } from "node:fs";
import { CONVERSATION_ID } from "@holdfast/contract";
import { readJsonFile } from "@holdfast/platform";
import { textAt } from "./hooks/hook-rules.ts";
import { LARGEST_STATE, type StateFile } from "./status/state-file.ts";

export interface Running {
  /** The process and its descendants, nearest first. */
  pids: readonly number[];
  /** Start time, in milliseconds since 1970. */
  since: number;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Its last known conversation. */
  known: string | null;
  /** All its known conversations. */
  conversations: readonly string[];
  /** True if the conversation is known to belong to another session. */
  isTaken(conversation: string): boolean;
}

/** The part of a profile that finds conversations. */
interface Finds {
  stateFile?: StateFile;
  conversation?: { find?(running: Running): string | undefined };
}

/** The agent's times may be a little earlier than Holdfast's. */
const CLOCK_MS = 1000;

export function findConversation(profile: Finds, running: Running): string | null {
  const found = inStateFile(profile, running) ?? profile.conversation?.find?.(running) ?? null;
  // The files are the agent's, so the id may be any text.
  return found !== null && CONVERSATION_ID.test(found) ? found : null;
}

/** True if conversations of this agent can be found at all. */
export function canFind({ stateFile, conversation }: Finds): boolean {
  return stateFile?.conversation !== undefined || conversation?.find !== undefined;
}

/** True if the file was written since the process started. An older file belongs to another process with its pid or directory. */
export function isOf({ since }: Running, file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since - CLOCK_MS;
}

function inStateFile({ stateFile }: Finds, running: Running): string | undefined {
  if (stateFile?.conversation === undefined) return undefined;
  const { conversation } = stateFile;
  const files = running.pids.map((pid) => stateFile.path({ pid, env: running.env })).filter((file) => isOf(running, file));
  return files.map((file) => textAt(readJsonFile(file, LARGEST_STATE), conversation)).find((id) => id !== undefined);
}
