/**
 * Git, as a process of its own. It asks nothing (no terminal), takes no lock it does not need (an agent's own git must not find one), speaks
 * English, and sees nothing of a repository that happens to be in the environment.
 */
import { spawn } from "node:child_process";
import { HoldfastError } from "@holdfast/contract";
import { isMissing } from "@holdfast/platform";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface GitOptions {
  /** The caller's: whose name, keys and configuration count. The daemon's own without it. */
  env?: Environment | undefined;
  /** On top, for this one command: `GIT_INDEX_FILE` and the like. */
  with?: Readonly<Record<string, string>>;
  input?: string | Uint8Array;
  /** Of what it prints. `latin1` keeps every byte: file names need not be UTF-8. */
  encoding?: BufferEncoding;
  signal?: AbortSignal;
}

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Of a repository somebody else is in: a hook's, a rebase's. What only says who and how (`GIT_AUTHOR_NAME`, `GIT_SSH_COMMAND`) stays. */
const NOT_PASSED =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CEILING_DIRECTORIES|QUARANTINE_PATH|INTERNAL_.*|TRACE.*|EDITOR|SEQUENCE_EDITOR|LITERAL_PATHSPECS|GLOB_PATHSPECS|NOGLOB_PATHSPECS|ICASE_PATHSPECS|REFLOG_ACTION|OPTIONAL_LOCKS)$/;

/** Enough for the list of every file of a large repository. */
const MOST_OUTPUT = 256 << 20;

/** Git ended otherwise than was expected of it. `stderr` is its own words. */
export class GitError extends Error {
  override readonly name = "GitError";
  readonly code: number;
  readonly stderr: string;

  constructor(args: readonly string[], { code, stderr }: GitResult) {
    super(`git ${args.find((arg, index) => arg !== "-c" && args[index - 1] !== "-c")}: ${firstLine(stderr) || `exit code ${code}`}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** What it printed, without the last line's end. Throws `GitError` unless it ended with 0. */
export async function git(directory: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const result = await tryGit(directory, args, options);
  if (result.code !== 0) throw new GitError(args, result);
  return result.stdout.replace(/\n$/, "");
}

/** For a question whose answer is in the exit code. */
export function tryGit(directory: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const { promise, resolve, reject } = Promise.withResolvers<GitResult>();
  const child = spawn("git", args, {
    cwd: directory,
    env: gitEnvironment(options),
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_OUTPUT) out.push(chunk);
    else child.kill();
  });
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.on("error", (error) => reject(isMissing(error) ? missing(directory, error) : error));
  child.on("close", (code) => {
    if (bytes > MOST_OUTPUT) return reject(new Error(`git ${args[0]} printed more than ${MOST_OUTPUT >> 20} MB`));
    resolve({ code: code ?? -1, stdout: Buffer.concat(out).toString(options.encoding), stderr: Buffer.concat(err).toString() });
  });
  // One that ends without reading all of it says why itself.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  return promise;
}

/** Of `-z` output: every part but the empty one after the last. */
export function parts(text: string): string[] {
  return text.split("\0").filter((part, index, all) => part !== "" || index < all.length - 1);
}

export function firstLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.find((line) => /^(fatal|error): /.test(line)) ?? lines.find((line) => line !== "") ?? "").replace(/^(fatal|error): /, "");
}

export function gitEnvironment({ env = process.env, with: more = {} }: GitOptions): Record<string, string> {
  const passed = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !NOT_PASSED.test(entry[0]));
  return {
    ...Object.fromEntries(passed),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: "true",
    LC_ALL: "C.UTF-8",
    LANGUAGE: "C",
    ...more,
  };
}

/** Node says of a missing program and of a missing directory the same. */
function missing(directory: string, cause: unknown): HoldfastError {
  return new HoldfastError("git_failed", `git cannot be run in ${directory}: there is no program git on the PATH, or no such directory`, {
    hint: "install git, and see that the directory is there",
    cause,
  });
}
