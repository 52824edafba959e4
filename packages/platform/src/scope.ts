/**
 * systemd scopes of the user: cgroups of their own, apart from the login that a process was started from. Only where the user's manager
 * stays when nobody is logged in (lingering): without it, a scope is torn down seconds after the last logout, with all that is in it.
 *
 * `systemd-run --scope` registers its own process and becomes the program: pid, streams and environment stay.
 */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { findProgram, STANDARD_PATH } from "./program.ts";
import { userName } from "./user.ts";

export interface Scope {
  /** Without `.scope`. */
  unit: string;
  memoryBytes?: number;
}

const SCOPE = ["--user", "--scope", "--quiet", "--collect"];

/** The command in a scope of its own where that can be, else as it is. */
export function inScope(scope: Scope, command: readonly string[]): string[] {
  const manager = userManager();
  if (!manager) return [...command];
  // One process that the kernel kills for its memory is not the end of the others. Older ones do so anyway, and refuse the word.
  const properties = manager.version >= 253 ? ["OOMPolicy=continue"] : [];
  if (scope.memoryBytes !== undefined) properties.push(`MemoryMax=${scope.memoryBytes}`, "MemorySwapMax=0");
  const flags = [...SCOPE, `--unit=${scope.unit}`, ...properties.flatMap((text) => ["-p", text])];
  return ["env", `XDG_RUNTIME_DIR=${manager.runtimeDirectory}`, manager.program, ...flags, "--", ...command];
}

export function hasScopes(): boolean {
  return userManager() !== undefined;
}

/** The unit of the scope that a process is in, if it is in one. */
export function scopeOf(pid: number): string | undefined {
  try {
    return /\/([^/\n]+)\.scope(?:\/|\n|$)/.exec(readFileSync(`/proc/${pid}/cgroup`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

export function isLingering(): boolean {
  return process.platform === "linux" && existsSync(`/var/lib/systemd/linger/${userName()}`);
}

interface Manager {
  program: string;
  runtimeDirectory: string;
  version: number;
}

/** How long an answer of the manager is good for: it may be restarted, or hang. */
const TRUST_MS = 60_000;
const ANSWER_MS = 5000;

let asked: { at: number; manager: Manager | undefined } | undefined;

function userManager(): Manager | undefined {
  if (!isLingering()) return undefined;
  if (!asked || performance.now() > asked.at + TRUST_MS) asked = { at: performance.now(), manager: askManager() };
  return asked.manager;
}

/** One that does not make a scope now is as good as none: nothing must fail to start for want of it. */
function askManager(): Manager | undefined {
  const runtimeDirectory = `/run/user/${process.getuid?.()}`;
  const program = existsSync(`${runtimeDirectory}/systemd/private`) && findProgram("systemd-run", STANDARD_PATH, "/");
  if (!program) return undefined;
  const options: ExecFileSyncOptionsWithStringEncoding = {
    encoding: "utf8",
    timeout: ANSWER_MS,
    stdio: ["ignore", "pipe", "ignore"],
    env: { XDG_RUNTIME_DIR: runtimeDirectory },
  };
  try {
    execFileSync(program, [...SCOPE, "--", "true"], options);
    return { program, runtimeDirectory, version: Number(/\d+/.exec(execFileSync(program, ["--version"], options))?.[0] ?? 0) };
  } catch {
    return undefined;
  }
}
