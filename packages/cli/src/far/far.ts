/**
 * `holdfast -H machine …`: runs the same command line with the holdfast of another machine, through ssh. Holdfast does not listen on the
 * network, and the remote machine needs only the CLI.
 *
 * There are three ways. Most commands run there unchanged through ssh, and this process waits. Commands that take over the terminal (`attach`,
 * `next`) have a parent here that reconnects after a break; keys pass through ssh alone. Commands that follow (`logs -f`, `events -f`, `wait`)
 * run here and send requests through ssh to the remote daemon. They know their position, and continue from it on the next connection.
 */
import { isatty } from "node:tty";
import { HoldfastError } from "@holdfast/contract/errors";
import { VERSION } from "@holdfast/contract/version";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { farLine } from "./far-line.ts";
import { findMachine, type Machine, splitMachine } from "./machine.ts";
import { findSsh, type Ssh } from "./ssh.ts";
import { connectionBroke, isNeverConnected, SSH_FAILED, sshFailure } from "./ssh-failure.ts";

export type Way = { code: number } | { argv: string[]; client?: HoldfastClient };

/** Commands that only print: typed input belongs to the calling shell. All others get a terminal, if there is one. */
const ONLY_PRINT: ReadonlySet<string> = new Set(
  "agents approvals audit cancel compare detach digest du events explain export keys last logs ls messages orphans personas rename rm run screen send show spawn status statusline stop token transcript usage version".split(
    " ",
  ),
);

export async function goFar(argv: readonly string[]): Promise<Way> {
  const { name, rest } = splitMachine(argv);
  if (name === undefined || isAboutThisProgram(rest[0])) return { argv: rest };
  const machine = await findMachine(name);
  const { follows } = await import("./follows.ts");
  if (await follows(rest)) {
    const { farClient } = await import("./far-client.ts");
    return { argv: rest, client: farClient(machine) };
  }
  if (isPutOnTerminal(rest)) return { code: await (await import("./reattach.ts")).attachFar(machine, rest) };
  if (isChatOnTerminal(rest)) return { code: await (await import("./reattach.ts")).talkFar(machine, rest) };
  return { code: await sendThere(machine, rest) };
}

/** Arguments for ssh that run this call on the machine. */
export function sshArguments(
  ssh: Ssh,
  machine: Machine,
  call: { argv: readonly string[]; terminal: boolean; input?: boolean; env?: Record<string, string> },
): string[] {
  const how = call.terminal ? ["-t", "-e", "none"] : ["-T", ...(call.input ? [] : ["-n"])];
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  const line = farLine({
    machine: machine.name,
    command: machine.command,
    args: call.argv,
    env: { ...environment(call.terminal), HOLDFAST_CALLED: machine.name, ...call.env },
    locale: LC_ALL || LC_CTYPE || LANG,
  });
  return [...how, "--", ssh.destination, line];
}

async function sendThere(machine: Machine, argv: readonly string[]): Promise<number> {
  const ssh = findSsh(machine);
  const terminal = hasTerminal() && (!ONLY_PRINT.has(argv[0] ?? "") || isTalk(argv));
  // In a loop that reads lines, ssh must not consume the remaining lines. Only commands that read their input get it.
  const args = sshArguments(ssh, machine, { argv, terminal, input: argv.includes("-") || saysItsInput(argv) });
  const { asExitCode, superviseSsh } = await import("./supervise.ts");
  const end = await superviseSsh(ssh, args);
  if (end.code !== SSH_FAILED) return asExitCode(end);
  throw isNeverConnected(end.said) ? sshFailure(machine, end.said) : connectionBroke(machine);
}

function isAboutThisProgram(name: string | undefined): boolean {
  return name === undefined || ["--help", "-h", "help", "completion", "__complete"].includes(name);
}

/** True for `spawn` used as `chat`, or with `--attach`. */
function isTalk(argv: readonly string[]): boolean {
  return argv[0] === "spawn" && argv.some((word) => /^(-i|--interactive|--attach|--session(=.*)?|--resume(=.*)?)$/.test(word));
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
