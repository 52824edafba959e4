/** Git, as the rooms of the daemon ask it. How it is started, and what of a repository it believes: `platform/git/command.ts`. */
import { type GitOptions, type GitResult, runGit } from "@holdfast/platform/git/command";

export {
  type Environment,
  type GitOptions,
  type GitResult,
  gitCommand,
  settingsLeftOut,
} from "@holdfast/platform/git/command";

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
export const tryGit = runGit;

/** Of `-z` output: every part but the empty one after the last. */
export function parts(text: string): string[] {
  return text.split("\0").filter((part, index, all) => part !== "" || index < all.length - 1);
}

export function firstLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return (lines.find((line) => /^(fatal|error): /.test(line)) ?? lines.find((line) => line !== "") ?? "").replace(/^(fatal|error): /, "");
}
