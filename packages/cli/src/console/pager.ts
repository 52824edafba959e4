/**
 * Sends long output on a terminal through a pager, the way git and gh do: $HOLDFAST_PAGER, then $PAGER, then less.
 *
 * While the pager is open, standard output and standard error of this process are its input. A pager that does not read stops the command
 * until it does. The pager owns the terminal: Ctrl+C is the pager's key, and quitting the pager ends the command with exit code 0.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { isatty } from "node:tty";

/** Quit if the output fits on one screen, keep colours, leave the output on the screen. Used if LESS is not set, as in git. */
const LESS = "FRX";

/** Exit codes of `sh` for a program that cannot run. */
const NOT_RUN = [126, 127];

type Environment = Readonly<Record<string, string | undefined>>;

/** The pager's command line; undefined if output is not paged. */
export function pagerCommand(env: Environment, isThere: (program: string) => boolean = isOnPath): string | undefined {
  const own = env.HOLDFAST_PAGER;
  // Inside a run there may be no person to quit the pager.
  if (own === undefined && (env.TERM === "dumb" || env.HOLDFAST_SESSION)) return undefined;
  const wanted = (own ?? env.PAGER ?? "less").trim();
  if (wanted === "" || wanted === "cat") return undefined;
  const [program = ""] = wanted.split(/\s+/);
  return /^[\w./+-]+$/.test(program) && !isThere(program) ? undefined : wanted;
}

/** Opens the pager if standard output is a terminal; otherwise undefined. */
export function openPager(env: Environment = process.env): Pager | undefined {
  // A remote command prints to a pipe but treats it as a terminal.
  const command = isatty(1) ? pagerCommand(env) : undefined;
  return command === undefined ? undefined : new Pager(command, env);
}

export class Pager {
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #isOpen = true;

  constructor(command: string, env: Environment) {
    this.#child = spawn("/bin/sh", ["-c", command], { stdio: ["pipe", "inherit", "inherit"], env: { LESS, LV: "-c", ...env } });
    // After the person quits the pager, further output has no reader.
    this.#child.stdin?.on("error", () => {});
    this.#child.stdin?.on("drain", () => process.stdout.emit("drain"));
    this.#closed = new Promise((resolve) => this.#child.once("close", (code) => resolve(this.#left(command, code))));
    process.on("SIGINT", ignore);
    this.#redirect(process.stdout);
    if (isatty(2)) this.#redirect(process.stderr);
  }

  /** Waits until the person quits the pager. Later output goes to the terminal again. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#child.stdin?.end();
    await this.#closed;
    process.off("SIGINT", ignore);
  }

  #redirect(stream: NodeJS.WriteStream): void {
    const direct = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (...args: unknown[]) => {
      const { stdin } = this.#child;
      return this.#isOpen && stdin ? (stdin.write as (...args: unknown[]) => boolean).apply(stdin, args) : direct(...args);
    };
  }

  #left(command: string, code: number | null): void {
    const isFailed = code !== null && NOT_RUN.includes(code);
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (isFailed)
      process.stderr.write(`holdfast: cannot run the pager ${JSON.stringify(command)}\n  pass --no-pager, or set HOLDFAST_PAGER=less\n`);
    if (wasOpen || isFailed) process.exit(isFailed ? 1 : 0);
  }
}

function ignore(): void {}

function isOnPath(program: string): boolean {
  const places = program.includes("/") ? [program] : (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, program));
  return places.some((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
