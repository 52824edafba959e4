/** Git for the daemon. How git is started, and which repository settings it uses: `platform/git/command.ts`. */
import { type GitOptions, type GitResult, runGit } from "@holdfast/platform/git/command";

export {
  type Environment,
  type GitOptions,
  type GitResult,
  gitCommand,
  settingsLeftOut,
} from "@holdfast/platform/git/command";

/** Git failed. `stderr` has its own message. */
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

/** Returns the output without the final newline. Throws `GitError` unless the exit code is 0. */
export async function git(directory: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  const result = await tryGit(directory, args, options);
  if (result.code !== 0) throw new GitError(args, result);
  return result.stdout.replace(/\n$/, "");
}

/** For commands that answer with their exit code. */
export const tryGit = runGit;

/** Splits `-z` output, without the empty part at the end. */
export function parts(text: string): string[] {
  return text.split("\0").filter((part, index, all) => part !== "" || index < all.length - 1);
}

export function firstLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.find((line) => /^(fatal|error): /.test(line)) ?? lines.find((line) => line !== "") ?? "").replace(/^(fatal|error): /, "");
}
