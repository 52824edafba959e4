import { constants } from "node:os";
import type { Exit } from "@holdfast/contract";

/** Of several names for one number (SIGABRT, SIGIOT) the first. */
const NAMES = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
);

/** As keepers write it: a status for an exit, a signal's number or name for a death by signal; tmux before 3.3 has no signal. */
export function parseExit(status: string, signal: string): Exit {
  return signal === "" ? { code: /^\d+$/.test(status) ? Number(status) : null, signal: null } : { code: null, signal: signalName(signal) };
}

function signalName(signal: string): string {
  const number = Number(signal);
  if (Number.isNaN(number)) return signal.startsWith("SIG") ? signal : `SIG${signal}`;
  return NAMES.get(number) ?? `SIG${number}`;
}
