import { HoldfastError } from "@holdfast/contract/errors";
import type { Machine } from "./machine.ts";
import { findSsh } from "./ssh.ts";
import { sshArguments } from "./ssh-arguments.ts";
import { SSH_FAILED, sshFailure } from "./ssh-failure.ts";

/** The JSON answer of a remote command, or the error that it reported. */
export async function askFar(machine: Machine, argv: readonly string[]): Promise<unknown> {
  const ssh = findSsh(machine);
  const { captureSsh } = await import("./supervise.ts");
  const end = await captureSsh(ssh, sshArguments(ssh, machine, { argv, terminal: false }), { asks: true });
  if (end.code === 0) return JSON.parse(end.stdout);
  throw end.code === SSH_FAILED ? sshFailure(machine, end.said) : toldError(end.stderr);
}

/** Parses the error that a remote command with --json printed on standard error. */
export function toldError(stderr: string): HoldfastError {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  try {
    return HoldfastError.fromBody((JSON.parse(line) as { error: { code?: string } }).error);
  } catch (cause) {
    return new HoldfastError("internal", line || "no answer from the remote machine", { cause });
  }
}
