/**
 * Writes a file completely or not at all: it is written beside its place and moved there when finished. An existing file is replaced only on
 * request, and stays unchanged until the new one is complete. An interruption removes the unfinished file.
 */
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, realpathSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export class ExportFile implements Disposable {
  readonly #path: string;
  readonly #named: string;
  readonly #force: boolean;
  readonly #temporary: string;
  readonly #file: number;
  readonly #onExit = () => rmSync(this.#temporary, { force: true });
  readonly #onSignal = (signal: NodeJS.Signals) => process.exit(SIGNALS[signal as keyof typeof SIGNALS]);
  #bytes = 0;

  constructor(path: string, options: { force: boolean }) {
    this.#named = path;
    this.#force = options.force;
    this.#path = placeOf(path, options.force);
    this.#temporary = join(dirname(this.#path), `.${basename(this.#path).slice(0, 200)}.${process.pid}.part`);
    this.#file = this.#orRefuse(() => openSync(this.#temporary, "wx"));
    process.once("exit", this.#onExit);
    for (const signal of Object.keys(SIGNALS)) process.once(signal, this.#onSignal);
  }

  /** Number of bytes written. */
  get bytes(): number {
    return this.#bytes;
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    this.#orRefuse(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    });
    this.#bytes += bytes.length;
  }

  /** Moves the finished file to its place. */
  finish(): void {
    this.#orRefuse(() => {
      fsyncSync(this.#file);
      if (this.#force) renameSync(this.#temporary, this.#path);
      else this.#putWhereNothingIs();
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
    this.#onExit();
    process.off("exit", this.#onExit);
    for (const signal of Object.keys(SIGNALS)) process.off(signal, this.#onSignal);
  }

  /** A link fails if a file has appeared meanwhile; a rename would replace it. */
  #putWhereNothingIs(): void {
    try {
      linkSync(this.#temporary, this.#path);
    } catch (error) {
      // Some file systems have no hard links.
      if (!["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      placeOf(this.#named, false);
      renameSync(this.#temporary, this.#path);
    }
  }

  #orRefuse<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof HoldfastError) throw cause;
      throw refusal(this.#named, cause as NodeJS.ErrnoException);
    }
  }
}

/** The target path. A symbolic link is followed, not replaced. */
function placeOf(path: string, force: boolean): string {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) return path;
  if (there.isDirectory()) throw new HoldfastError("file_unusable", `${path} is a directory`, { hint: "name a file" });
  if (!force) throw exists(path);
  const place = there.isSymbolicLink() ? resolved(path) : path;
  if (!(lstatSync(place, { throwIfNoEntry: false })?.isFile() ?? true))
    throw new HoldfastError("file_unusable", `${path} is not a regular file`, { hint: "write to standard output: -" });
  return place;
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new HoldfastError("file_unusable", `${path} is a broken symbolic link`, { hint: "remove it, or name another file", cause });
  }
}

function exists(path: string): HoldfastError {
  return new HoldfastError("file_exists", `${path} exists`, { hint: "pass --force to replace it" });
}

function refusal(path: string, cause: NodeJS.ErrnoException): HoldfastError {
  if (cause.code === "EEXIST") return exists(path);
  if (cause.code === "ENOENT") {
    return new HoldfastError("file_unusable", `${dirname(path)} does not exist`, { hint: `mkdir -p ${dirname(path)}`, cause });
  }
  const why = { EACCES: "permission denied", EROFS: "the file system is read-only", ENOSPC: "no space left", EDQUOT: "quota exceeded" };
  const reason = why[cause.code as keyof typeof why] ?? cause.message;
  return new HoldfastError("file_unusable", `cannot write ${path}: ${reason}`, { cause });
}
