/** Commands that an agent asks us to run, inside its workspace and with its session's environment. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:os";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import type { CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse } from "@agentclientprotocol/sdk";
import { inspect } from "@holdfast/platform/process";
import { calm } from "../calm.ts";
import { inside } from "../inside.ts";
import { count } from "./told.ts";

/** Default limit of a command's kept output; the newest part is kept. */
const OUTPUT_BYTES = 1024 * 1024;
/** Upper bound of the limit, because the keeper must not grow without end. */
const MOST_OUTPUT_BYTES = 4 * OUTPUT_BYTES;

/** Time for a command to end after SIGTERM. A person who cancelled the turn waits for it. */
const GRACE_MS = 1000;

/** Changes to the directory and executes the command, with `env` in front of it for additional variables. */
const BECOME = 'cd -- "$1" || exit 126; shift; exec "$@"';

interface Terminal {
  child: ChildProcess;
  output: string;
  bytes: number;
  truncated: boolean;
  limit: number;
  exit: TerminalExitStatus | null;
  /** Resolves when the command has ended and its output has been read; a process that it left may still print. */
  ended: Promise<TerminalExitStatus>;
  /** No process holds its output open any more. */
  isClosed: boolean;
  closed: Promise<void>;
}

export class Terminals {
  readonly #workspace: string;
  readonly #launch: string;
  readonly #terminals = new Map<string, Terminal>();

  readonly #onPrinted: (id: string, text: string) => void;

  /** `launch`: the run's launch file, which executes the given command with the session's environment. */
  constructor(options: { workspace: string; launch: string; onPrinted(id: string, text: string): void }) {
    this.#workspace = options.workspace;
    this.#launch = options.launch;
    this.#onPrinted = options.onPrinted;
  }

  create({ command, args, env, cwd, outputByteLimit }: CreateTerminalRequest): { terminalId: string } {
    const given = args ?? [];
    if (!Array.isArray(given) || ![command, ...given].every(isWord)) throw new Error("a command is a list of words");
    const directory = inside(this.#workspace, cwd ?? this.#workspace);
    const variables = (env ?? []).map(({ name, value }) => `${name}=${value}`);
    const words = [...(variables.length > 0 ? ["env", ...variables] : []), ...commandOf(command, given)];
    const child = spawn("/bin/sh", ["-c", `. "$0"`, this.#launch, "/bin/sh", "-c", BECOME, "sh", directory, ...words], {
      cwd: "/",
      detached: true,
      // Without this variable the launch file would run the run's own program.
      env: { ...process.env, HOLDFAST_BECOME: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const id = randomUUID();
    const terminal: Terminal = {
      child,
      output: "",
      bytes: 0,
      truncated: false,
      limit: Math.min(count(outputByteLimit) ?? OUTPUT_BYTES, MOST_OUTPUT_BYTES),
      exit: null,
      ended: new Promise((resolve) => {
        child.on("error", () => resolve({ exitCode: 127 }));
        child.on("exit", async (code, signal) => {
          await calm({ read: () => printed, isOver: () => terminal.isClosed });
          resolve({ exitCode: code, signal: signal ? String(constants.signals[signal]) : null });
        });
      }),
      isClosed: false,
      closed: new Promise((resolve) => {
        child.on("close", () => {
          terminal.isClosed = true;
          resolve();
        });
      }),
    };
    let printed = 0;
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder("utf8");
      stream?.on("data", (chunk: Buffer) => {
        printed += chunk.length;
        const text = decoder.write(chunk);
        keep(terminal, text);
        this.#onPrinted(id, text);
      });
    }
    void terminal.ended.then((exit) => {
      terminal.exit = exit;
    });
    this.#terminals.set(id, terminal);
    return { terminalId: id };
  }

  output(id: string): TerminalOutputResponse {
    const terminal = this.#get(id);
    cut(terminal);
    const { output, truncated, exit } = terminal;
    return { output, truncated, ...(exit ? { exitStatus: exit } : {}) };
  }

  /** The kept output of a terminal; undefined if it does not exist. */
  printed(id: string): string | undefined {
    const terminal = this.#terminals.get(id);
    if (terminal) cut(terminal);
    return terminal?.output;
  }

  waitForExit(id: string): Promise<TerminalExitStatus> {
    return this.#get(id).ended;
  }

  /** Resolves when the command has ended, because it may have to clean up. */
  async kill(id: string): Promise<void> {
    await endGently(this.#get(id));
  }

  async release(id: string): Promise<void> {
    const terminal = this.#get(id);
    this.#terminals.delete(id);
    await endGently(terminal);
  }

  /** The agent has ended, and nobody waits for its commands. */
  endAll(): void {
    for (const terminal of this.#terminals.values()) end(terminal, "SIGKILL");
  }

  #get(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (!terminal) throw new Error(`there is no terminal ${id}`);
    return terminal;
  }
}

function isWord(value: unknown): boolean {
  return typeof value === "string";
}

/** Some agents give a whole shell line as the command. */
function commandOf(command: string, args: readonly string[]): string[] {
  return args.length === 0 && /\s/.test(command) ? ["/bin/sh", "-c", command] : [command, ...args];
}

/** Cut only now and then: each cut copies the whole output. */
function keep(terminal: Terminal, text: string): void {
  terminal.output += text;
  terminal.bytes += Buffer.byteLength(text);
  if (terminal.bytes > 2 * terminal.limit) cut(terminal);
}

function cut(terminal: Terminal): void {
  const over = terminal.bytes - terminal.limit;
  if (over <= 0) return;
  terminal.truncated = true;
  // Cut at the beginning, and never inside a character.
  terminal.output = Buffer.from(terminal.output).subarray(over).toString("utf8").replace(/^�+/, "");
  terminal.bytes = Buffer.byteLength(terminal.output);
}

/** Ends the command's whole process group, even if the command itself has ended. A group that still holds the output open later is killed. */
async function endGently(terminal: Terminal): Promise<void> {
  if (terminal.isClosed) return;
  end(terminal, "SIGTERM");
  const late = new AbortController();
  await Promise.race([terminal.closed, delay(GRACE_MS, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
  end(terminal, "SIGKILL");
}

function end({ child, isClosed }: Terminal, signal: NodeJS.Signals): void {
  if (isClosed || child.pid === undefined) return;
  // The command has ended and another process has its pid: the group of that number is not ours.
  if ((child.exitCode ?? child.signalCode) !== null && inspect(child.pid)) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group has just ended.
  }
}
