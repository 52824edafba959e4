/** Completion over ssh: a key press never asks for a password, and never waits for a machine that does not answer. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { configuredMachines, findMachine } from "./machine.ts";
import { findSsh } from "./ssh.ts";
import { sshArguments } from "./ssh-arguments.ts";
import { captureSsh } from "./supervise.ts";

/** Enough for a login on a good network; later requests take a tenth of it. */
const PATIENCE_MS = 2000;

/** Candidates that the remote holdfast offers for these words. */
export async function farCandidates(name: string, words: readonly string[]): Promise<string[]> {
  const machine = await findMachine(name);
  const ssh = findSsh(machine);
  const args = sshArguments(ssh, machine, { argv: ["__complete", "--", ...words], terminal: false });
  const { code, stdout } = await captureSsh(ssh, args, { asks: false, signal: AbortSignal.timeout(PATIENCE_MS) });
  return code === 0 ? stdout.split("\n").filter(Boolean) : [];
}

/** Names from config.toml and from the ssh configuration. */
export async function machineNames(): Promise<string[]> {
  const configured = Object.keys(await configuredMachines().catch(() => ({})));
  return [...new Set([...configured, ...sshNames()])];
}

function sshNames(): string[] {
  let text: string;
  try {
    text = readFileSync(join(homedir(), ".ssh/config"), "utf8");
  } catch {
    return [];
  }
  const names = [...text.matchAll(/^\s*host\s*[ =]\s*(.+)$/gim)].flatMap(([, list = ""]) => list.trim().split(/\s+/));
  return names.filter((name) => /^[\w.@-]+$/.test(name));
}
