/**
 * `holdfast -H machine …`: the same command line, done by the holdfast of another machine, through ssh. Nothing of Holdfast listens on the
 * network and nothing but the CLI is needed there.
 *
 * Three ways. Most commands are sent there as they are, by ssh, and this process waits for it. What is put on a terminal (`attach`,
 * `next`) has a parent that comes back when the connection breaks; keys go through ssh alone. What follows (`logs -f`, `events -f`, `wait`)
 * runs here, on requests that go through ssh to the far daemon: it knows how far it got, and goes on from there on the next connection.
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

/** They only print, at once: what is typed meanwhile is for the shell they were called from. All others get a terminal, if there is one. */
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

/** The arguments of ssh that run this there. */
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
  // A loop that reads lines, and calls this for each, must not lose the others to ssh: only who asks for its input gets it.
  const args = sshArguments(ssh, machine, { argv, terminal, input: argv.includes("-") || saysItsInput(argv) });
  const { asExitCode, superviseSsh } = await import("./supervise.ts");
  const end = await superviseSsh(ssh, args);
  if (end.code !== SSH_FAILED) return asExitCode(end);
  throw isNeverConnected(end.said) ? sshFailure(machine, end.said) : connectionBroke(machine);
}

function isAboutThisProgram(name: string | undefined): boolean {
  return name === undefined || ["--help", "-h", "help", "completion", "__complete"].includes(name);
}

/** `spawn` as another name for `chat`, or with `--attach`. */
function isTalk(argv: readonly string[]): boolean {
  return argv[0] === "spawn" && argv.some((word) => /^(-i|--interactive|--attach|--session(=.*)?|--resume(=.*)?)$/.test(word));
}

/** What is piped into `chat` is what is said, where nothing else is. */
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

/** What ssh does not tell by itself. */
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

/** Which of the outputs are terminals here, and of what size: the far end only has pipes. */
function screenHere(): string | undefined {
  const names = [isatty(1) ? "out" : "", isatty(2) ? "err" : ""].filter(Boolean);
  if (names.length === 0) return undefined;
  const { columns = 80, rows = 24 } = isatty(1) ? process.stdout : process.stderr;
  return `${columns}x${rows}:${names.join(",")}`;
}

/** What a far command answered with --json, or the error it told. */
export async function askFar(machine: Machine, argv: readonly string[]): Promise<unknown> {
  const ssh = findSsh(machine);
  const { captureSsh } = await import("./supervise.ts");
  const end = await captureSsh(ssh, sshArguments(ssh, machine, { argv, terminal: false }), { asks: true });
  if (end.code === 0) return JSON.parse(end.stdout);
  throw end.code === SSH_FAILED ? sshFailure(machine, end.said) : toldError(end.stderr);
}

/** The error that a far command told on standard error, with --json. */
export function toldError(stderr: string): HoldfastError {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  try {
    return HoldfastError.fromBody((JSON.parse(line) as { error: { code?: string } }).error);
  } catch (cause) {
    return new HoldfastError("internal", line || "no answer from the remote machine", { cause });
  }
}
