/**
 * The location of an agent that was started outside Holdfast: panes of the user's own tmux servers, and `foreign.json` in the directory of an
 * adopted run. A location does not change while the run lives. A process is identified by pid and start time. A pane is identified by its id and
 * the pid of its first process, because a later server at the same socket reuses the ids.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Home, readJsonFile, writeFileAtomic } from "@holdfast/platform";

export interface ProcessName {
  pid: number;
  start: string;
}

export interface Pane {
  socket: string;
  id: string;
  /** The pane's first process: the agent itself, or the shell that started it. */
  pid: number;
  server: ProcessName;
}

export interface Place {
  v: 1;
  process: ProcessName;
  /** Null if the terminal is unreachable; then only the agent's end is noticed. */
  pane: Pane | null;
  /** True if the agent is known to request bracketed paste. It did so before we listened. */
  pastes: boolean;
  /** The next run starts automatically when this one ends. */
  resumeWhenEnded?: boolean;
  /** The session is being released; its agent keeps running. */
  letGo?: boolean;
}

export const PLACE_FILE = "foreign.json";

export function writePlace(directory: string, place: Place): void {
  writeFileAtomic(join(directory, PLACE_FILE), `${JSON.stringify(place)}\n`);
}

/** Undefined when the file is damaged or missing. */
export function readPlace(directory: string): Place | undefined {
  const place = readJsonFile(join(directory, PLACE_FILE)) as Place | undefined;
  return place?.v === 1 && typeof place.process?.pid === "number" && typeof place.process.start === "string" ? place : undefined;
}

/** Holds one file per adopted run, so that only those runs are checked. */
export function adoptedDirectory(home: Home): string {
  return join(home.path, "adopted");
}

export function markAdopted(home: Home, marker: string): void {
  mkdirSync(adoptedDirectory(home), { recursive: true, mode: 0o700 });
  writeFileAtomic(join(adoptedDirectory(home), marker), "");
}

export function unmarkAdopted(home: Home, marker: string): void {
  rmSync(join(adoptedDirectory(home), marker), { force: true });
}

/** A pane as its server reports it. */
export interface PaneState {
  id: string;
  pid: number;
  columns: number;
  rows: number;
  dead: boolean;
  piped: boolean;
  exit: { code: number | null; signal: string | null } | null;
  /** Its window is the current window of its session. */
  shown: boolean;
  sessionId: string;
  session: string;
  window: string;
  index: string;
}

export interface FoundPane extends PaneState {
  socket: string;
  server: ProcessName;
}

/** The port to tmux servers that do not belong to Holdfast. */
export interface ForeignPanes {
  /** Panes of the server at that socket; throws `not_adoptable` if no server answers there. */
  at(socket: string): Promise<FoundPane[]>;
  /** Panes of every server of this user in the default directory and at these sockets. Servers that do not answer are skipped. */
  reachable(sockets: Iterable<string>): Promise<FoundPane[]>;
}
