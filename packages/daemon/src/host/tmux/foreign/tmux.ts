/**
 * Commands on the user's own tmux servers, one process each. A control client would be one more terminal on the user's session, visible to their
 * hooks and options. Nothing here ever starts a server.
 */
import { execFile } from "node:child_process";
import { HoldfastError } from "@holdfast/contract";

/** A server that is silent for this long is busy or stopped, so the answer is unknown. */
const ANSWER_MS = 5000;

export type Answer = { lines: string[] } | { gone: true; said: string };

export class ForeignTmux {
  readonly program: string;
  readonly #env: Record<string, string>;

  constructor({ program, env }: { program: string; env: Record<string, string> }) {
    this.program = program;
    this.#env = env;
  }

  /** `gone`: no such server, or no such pane on it. */
  ask(socket: string, words: readonly string[], input?: Uint8Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { env: this.#env, cwd: "/", timeout: ANSWER_MS, maxBuffer: 1 << 26 };
      const child = execFile(this.program, ["-u", "-S", socket, ...words], options, (error, stdout, stderr) => {
        if (!error) return resolve({ lines: stdout === "" ? [] : stdout.replace(/\n$/, "").split("\n") });
        const said = stderr.trim() || error.message;
        if (GONE.test(said)) return resolve({ gone: true, said });
        const why = error.killed ? "it does not answer" : said;
        reject(new HoldfastError("host_failed", `the tmux server at ${socket}: ${why}`, { hint: "try again", cause: error }));
      });
      // An unreachable server does not read.
      child.stdin?.on("error", () => {}).end(input);
    });
  }

  /** Like `ask`, but throws if the server or pane is gone. */
  async told(socket: string, words: readonly string[], input?: Uint8Array): Promise<string[]> {
    const answer = await this.ask(socket, words, input);
    if ("lines" in answer) return answer.lines;
    throw new HoldfastError("not_in_reach", `the pane no longer exists (${answer.said})`, {
      hint: "see its details: holdfast show NAME",
    });
  }
}

const GONE = /no server running|error connecting|server exited|lost server|can't find (?:pane|session|window)|no such/i;
