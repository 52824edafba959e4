/**
 * The port to the keepers of runs. A keeper outlives the daemon, so this interface has only commands and questions. A program's output and exit
 * reach the daemon through files in the run's directory.
 *
 * Guarantees of every adapter:
 * - `start` returns once the program has a pid. The recording is complete from the first byte. If `start` throws, nothing runs.
 * - The keeper writes `exit.json` (temp + rename) when the program has ended, with or without a daemon.
 * - `list` reports the real state and never guesses; it throws if the state is unknown. A missing keeper has no runs.
 * - `remove` removes an ended run's keeper once the recording has its last byte. A second call does nothing.
 * - `write` and `press` resolve when the keeper has accepted all input. Two calls never interleave. They return how much input is still unread, if
 *   the keeper knows. They throw `session_ended` if the program has ended, and may throw `input_full` if it has left a lot unread.
 * - `clients` lists the terminals that show each run, or throws if that is unknown. `onClients` is called when a client attaches, leaves (also by
 *   dying), moves to another run or changes its part. Callers must poll keepers that cannot notify.
 * - `onLost` is called when a keeper disappeared without reporting how its runs ended.
 */
import { type ConversationOrder, HoldfastError, type HostName, type Screen, type SessionId, sessionId } from "@holdfast/contract";
import type { Key } from "./keys.ts";

export interface RunId {
  session: SessionId;
  run: number;
}

export interface StartRequest extends RunId {
  /** The run's directory. It exists and contains `launch`, the script that becomes the program. */
  directory: string;
  /** Shown to attached terminals. */
  title: string;
  columns: number;
  rows: number;
  /** Set for conversations: their program uses a protocol and has no terminal. */
  conversation?: ConversationOrder | undefined;
}

export interface LiveRun extends RunId {
  pid: number;
  /** The program has ended and its keeper waits for removal. `exit` is the exit as far as the keeper knows it. */
  dead: boolean;
  exit: { code: number | null; signal: string | null } | null;
  recording: boolean;
}

export interface Typed {
  /** Bytes that the program has not read from its terminal yet; null if the keeper does not know. */
  waiting: number | null;
}

/** A terminal that shows a run. `key` is unique among the living clients of its host. */
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
  /** `since`: the start time, if the program started before this call. */
  start(request: StartRequest): Promise<{ pid: number; since?: number }>;
  list(): Promise<LiveRun[]>;
  remove(run: RunId): Promise<void>;
  retitle(run: RunId, title: string): Promise<void>;
  /**
   * How a terminal becomes a client of the run: a program to exec, or a socket to talk to. `remote`: the client acts for a user on another machine.
   */
  attachWays(run: RunId, options: { readOnly: boolean; remote?: boolean }): Promise<AttachWays>;
  /** Moves this client to `to`; false if the client is gone or cannot be moved. The client may type there unless `readOnly`. */
  switchClient(client: HostClient, to: RunId, options: { readOnly: boolean }): Promise<boolean>;
  /** Detaches this client and makes its terminal run the command; false if the client is gone or its host cannot do that. */
  handOver(client: HostClient, command: readonly string[]): Promise<boolean>;
  /** Detaches this client. Does nothing if the client is gone. */
  dismiss(client: HostClient): Promise<void>;
  clients(): Promise<HostClient[]>;
  onClients(listener: () => void): void;
  /** True if this client, now gone, was detached by the detach key, as far as the host knows. Answered once per client. */
  leftByKey(client: { pid: number; pidStart: string }): Promise<boolean>;
  /** Lets a client type and control the run's size, or takes both away. Does nothing if the client is gone. */
  setPart(client: HostClient, part: { readOnly: boolean }): Promise<void>;
  /** Shows a line on a client's screen for a few seconds. `stays`: for minutes, or until the next notice about drivers and observers. */
  tell(client: HostClient, text: string, how?: { stays: boolean }): Promise<void>;
  /** Shows the driver and the number of observers to every client of the run. */
  showPeople(run: RunId, people: { driver: string | null; observers: number }): Promise<void>;
  /** Returns the number of detached clients. */
  detach(run: RunId): Promise<number>;
  /** Types bytes into the program. A paste gets bracketed-paste marks if the program has asked for them. */
  write(run: RunId, bytes: Uint8Array, options: { paste: boolean }): Promise<Typed>;
  press(run: RunId, keys: readonly Key[]): Promise<Typed>;
  resize(run: RunId, size: { columns: number; rows: number }): Promise<void>;
  screen(run: RunId): Promise<Screen>;
  /** Why and when the recorder ended before its run, as far as known; undefined if it did not. */
  recorderEnd(run: RunId): Promise<RecorderEnd | undefined>;
  /** Replaces a dead recorder by one that writes under a new prefix; false if that failed. */
  reopenRecording(run: RunId, prefix: string): Promise<boolean>;
  /** Announces that the oldest files of the recording are about to be deleted. The adapter must first keep whatever it needs from them. */
  rememberFrom(run: RunId, paths: readonly string[]): void;
  /** Pids of keepers, which are never part of a run. */
  keeperPids(): number[];
  onLost(listener: () => void): void;
  /** Ends the keepers themselves. Every run must have ended. */
  shutdown(): Promise<void>;
}

export function programEnded(): HoldfastError {
  return new HoldfastError("session_ended", "the program has ended, and may not have read the typed text", {
    hint: "read its last output: holdfast logs NAME",
  });
}

export function screenGone(): HoldfastError {
  return new HoldfastError("session_ended", "the program has ended and has no screen", {
    hint: "read its last output: holdfast logs NAME",
  });
}

/** For `catch` after a key press: the answer may have ended the program, and the dialog with it. */
export function goneWithProgram(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "session_ended") throw error;
}

/** For `catch`: replaces NAME in a host's hint with the session's name, because hosts know runs, not names. */
export function naming(name: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof HoldfastError) || !error.hint?.includes("NAME")) throw error;
    throw new HoldfastError(error.code, error.message, { hint: error.hint.replaceAll("NAME", name), cause: error });
  };
}

/** A run's name where only one word fits: a tmux session name, the HOLDFAST_RUN marker. */
export function runMarker(run: RunId): string {
  return `${run.session}-${run.run}`;
}

export const SCOPE_PREFIX = "holdfast-run-";

/** The name of the run's systemd scope. */
export function scopeUnit(run: RunId): string {
  return SCOPE_PREFIX + runMarker(run);
}

export function parseRunMarker(marker: string): RunId | undefined {
  const [, id, run] = /^([a-z][a-z2-7]{9})-(\d+)$/.exec(marker) ?? [];
  return id === undefined ? undefined : { session: sessionId(id), run: Number(run) };
}
