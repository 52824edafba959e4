/**
 * systemd scopes of the user: separate cgroups outside the login that started a process. They are used only if the user's manager stays after logout
 * (lingering): otherwise a scope and everything in it is stopped seconds after the last logout.
 *
 * `systemd-run --scope` registers its own process and becomes the program: pid, streams and environment stay.
 */
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { findProgram, STANDARD_PATH } from "./program.ts";
import { userName } from "./user.ts";

export interface Scope {
  /** Name without `.scope`. */
  unit: string;
  memoryBytes?: number;
}

const SCOPE = ["--user", "--scope", "--quiet", "--collect"];

/** Wraps the command in its own scope if possible; otherwise returns it unchanged. */
export function inScope(scope: Scope, command: readonly string[]): string[] {
  const manager = userManager();
  if (!manager) return [...command];
  // When the kernel kills one process for its memory, the others continue. Older versions do that anyway, and reject the property.
  const properties = manager.version >= 253 ? ["OOMPolicy=continue"] : [];
  if (scope.memoryBytes !== undefined) properties.push(`MemoryMax=${scope.memoryBytes}`, "MemorySwapMax=0");
  const flags = [...SCOPE, `--unit=${scope.unit}`, ...properties.flatMap((text) => ["-p", text])];
  return ["env", `XDG_RUNTIME_DIR=${manager.runtimeDirectory}`, manager.program, ...flags, "--", ...command];
}

export function hasScopes(): boolean {
  return userManager() !== undefined;
}

/** Unit of the scope that contains the process, if any. */
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

/** How long an answer of the manager stays valid: it may be restarted, or hang. */
const TRUST_MS = 60_000;
const ANSWER_MS = 5000;

let asked: { at: number; manager: Manager | undefined } | undefined;

function userManager(): Manager | undefined {
  if (!isLingering()) return undefined;
  if (!asked || performance.now() > asked.at + TRUST_MS) asked = { at: performance.now(), manager: askManager() };
  return asked.manager;
}

/** A manager that cannot create a scope now counts as none: no start may fail because of it. */
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
