/**
 * The common part of every holder: it is started by a daemon that may die at any moment, is found again by its register, and records how its
 * program ended.
 */
import { readFileSync, rmSync, writeSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { uptime } from "node:os";
import { join } from "node:path";
import { type ErrorBody, HoldfastError, unwritable } from "@holdfast/contract/errors";
import { keepListening } from "@holdfast/platform/door";
import { writeFileAtomic } from "@holdfast/platform/files";
import { openHome, secureSocketDirectory } from "@holdfast/platform/home";
import { describe, log } from "@holdfast/platform/log";
import { inspect } from "@holdfast/platform/process";

/** How long the end of a program may stay unknown after there is disk space again. */
const WRITE_AGAIN_MS = 250;

/** `holder.json`, written by the daemon into the run's directory; each kind of holder adds fields. */
export interface Order {
  socket: string;
  /** The file that names this holder while it lives. */
  register: string;
}

export interface ProgramExit {
  code: number;
  signal: number;
}

export interface Ending {
  /** Writes everything else to disk that must be there; throws while it cannot. */
  finish(): void;
  /** Informs viewers of the end at once. */
  tell?(how: { status: string; signal: string }): void;
  /** The end is recorded, and no request is answered any more. */
  leave(): void;
}

/** `exit.json`; see the daemon's `session/exit-file.ts`. */
interface HowItEnded {
  status: string;
  signal: string;
  uptime: string;
  began: string;
  pid: number;
  at?: number;
}

export class Keeper<O extends Order> {
  readonly directory: string;
  readonly order: O;
  readonly #server: Server;
  readonly #beganAt = uptime();
  #door: { close(): void } | undefined;
  #program: { pid: number; kill(): void } | undefined;
  #isRegistered = false;

  constructor(directory: string, serve: (socket: Socket) => void) {
    this.directory = directory;
    process.on("SIGHUP", () => {});
    process.umask(0o077);
    // After the program runs and is registered, errors with clients or files must not end this process, because the program would end with it.
    process.on("uncaughtException", (error) => (this.#isRegistered ? this.complain(error) : this.#refuse(error)));
    this.order = JSON.parse(readFileSync(join(directory, "holder.json"), "utf8")) as O;
    this.#server = createServer(serve);
  }

  /** Ends the process if its starter is gone: the next daemon finds nothing of this run and starts it itself, and two must not run. */
  async open(): Promise<void> {
    this.#door = await keepListening(this.#server, { path: this.order.socket, secure: () => secureSocketDirectory(openHome()) });
    if (isStarterThere()) return;
    this.#door.close();
    process.exit(1);
  }

  /** From now on the run can be found. */
  register(program: { pid: number; kill(): void }): void {
    this.#program = program;
    const { register, socket } = this.order;
    const line = { pid: process.pid, start: inspect(process.pid)?.start, program: program.pid, socket };
    writeFileAtomic(register, `${JSON.stringify(line)}\n`);
    this.#isRegistered = true;
    tellStarter({ pid: program.pid });
  }

  complain(error: unknown): void {
    log(`holder of ${this.directory}: ${describe(error)}`);
  }

  programEnded(exit: ProgramExit, ending: Ending): void {
    const how = {
      status: exit.signal === 0 ? String(exit.code) : "",
      signal: exit.signal === 0 ? "" : String(exit.signal),
      uptime: String(uptime()),
      began: String(this.#beganAt),
      pid: this.#program?.pid ?? 0,
    };
    this.#writeDown(how, ending);
  }

  /** On a full disk only this process knows how the program ended, so it stays until that is written. */
  #writeDown(how: HowItEnded, ending: Ending): void {
    const isWritten = this.#triedToWrite(`${JSON.stringify(how)}\n`, ending.finish);
    ending.tell?.(how);
    // If the file is written later, its modification time is not the time of the end.
    const late = { at: Date.now(), ...how };
    if (isWritten) this.#leave(ending);
    else setTimeout(() => this.#writeDown(late, ending), WRITE_AGAIN_MS);
  }

  #triedToWrite(exit: string, finish: () => void): boolean {
    try {
      finish();
      writeFileAtomic(join(this.directory, "exit.json"), exit);
      rmSync(this.order.register, { force: true });
    } catch (error) {
      if (unwritable(error)) return false;
      // The directory was deleted: there is nobody to inform.
      this.complain(error);
    }
    return true;
  }

  #leave({ leave }: Ending): void {
    this.#door?.close();
    // The last messages to clients must be sent before the process ends.
    this.#server.close(() => process.exit(0));
    setTimeout(() => process.exit(0), 1000).unref();
    leave();
  }

  /** A program that cannot be found again must not run. */
  #refuse(error: unknown): void {
    this.#program?.kill();
    this.complain(error);
    tellStarter({ error: HoldfastError.from(error).toBody() });
    process.exit(1);
  }
}

/** Writing to a pipe without a reader fails; a reader ignores white space before the answer. */
function isStarterThere(): boolean {
  try {
    writeSync(3, " ");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPIPE";
  }
}

/** Writes to descriptor 3, the daemon's pipe. */
function tellStarter(what: { pid: number } | { error: ErrorBody }): void {
  try {
    writeSync(3, `${JSON.stringify(what)}\n`);
  } catch {
    // The daemon died meanwhile; the next one finds this holder by the register.
  }
}
