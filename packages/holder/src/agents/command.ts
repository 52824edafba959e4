/**
 * Runs a command in its own process group, so that all of it can be ended: first with SIGTERM, then with SIGKILL. A process that has left the
 * group and the process session is ended with the run, not here.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, type ProcessInfo, signalProcess } from "@holdfast/platform/process";

/** Time for a command to clean up before it is killed. */
const GRACE_MS = 2000;
const LOOK_MS = 40;
/** Child processes may keep the output open. The command's own output has arrived by then. */
const DRAIN_MS = 200;

export interface HowItEnded {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Command {
  stdout: Readable;
  stderr: Readable;
  /** Rejects if the command could not be started. After an abort, resolves once no process of its group is left. */
  ended: Promise<HowItEnded>;
}

export interface Start {
  command: readonly string[];
  cwd: string;
  /** Default: the environment of this process. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Standard input; empty by default. */
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
  // A command may ignore its input.
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
  // A process that even SIGKILL does not end is not waited for.
  for (let waited = 0; waited < GRACE_MS && !ended(); waited += LOOK_MS) await sleep(LOOK_MS);
}

/** Child processes may have their own groups in the process session that the command leads. */
function membersOf(leader: number): ProcessInfo[] {
  return [...allProcesses().values()].filter(({ group, session }) => group === leader || session === leader);
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The group has ended meanwhile.
  }
}

/** The end of a stream's output. Reads the whole stream, because otherwise the command would block. */
export function tailOf(stream: Readable, most: number): () => string {
  let tail = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-most);
  });
  stream.on("error", () => {});
  return () => tail.toString("utf8").replace(/^�+/, "");
}
