/**
 * `holdfast -H machine …`: runs the same command line with the holdfast of another machine, through ssh. Holdfast does not listen on the
 * network, and the remote machine needs only the CLI.
 *
 * There are three ways. Most commands run there unchanged through ssh, and this process waits. Commands that take over the terminal (`attach`,
 * `next`) have a parent here that reconnects after a break; keys pass through ssh alone. Commands that follow (`logs -f`, `events -f`, `wait`)
 * run here and send requests through ssh to the remote daemon. They know their position, and continue from it on the next connection.
 */
import { isatty } from "node:tty";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { type Declared, declared } from "./declared.ts";
import { findMachine, type Machine, splitMachine } from "./machine.ts";
import { findSsh } from "./ssh.ts";
import { sshArguments } from "./ssh-arguments.ts";
import { connectionBroke, isNeverConnected, SSH_FAILED, sshFailure } from "./ssh-failure.ts";

export type Way = { code: number } | { argv: string[]; client?: HoldfastClient };

export async function goFar(argv: readonly string[]): Promise<Way> {
  const { name, rest } = splitMachine(argv);
  const asked = await declared(rest);
  if (name === undefined || asked.runsHere) return { argv: rest };
  const machine = await findMachine(name);
  if (asked.follows) {
    const { farClient } = await import("./far-client.ts");
    return { argv: rest, client: farClient(machine) };
  }
  if (isPutOnTerminal(rest)) return { code: await (await import("./reattach.ts")).attachFar(machine, rest) };
  if (isChatOnTerminal(rest)) return { code: await (await import("./reattach.ts")).talkFar(machine, rest) };
  return { code: await sendThere(machine, rest, asked) };
}

async function sendThere(machine: Machine, argv: readonly string[], { onlyPrints, startsPrograms }: Declared): Promise<number> {
  const ssh = findSsh(machine);
  const terminal = hasTerminal() && (!onlyPrints || attaches(argv));
  // In a loop that reads lines, ssh must not consume the remaining lines. Only commands that read their input get it.
  const args = sshArguments(ssh, machine, { argv, terminal, startsPrograms, input: argv.includes("-") || saysItsInput(argv) });
  const { asExitCode, superviseSsh } = await import("./supervise.ts");
  const end = await superviseSsh(ssh, args);
  if (end.code !== SSH_FAILED) return asExitCode(end);
  throw isNeverConnected(end.said) ? sshFailure(machine, end.said) : connectionBroke(machine);
}

/** A flag of the program that a command starts is not the command's. */
function attaches(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return /^(spawn|start|resume|fork)$/.test(argv[0] ?? "") && (end < 0 ? argv : argv.slice(0, end)).includes("--attach");
}

/** Without a prompt, `chat` reads its message from a pipe. */
function saysItsInput(argv: readonly string[]): boolean {
  const isSaid = argv.some((word) => /^(-p.*|--prompt(=.*)?|--help|-h)$/.test(word));
  return argv[0] === "chat" && !isSaid && !process.stdin.isTTY;
}

function isPutOnTerminal(argv: readonly string[]): boolean {
  const [name = "", ...args] = argv;
  const isOther = args.some((word) => word === "--json" || word === "--help" || word === "-h");
  return (name === "attach" || name === "next") && !isOther && hasTerminal();
}

function isChatOnTerminal([name, ...args]: readonly string[]): boolean {
  const isOther = args.some((word) => /^(-p.*|--prompt(=.*)?|--json|--help|-h)$/.test(word));
  return name === "chat" && !isOther && hasTerminal();
}

function hasTerminal(): boolean {
  return [0, 1, 2].every((descriptor) => isatty(descriptor));
}
