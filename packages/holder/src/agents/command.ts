/**
 * A command in a process group of its own, so that all of it can be ended: what was asked for first, then by force. A process that has left the group
 * is the run's to end, not ours.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, type ProcessInfo, signalProcess } from "@holdfast/platform/process";

/** Time to put things right, before it is killed. */
const GRACE_MS = 2000;
const LOOK_MS = 40;
/** What it started may keep its output open. What it had said itself is there by then. */
const DRAIN_MS = 200;

export interface HowItEnded {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Command {
  stdout: Readable;
  stderr: Readable;
  /** Rejects where it could not be started. Of one that was ended by the signal: when nothing of its group is left. */
  ended: Promise<HowItEnded>;
}

export interface Start {
  command: readonly string[];
  cwd: string;
  /** The process's own without it. */
  env?: Readonly<Record<string, string>> | undefined;
  /** What it reads; without it, nothing. */
  input?: string;
  signal: AbortSignal;
}

export function start({ command: [program = "", ...args], cwd, env, input, signal }: Start): Command {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(program, args, {
    cwd,
    detached: true,
    stdio: "pipe",
    ...(env ? { env } : {}),
  });
  // One that does not read what it is given has every right to.
  child.stdin.on("error", () => {});
  child.stdin.end(input ?? "");
  let ending: Promise<void> | undefined;
  const stop = () => {
    if (child.pid !== undefined) ending = endGroup(child.pid);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  const { promise: ended, resolve, reject } = Promise.withResolvers<HowItEnded>();
  child.once("error", reject);
  child.once("exit", (code, by) => {
    signal.removeEventListener("abort", stop);
    const drained = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, DRAIN_MS);
    child.once("close", () => clearTimeout(drained));
    Promise.resolve(ending).then(() => resolve({ code, signal: by }), reject);
  });
  return { stdout: child.stdout, stderr: child.stderr, ended };
}

async function endGroup(group: number): Promise<void> {
  const ended = () => !membersOf(group).some(({ zombie }) => !zombie);
  signalGroup(group, "SIGTERM");
  for (let waited = 0; waited < GRACE_MS && !ended(); waited += LOOK_MS) await sleep(LOOK_MS);
  for (const { pid, start } of membersOf(group)) signalProcess(pid, start, "SIGKILL");
  // What the kernel does not let go of even then is not waited for.
  for (let waited = 0; waited < GRACE_MS && !ended(); waited += LOOK_MS) await sleep(LOOK_MS);
}

/** What it started may have groups of their own, in the process session that it leads. */
function membersOf(leader: number): ProcessInfo[] {
  return [...allProcesses().values()].filter(({ group, session }) => group === leader || session === leader);
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}

/** The end of what a stream says, however long it is. Reads all of it, or the command would wait. */
export function tailOf(stream: Readable, most: number): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-most);
  });
  stream.on("error", () => {});
  return () => tail.toString("utf8").replace(/^�+/, "");
}
