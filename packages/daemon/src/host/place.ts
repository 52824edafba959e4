/**
 * Where an agent is that was started outside: panes of somebody's own tmux servers, and `foreign.json` in the directory of an adopted run. Where it
 * is does not change while the run lives: a process is named by pid and start time, a pane by the id that its server gives it for life and the pid of
 * its first process, for a later server at the same socket gives the same ids again.
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
  /** The pane's first process; the agent itself, or the shell it was typed into. */
  pid: number;
  server: ProcessName;
}

export interface Place {
  v: 1;
  process: ProcessName;
  /** Null: its terminal cannot be reached; only its end is seen. */
  pane: Pane | null;
  /** It is a program that asks for marks around pasted text; that it did so was before we listened. */
  pastes: boolean;
  /** Its next run is to follow by itself. */
  resumeWhenEnded?: boolean;
  /** It is to be no session any more, and goes on. */
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

/** A file for each run that was adopted: the only ones to be asked after. */
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

/** A pane as its server tells it. */
export interface PaneState {
  id: string;
  pid: number;
  columns: number;
  rows: number;
  dead: boolean;
  piped: boolean;
  exit: { code: number | null; signal: string | null } | null;
  /** Its window is the one that its session shows. */
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

/** The port to tmux servers that are not ours. */
export interface ForeignPanes {
  /** Of the server at that socket; `not_adoptable` when none answers there. */
  at(socket: string): Promise<FoundPane[]>;
  /** Of every server of this user at the usual place, and of those at these sockets; one that does not answer is left out. */
  reachable(sockets: Iterable<string>): Promise<FoundPane[]>;
}
