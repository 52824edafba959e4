import { constants } from "node:os";
import type { Exit } from "@holdfast/contract";

/** Signal names by number. If a number has several names (SIGABRT, SIGIOT), the first one wins. */
const NAMES = new Map(
  Object.entries(constants.signals)
    .map(([name, number]) => [number, name] as const)
    .reverse(),
);

/**
 * Parses the exit as keepers write it: a status after an exit, a signal number or name after a death by signal. tmux before 3.3 reports no signal.
 */
export function parseExit(status: string, signal: string): Exit {
  return signal === "" ? { code: /^\d+$/.test(status) ? Number(status) : null, signal: null } : { code: null, signal: signalName(signal) };
}

function signalName(signal: string): string {
  const number = Number(signal);
  if (Number.isNaN(number)) return signal.startsWith("SIG") ? signal : `SIG${signal}`;
  return NAMES.get(number) ?? `SIG${number}`;
}
