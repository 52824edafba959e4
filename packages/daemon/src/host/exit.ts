import { constants } from "node:os";
import type { Exit } from "@holdfast/contract";

/** As keepers write it: a status for an exit, a signal's number or name for a death by signal; tmux before 3.3 has no signal. */
export function parseExit(status: string, signal: string): Exit {
  return signal === "" ? { code: status === "" ? null : Number(status), signal: null } : { code: null, signal: signalName(signal) };
}

function signalName(signal: string): string {
  const number = Number(signal);
  if (Number.isNaN(number)) return signal.startsWith("SIG") ? signal : `SIG${signal}`;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}
