/**
 * Runs the shell blocks of a markdown file as a reader pastes them: line by line into an interactive bash or `zsh -f` on a terminal, each line when
 * the prompt is back. The whole file shares one shell and one home, so that later blocks can use the results of earlier ones.
 *
 * Comment lines are pasted too. `zsh -f` has no comments and prints `command not found: #`, which a reader can ignore; any other effect of a comment
 * (an apostrophe that opens a string, a `;` that starts a command) is a failure.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { ROOT } from "./home.ts";

export interface Block {
  language: string;
  /** The number of its first line, counted from 1. */
  line: number;
  lines: string[];
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [i, line] of text.split("\n").entries()) {
    const fence = /^\s*```(\S*)/.exec(line);
    if (!fence) open?.lines.push(line);
    else if (open) {
      blocks.push(open);
      open = undefined;
    } else open = { language: fence[1] ?? "", line: i + 2, lines: [] };
  }
  return blocks;
}

/** Commands that keep the terminal: their first output on it, and the keys with which a reader leaves them. */
const LEAVES: readonly { command: RegExp; after: string; keys: string; codes: readonly number[] }[] = [
  { command: /^holdfast (-H \S+ )?(attach|next)\b/, after: "\x1b[?1049h", keys: "\x1c", codes: [0] },
  { command: /^holdfast (-H \S+ )?chat\b(?!.* (-p|--prompt)\b)/, after: "\x1b[?2004h", keys: "\x04", codes: [0] },
  { command: /^holdfast replay\b/, after: "\x1b[?1049h", keys: "q", codes: [0] },
  { command: /^holdfast .*(-f\b|--watch\b)|^holdfast (approvals|group) watch\b(?!.*--once)/, after: "", keys: "\x03", codes: [0, 130] },
];

/** Commands that give an agent work. */
const ASKS = /\b(spawn|send|start|resume|restore|fork|adopt|apply|approvals|keys|task)\b/;

const LEAVE_EVERY_MS = 1000;
/** `npm run pack` takes a minute on a busy machine. */
const PATIENCE_MS = 150_000;

const MARK = "\x1b]777;";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the shell prints them
const PROMPT = /\x1b\]777;(\w+)\x07/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences that a terminal does not show
const INVISIBLE = /\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[[?][0-9;?]*[ -/]*[@-~]|\x1b[()=>][0B]?|\r/g;
const SET_UP = {
  bash: `IGNOREEOF=9; PS1=; PS2='${MARK.replace("\x1b", "\\e")}more\\a'; PROMPT_COMMAND='printf "\\033]777;%s\\007" "$?"'`,
  zsh: `setopt ignore_eof; PS1=; PS2=$'%{\\e]777;more\\a%}'; precmd() { printf '\\033]777;%s\\007' "$?" }`,
};
export type ShellName = keyof typeof SET_UP;

interface Options {
  shell: ShellName;
  env: Record<string, string>;
  cwd: string;
  /** Waits until a reader would continue: the agent has done its work or asks back. */
  settled(): Promise<void>;
}

/** Pastes every `sh` block of a file; returns the failures with their lines. */
export async function failuresIn(file: string, options: Options): Promise<string[]> {
  const shell = new Shell(options);
  try {
    await shell.begins();
    const failures: string[] = [];
    for (const block of blocksOf(readFileSync(path.join(ROOT, file), "utf8")).filter(({ language }) => language === "sh"))
      for (const [i, line] of block.lines.entries()) {
        const failure = await shell.paste(line);
        if (failure !== undefined) failures.push(`${file}:${block.line + i} (${options.shell}): ${line}\n${failure}`);
        if (!shell.continues && ASKS.test(line)) await options.settled();
      }
    return failures;
  } finally {
    shell.end();
  }
}

class Shell {
  readonly #name: ShellName;
  readonly #pty: IPty;
  #printed = "";
  #ended = false;
  /** The previous line did not complete its command. */
  continues = false;

  constructor({ shell, env, cwd }: Options) {
    this.#name = shell;
    const args = shell === "bash" ? ["--noprofile", "--norc", "-i"] : ["-f", "-i"];
    this.#pty = spawn(shell, args, { name: "xterm-256color", cols: 160, rows: 40, cwd, env });
    this.#pty.onData((data) => {
      this.#printed += data;
    });
    this.#pty.onExit(() => {
      this.#ended = true;
    });
  }

  async begins(): Promise<void> {
    this.#pty.write(`${SET_UP[this.#name]}\r`);
    const answer = await this.#answer(undefined);
    if (answer !== "0") throw new Error(`${this.#name} does not start: ${this.#printed}`);
  }

  /** Returns undefined on success. */
  async paste(line: string): Promise<string | undefined> {
    const command = line.trim();
    if (command === "" && !this.continues) return undefined;
    const leaves = LEAVES.find((each) => each.command.test(command));
    this.#printed = "";
    this.#pty.write(`${line}\r`);
    const answer = await this.#answer(leaves);
    const shown = visible(this.#printed);
    this.continues = answer === "more";
    if (command.startsWith("#") && !this.continues) return isComment(this.#name, { answer, shown }) ? undefined : shown;
    if (answer === "more") return undefined;
    if (answer === undefined) return `no prompt in ${PATIENCE_MS / 1000} s; it printed:\n${shown}`;
    if (/command not found|no matches found/.test(shown)) return shown;
    return (leaves?.codes ?? [0]).includes(Number(answer)) ? undefined : `exit code ${answer}:\n${shown}`;
  }

  end(): void {
    if (!this.#ended) this.#pty.kill("SIGKILL");
  }

  /** The shell's marker before the next line: an exit code, or `more`. */
  async #answer(leave: { after: string; keys: string } | undefined): Promise<string | undefined> {
    const began = performance.now();
    let left = began;
    while (performance.now() - began < PATIENCE_MS && !this.#ended) {
      const mark = PROMPT.exec(this.#printed);
      if (mark) return mark[1];
      if (leave && performance.now() - left > LEAVE_EVERY_MS && this.#printed.includes(leave.after)) {
        left = performance.now();
        this.#pty.write(leave.keys);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#pty.write("\x03");
    return undefined;
  }
}

function isComment(shell: ShellName, { answer, shown }: { answer: string | undefined; shown: string }): boolean {
  if (shell === "bash") return answer === "0" || answer !== "more";
  return /^zsh: command not found: #$/m.test(shown);
}

function visible(text: string): string {
  return text.replaceAll(INVISIBLE, "").trim().slice(-2000);
}
