/**
 * Runs git to its end and watches slow commands. A git that waits for a named pipe or makes no progress is stopped together with all its children,
 * and the error says why. No git outlives a Holdfast process that ends normally.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import { allProcesses, type ProcessInfo, signalProcess } from "../process.ts";
import { findPipe, pipeInTheWay } from "./pipes.ts";
import type { GitPlace } from "./place.ts";

/** Enough to list every file of a large repository. */
const MOST_OUTPUT = 256 << 20;

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface GitCommand {
  program: string;
  args: string[];
  env: Record<string, string>;
}

export interface Patience {
  /** Time until the first check, which most commands do not reach; it doubles after each check. */
  lookMs: number;
  /** A remote may process a push for minutes without any output. */
  stalledMs: number;
}

const PATIENCE: Patience = { lookMs: 2000, stalledMs: 600_000 };

/** Time before SIGKILL. On SIGTERM git removes its lock files. */
const GRACE_MS = 2000;

export interface Running {
  input?: string | Uint8Array;
  /** Encoding of the output. `latin1` keeps every byte: file names need not be UTF-8. */
  encoding?: BufferEncoding;
  signal?: AbortSignal;
  place?: GitPlace | undefined;
  patience?: Patience;
}

export function runCommand(directory: string, { program, args, env }: GitCommand, running: Running): Promise<GitResult> {
  const { input, encoding, signal, place, patience = PATIENCE } = running;
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  // Its own process group, so that it can be stopped as a whole.
  const child = spawn(program, args, { cwd: directory, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  child.on("error", reject);
  // Without free descriptors there are no pipes and no process to stop.
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
  // A program that ends without reading all input reports the reason itself.
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

/** False if the wait was aborted. Does not keep the process alive. */
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

/** Processor time of git and its process group. */
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
