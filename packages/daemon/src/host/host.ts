/**
 * The port to what keeps a run's processes alive. A keeper outlives the daemon: everything here is a command to it or a
 * question; what a program says and how it ends reaches the daemon through the files in the run's directory.
 *
 * Adapters keep these promises:
 * - `start` returns once the program has a pid. Recording is complete from the first byte. When it throws, nothing runs.
 * - The keeper writes `exit.json` (temp + rename) when the program has ended, whether or not a daemon is there.
 * - `list` tells what really runs, or throws when it cannot know; it never guesses. A keeper that is not there keeps nothing.
 * - `remove` takes away an ended run's keeper after the last byte is in the recording; a second call does nothing.
 * - `write` and `press` resolve when the keeper has taken everything, in one piece: two calls never interleave. They say how much of it waits
 *   for the program to read, where the keeper knows. A program that has ended takes nothing: `session_ended`; one that has left
 *   a lot unread may be given no more: `input_full`.
 * - `clients` tells which terminals show which run, or throws when it cannot know; `onClients` is called when one comes, goes, moves to
 *   another run, or changes its part, also when it dies without a word. A keeper that cannot tell is asked again by whoever wants to know.
 * - `onLost` is called when a keeper vanished without telling how its runs ended.
 */
import { type ConversationOrder, HoldfastError, type HostName, type Screen, type SessionId } from "@holdfast/contract";
import type { Key } from "./keys.ts";

export interface RunId {
  session: SessionId;
  run: number;
}

export interface StartRequest extends RunId {
  /** The run's directory; it exists and holds `launch`, the file that becomes the program. */
  directory: string;
  /** Shown to somebody who attaches. */
  title: string;
  columns: number;
  rows: number;
  /** Of a conversation: its program is talked to in a protocol, and has no terminal. */
  conversation?: ConversationOrder | undefined;
}

export interface LiveRun extends RunId {
  pid: number;
  /** The program has ended and its keeper waits to be removed; `exit` is what the keeper knows of how. */
  dead: boolean;
  exit: { code: number | null; signal: string | null } | null;
  recording: boolean;
}

export interface Typed {
  /** Bytes that the program's terminal has not taken, for it does not read; null where the keeper does not know. */
  waiting: number | null;
}

/** A terminal that shows a run. `key` tells it from others of its host while it lives. */
export interface HostClient extends RunId {
  key: string;
  pid: number;
  readOnly: boolean;
  terminal: string | null;
  /** Milliseconds since 1970. */
  since: number;
}

export interface RecorderEnd {
  why: string | null;
  /** Milliseconds since 1970. */
  at: number | null;
}

export type AttachWays = { command: string[]; socket: null } | { command: null; socket: string };

export interface Host extends AsyncDisposable {
  readonly name: HostName;
  /** `since`: when it began, where that was not now. */
  start(request: StartRequest): Promise<{ pid: number; since?: number }>;
  list(): Promise<LiveRun[]>;
  remove(run: RunId): Promise<void>;
  retitle(run: RunId, title: string): Promise<void>;
  /** How a terminal becomes a client of the run: the program to become, or the socket to talk to. `remote`: it stands for somebody elsewhere. */
  attachWays(run: RunId, options: { readOnly: boolean; remote?: boolean }): Promise<AttachWays>;
  /** Moves this one client over to `to`; false when it is not there any more, or cannot be moved. It may type there only if it is to. */
  switchClient(client: HostClient, to: RunId, options: { readOnly: boolean }): Promise<boolean>;
  /** This one client leaves and its terminal runs the command instead; false when it is not there any more, or cannot be made to. */
  handOver(client: HostClient, command: readonly string[]): Promise<boolean>;
  /** Sends this one client away. A client that has gone is no error. */
  dismiss(client: HostClient): Promise<void>;
  clients(): Promise<HostClient[]>;
  onClients(listener: () => void): void;
  /** Of a client that has gone: whether it left by its key, as far as that is known here. Told once. */
  leftByKey(client: { pid: number; pidStart: string }): Promise<boolean>;
  /** Lets a client type and the run follow its size, or neither. A client that has gone is no error. */
  setPart(client: HostClient, part: { readOnly: boolean }): Promise<void>;
  /** A line on a client's screen, for a few seconds; `stays`: for minutes, unless there is something else to say of who is there. */
  tell(client: HostClient, text: string, how?: { stays: boolean }): Promise<void>;
  /** What every client of the run shows of who is there. */
  showPeople(run: RunId, people: { driver: string | null; observers: number }): Promise<void>;
  /** How many clients were sent away. */
  detach(run: RunId): Promise<number>;
  /** Bytes for the program to read. As a paste, between the paste marks if the program has asked for them. */
  write(run: RunId, bytes: Uint8Array, options: { paste: boolean }): Promise<Typed>;
  press(run: RunId, keys: readonly Key[]): Promise<Typed>;
  resize(run: RunId, size: { columns: number; rows: number }): Promise<void>;
  screen(run: RunId): Promise<Screen>;
  /** That the recorder ended before the run did, why and when as far as that is known; undefined where it did not. */
  recorderEnd(run: RunId): Promise<RecorderEnd | undefined>;
  /** A recorder that died is replaced by one that writes under a new prefix; false when it could not be. */
  reopenRecording(run: RunId, prefix: string): Promise<boolean>;
  /** These files, the oldest of the recording, are about to be deleted: what the adapter reads in recordings must not go with them. */
  rememberFrom(run: RunId, paths: readonly string[]): void;
  /** Pids of keepers: never part of a run. */
  keeperPids(): number[];
  onLost(listener: () => void): void;
  /** Ends the keepers themselves; every run must have ended. */
  shutdown(): Promise<void>;
}

export function programEnded(): HoldfastError {
  return new HoldfastError("session_ended", "the program has ended, and may not have read the typed text", {
    hint: "read its last output: holdfast logs NAME",
  });
}

/** The program has ended, and its screen with it. */
export function screenGone(): HoldfastError {
  return new HoldfastError("session_ended", "the program has ended and has no screen", {
    hint: "read its last output: holdfast logs NAME",
  });
}

/** For `catch`, once a key was pressed: an answer may end the program, and then its dialog is gone. */
export function goneWithProgram(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "session_ended") throw error;
}

/** A host knows runs, not names: where its hint says NAME, the session's is put. For `catch`. */
export function naming(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HoldfastError) || !error.hint?.includes("NAME")) throw error;
    throw new HoldfastError(error.code, error.message, { hint: error.hint.replaceAll("NAME", name), cause: error });
  };
}

/** How a run is called where only one word fits: a tmux session name, the HOLDFAST_RUN marker. */
export function runMarker(run: RunId): string {
  return `${run.session}-${run.run}`;
}

export const SCOPE_PREFIX = "holdfast-run-";

/** The scope of a run that has one. */
export function scopeUnit(run: RunId): string {
  return SCOPE_PREFIX + runMarker(run);
}

export function parseRunMarker(marker: string): RunId | undefined {
  const match = /^([a-z][a-z2-7]{9})-(\d+)$/.exec(marker);
  return match ? { session: match[1] as SessionId, run: Number(match[2]) } : undefined;
}
