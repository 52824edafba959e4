import { isatty } from "node:tty";
import { VERSION } from "@holdfast/contract/version";
import { farLine } from "./far-line.ts";
import type { Machine } from "./machine.ts";
import type { Ssh } from "./ssh.ts";

/** Arguments for ssh that run this call on the machine. */
export function sshArguments(
  ssh: Ssh,
  machine: Machine,
  call: { argv: readonly string[]; terminal: boolean; input?: boolean; startsPrograms?: boolean | undefined; env?: Record<string, string> },
): string[] {
  const how = call.terminal ? ["-t", "-e", "none"] : ["-T", ...(call.input ? [] : ["-n"])];
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const line = farLine({
    machine: machine.name,
    command: machine.command,
    args: call.argv,
    startsPrograms: call.startsPrograms === true,
    env: { ...environment(call.terminal), HOLDFAST_CALLED: machine.name, ...call.env },
    locale: LC_ALL || LC_CTYPE || LANG,
  });
  return [...how, "--", ssh.destination, line];
}

/** Variables that ssh does not pass on. */
function environment(terminal: boolean): Record<string, string> {
  const { NO_COLOR, COLORTERM, TERM } = process.env;
  const screen = terminal ? undefined : screenHere();
  return {
    HOLDFAST_CALLER: VERSION,
    ...(NO_COLOR ? { NO_COLOR } : {}),
    ...(COLORTERM ? { COLORTERM } : {}),
    ...(screen === undefined ? {} : { HOLDFAST_SCREEN: screen, ...(TERM ? { TERM } : {}) }),
  };
}

/** The local outputs that are terminals, and their size: the remote side only has pipes. */
function screenHere(): string | undefined {
  const names = [isatty(1) ? "out" : "", isatty(2) ? "err" : ""].filter(Boolean);
  if (names.length === 0) return undefined;
  const { columns = 80, rows = 24 } = isatty(1) ? process.stdout : process.stderr;
  return `${columns}x${rows}:${names.join(",")}`;
}
