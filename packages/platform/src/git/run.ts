/**
 * Runs git to its end. One that takes long is looked after: if it waits for a named pipe, or makes no progress at all, it is ended with all that it
 * started, and the error says why. No git outlives a process of ours that ends by itself.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import { allProcesses, type ProcessInfo, signalProcess } from "../process.ts";
import type { GitCommand, GitOptions, GitResult } from "./command.ts";
import { findPipe, pipeInTheWay } from "./pipes.ts";
import type { GitPlace } from "./place.ts";

/** Enough for the list of every file of a large repository. */
const MOST_OUTPUT = 256 << 20;

export interface Patience {
  /** Most commands end before anybody looks; the time between two looks doubles. */
  lookMs: number;
  /** A remote may think about a push for minutes, and nothing is heard of it meanwhile. */
  stalledMs: number;
}

const PATIENCE: Patience = { lookMs: 2000, stalledMs: 600_000 };

/** Until it is ended by force. Git removes its lock files when it is asked to end. */
const GRACE_MS = 2000;

export interface Running extends Pick<GitOptions, "input" | "encoding" | "signal"> {
  place?: GitPlace | undefined;
  patience?: Patience;
}

export function runCommand(directory: string, { program, args, env }: GitCommand, running: Running): Promise<GitResult> {
  const { input, encoding, signal, place, patience = PATIENCE } = running;
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  // In a process group of its own, which is ended as a whole.
  const child = spawn(program, args, { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  child.on("error", reject);
  // For want of descriptors there are no pipes, and nothing to end.
  if (child.stdout === undefined) return promise;
  children.add(child);
  child.once("exit", () => children.delete(child));
  const over = new AbortController();
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let bytes = 0;
  let heard = 0;
  const giveUp = (why: unknown) => {
    end(child);
    reject(why);
  };
  const abandon = () => giveUp(signal?.reason);
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    heard += chunk.length;
    if (bytes <= MOST_OUTPUT) out.push(chunk);
    else end(child);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    heard += chunk.length;
    if (heard - bytes <= MOST_OUTPUT) err.push(chunk);
  });
  child.on("close", (code) => {
    if (bytes > MOST_OUTPUT) return reject(new Error(`git printed more than ${MOST_OUTPUT >> 20} MB`));
    resolve({ code: code ?? -1, stdout: Buffer.concat(out).toString(encoding), stderr: Buffer.concat(err).toString() });
  });
  // One that ends without reading all of it says why itself.
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  signal?.addEventListener("abort", abandon);
  if (signal?.aborted) abandon();
  void lookAfter({ child, place, patience, signal: over.signal, heard: () => heard, giveUp });
  return promise.finally(() => {
    over.abort();
    signal?.removeEventListener("abort", abandon);
  });
}

interface LookedAfter extends Pick<Running, "place"> {
  child: ChildProcess;
  patience: Patience;
  signal: AbortSignal;
  heard: () => number;
  giveUp: (why: HoldfastError) => void;
}

async function lookAfter({ child, place, patience, signal, heard, giveUp }: LookedAfter): Promise<void> {
  let before = "";
  let since = performance.now();
  for (let wait = patience.lookMs; await elapses(wait, signal); wait = Math.min(wait * 2, patience.stalledMs / 4)) {
    const pipe = place && (await findPipe(place, signal).catch(() => undefined));
    if (signal.aborted) return;
    if (pipe !== undefined) return giveUp(pipeInTheWay(pipe));
    const now = `${heard()} ${processorTime(child)}`;
    if (now !== before) since = performance.now();
    else if (performance.now() - since >= patience.stalledMs) return giveUp(stalled(patience));
    before = now;
  }
}

function stalled({ stalledMs }: Patience): HoldfastError {
  const message = `git made no progress for ${Math.ceil(stalledMs / 1000)} seconds and was stopped`;
  return new HoldfastError("git_failed", message, { hint: "run it by hand in the same directory to see why it hangs" });
}

/** False: there is nothing to wait for any more. Keeps no process from ending. */
function elapses(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const done = () => resolve(!signal.aborted);
  const timer = setTimeout(done, ms).unref();
  signal.addEventListener("abort", done, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", done);
  });
}

/** Of git and all that it started. */
function processorTime(child: ChildProcess): number {
  return groupOf(child).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

function groupOf({ pid }: ChildProcess): ProcessInfo[] {
  return [...allProcesses().values()].filter(({ group }) => group === pid);
}

const children = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of children) end(child);
});

function end(child: ChildProcess): void {
  const members = groupOf(child);
  for (const { pid, start } of members) signalProcess(pid, start, "SIGTERM");
  setTimeout(() => {
    for (const { pid, start } of members) signalProcess(pid, start, "SIGKILL");
  }, GRACE_MS).unref();
}
