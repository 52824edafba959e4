/** Runs ssh as a child. ssh's own messages are kept apart from remote output, so that a failure can be explained. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { secureSshDirectory } from "@holdfast/platform/home";
import type { Ssh } from "./ssh.ts";

export interface SshEnd {
  code: number | null;
  /** The signal that ended ssh or this process; it is not a failure of ssh. */
  signal: NodeJS.Signals | null;
  /** ssh's own messages, if it failed. */
  said: string;
}

/** Runs ssh on this terminal until it ends. */
export async function superviseSsh(ssh: Ssh, args: readonly string[]): Promise<SshEnd> {
  const log = `${secureSshDirectory()}/log.${process.pid}`;
  const child = spawn(ssh.program, [...ssh.options, "-E", log, ...args], { stdio: "inherit" });
  // Ctrl+C also reaches ssh, which handles it. Other signals are passed on.
  const stay = () => {};
  let endedBy: NodeJS.Signals | null = null;
  const passOn = (signal: NodeJS.Signals) => {
    endedBy = signal;
    child.kill(signal);
  };
  process.on("SIGINT", stay).on("SIGQUIT", stay).on("SIGTERM", passOn).on("SIGHUP", passOn);
  try {
    const { code, signal } = await endOf(child);
    return endedBy === null ? { code, signal, said: readLog(log) } : { code: null, signal: endedBy, said: "" };
  } finally {
    process.off("SIGINT", stay).off("SIGQUIT", stay).off("SIGTERM", passOn).off("SIGHUP", passOn);
    rmSync(log, { force: true });
  }
}

export interface Captured extends SshEnd {
  stdout: string;
  stderr: string;
}

/** Runs ssh without input and captures its output. Without `asks`, ssh never prompts. */
export async function captureSsh(ssh: Ssh, args: readonly string[], options: { signal?: AbortSignal; asks: boolean }): Promise<Captured> {
  const batch = options.asks ? [] : ["-o", "BatchMode=yes"];
  const child = spawn(ssh.program, [...ssh.options, ...batch, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill("SIGKILL");
  options.signal?.addEventListener("abort", end);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  try {
    return { ...(await endOf(child)), said: stderr, stdout, stderr };
  } finally {
    options.signal?.removeEventListener("abort", end);
  }
}

/** Ends this process by the same signal, so that the shell sees it. */
export function asExitCode({ code, signal }: Pick<SshEnd, "code" | "signal">): number {
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  return code ?? 1;
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // Emitted once all pipes close; a shared connection that stays open does not hold them.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function readLog(log: string): string {
  try {
    return readFileSync(log, "utf8");
  } catch {
    return "";
  }
}
