/**
 * One control-mode client of our tmux server: commands go in as lines, replies come back in the same order.
 *
 * Ordering: a line may hold several commands separated by `;`. tmux answers each with a block (%begin … %end or %error) and drops the rest of the
 * line after an error. Blocks caused by other clients or hooks carry flag 0 and are skipped. `source-file` must not go through here: each command
 * of the file is answered with a block that carries our flag.
 *
 * Unrequested notices, such as a new terminal, go to `onNotice`. When the client ends for any reason, all pending commands are rejected and `onEnd`
 * is called once. A server that stays silent while a command is pending (stopped or stuck) loses its client, with the same effect.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { HoldfastError } from "@holdfast/contract";

/** A server answers in a millisecond, on an overloaded machine in seconds. With a shorter time such a machine would lose its client. */
const ANSWER_MS = 15_000;

/** A client detaches from its server, which answers at once or is stuck. */
const LEAVE_MS = 2000;

interface Pending {
  remaining: number;
  replies: string[][];
  resolve(replies: string[][]): void;
  reject(error: Error): void;
  text: string;
}

interface Block {
  guard: string;
  /** True if one of our lines caused the block, not another client or a hook. */
  ours: boolean;
  lines: string[];
}

export interface ControlListener {
  onEnd(): void;
  onNotice?(line: string): void;
}

export class ControlClient implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #queue: Pending[] = [];
  readonly #onNotice: (line: string) => void;
  readonly #ended: Promise<void>;
  readonly #answerMs: number;
  #end: () => void = () => {};
  #failure: Error | undefined;
  #silence: NodeJS.Timeout | undefined;
  #isSilent = false;
  #isEnded = false;
  #rest = "";
  #block: Block | undefined;
  /** tmux's message about an unreadable file. It comes outside any reply, before the command that needs the file fails. */
  #aside = "";

  constructor(options: ControlListener & { command: string[]; env: Record<string, string>; answerMs?: number }) {
    this.#answerMs = options.answerMs ?? ANSWER_MS;
    this.#onNotice = options.onNotice ?? (() => {});
    const [file = "tmux", ...args] = options.command;
    this.#child = spawn(file, args, { env: options.env, cwd: "/", stdio: "pipe" });
    this.pid = this.#child.pid ?? 0;
    // A process that failed to start has no pipes.
    this.#child.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#read(chunk));
    this.#child.stderr?.resume();
    // A broken pipe means the client's end, which `close` reports.
    this.#child.stdin?.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      this.#end = () => {
        if (this.#isEnded) return;
        this.#isEnded = true;
        clearTimeout(this.#silence);
        const gone = new HoldfastError("host_failed", "the tmux server ended or dropped our control client");
        const known = this.#failure && HoldfastError.from(this.#failure);
        const error = this.#isSilent ? silent(this.#answerMs) : known && known.code !== "internal" ? known : gone;
        for (const pending of this.#queue.splice(0)) pending.reject(error);
        resolve();
        options.onEnd();
      };
      this.#child.on("error", (error) => {
        this.#failure = error;
        this.#end();
      });
      this.#child.on("close", this.#end);
    });
  }

  /**
   * Runs the commands as one sequence and resolves with the output lines of each. An `if-shell` has two replies: its own and its chosen command's.
   */
  run(...commands: string[]): Promise<string[][]> {
    if (this.#isEnded) return Promise.reject(new HoldfastError("host_failed", "the tmux server has ended"));
    return new Promise((resolve, reject) => {
      const text = commands.join(" ; ");
      const chosen = commands.filter((command) => command.startsWith("if-shell ")).length;
      this.#queue.push({ remaining: commands.length + chosen, replies: [], resolve, reject, text });
      this.#child.stdin?.write(`${text}\n`);
      this.#silence ??= this.#awaitWord();
    });
  }

  /** True once this client was given up because the server stayed silent. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  #awaitWord(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#isSilent = true;
      this.#giveUp();
    }, this.#answerMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end();
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#giveUp(), LEAVE_MS);
    await this.#ended;
    clearTimeout(late);
  }

  /** The server holds our pipes too. While it is stopped they stay open, so waiting for their end would hang. */
  #giveUp(): void {
    this.#child.kill("SIGKILL");
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy();
    this.#end();
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    clearTimeout(this.#silence);
    this.#silence = this.#queue.length > 0 ? this.#awaitWord() : undefined;
  }

  /** A block ends with the same time, number and flags it began with, because a command's output may look like an end. */
  #line(line: string): void {
    if (this.#block === undefined) {
      const begin = /^%begin (\d+ \d+ (\d+))$/.exec(line);
      if (begin?.[1] !== undefined) this.#block = { guard: begin[1], ours: begin[2] === "1", lines: [] };
      else if (line.startsWith("%")) this.#onNotice(line);
      else this.#aside = line;
    } else if (line === `%end ${this.#block.guard}`) this.#finish(this.#block, false);
    else if (line === `%error ${this.#block.guard}`) this.#finish(this.#block, true);
    else this.#block.lines.push(line);
  }

  #finish(block: Block, failed: boolean): void {
    this.#block = undefined;
    const pending = block.ours ? this.#queue[0] : undefined;
    if (!pending) return;
    if (failed) {
      this.#queue.shift();
      const said = this.#aside || block.lines.join(" ").trim();
      pending.reject(new HoldfastError("host_failed", `tmux refused: ${said}`, { cause: new Error(pending.text) }));
      this.#aside = "";
      return;
    }
    pending.replies.push(block.lines);
    if (--pending.remaining > 0) return;
    this.#queue.shift();
    this.#aside = "";
    pending.resolve(pending.replies);
  }
}

function silent(ms: number): HoldfastError {
  return new HoldfastError("host_failed", `the tmux server has not answered for ${ms / 1000} s`, { hint: SILENT_HINT });
}

const SILENT_HINT = "its sessions may be alive; check its process: ps -eo pid,stat,args | grep 'tmux.*holdfast'";
