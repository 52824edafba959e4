/**
 * systemd scopes of the user: cgroups of their own, apart from the login that a process was started from. Only where the user's manager
 * stays when nobody is logged in (lingering): without it, a scope is torn down seconds after the last logout, with all that is in it.
 *
 * `systemd-run --scope` registers its own process and becomes the program: pid, streams and environment stay.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { findProgram, STANDARD_PATH } from "./program.ts";

export interface Scope {
  /** Without `.scope`. */
  unit: string;
  memoryBytes?: number;
}

/** The command in a scope of its own where that can be, else as it is. */
export function inScope(scope: Scope, command: readonly string[]): string[] {
  const manager = userManager();
  if (!manager) return [...command];
  // One process that the kernel kills for its memory is not the end of the others. Older ones do so anyway, and refuse the word.
  const properties = manager.version >= 253 ? ["OOMPolicy=continue"] : [];
  if (scope.memoryBytes !== undefined) properties.push(`MemoryMax=${scope.memoryBytes}`, "MemorySwapMax=0");
  const flags = ["--user", "--scope", "--quiet", "--collect", `--unit=${scope.unit}`, ...properties.flatMap((text) => ["-p", text])];
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
  return process.platform === "linux" && existsSync(`/var/lib/systemd/linger/${userInfo().username}`);
}

function userManager(): { program: string; runtimeDirectory: string; version: number } | undefined {
  if (!isLingering()) return undefined;
  const runtimeDirectory = `/run/user/${process.getuid?.()}`;
  const program = existsSync(`${runtimeDirectory}/systemd/private`) && findProgram("systemd-run", STANDARD_PATH, "/");
  return program ? { program, runtimeDirectory, version: versionOf(program) } : undefined;
}

let version: number | undefined;

function versionOf(program: string): number {
  version ??= Number(/\d+/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[0] ?? 0);
  return version;
}
