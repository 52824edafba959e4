/**
 * The installed version of an agent. A program from npm has it in its package.json. Any other program is run with `--version`, once per change of its
 * file, and a caller waits only as long as it wants.
 */
import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJsonFile } from "@holdfast/platform";

/** Some agents take seconds to start, and longer on a busy machine. */
const LONGEST_MS = 30_000;

/** Number of directories searched upwards for the package of `bin/agent.js` or `dist/bin/agent.js`. */
const DEPTH = 3;

/** Cached by path and modification time, since asking starts the program. */
const asked = new Map<string, Promise<string | null>>();

export const PENDING = Symbol("pending");

/** Null: the program does not tell. */
export async function versionOf(
  path: string,
  { args, env, waitMs }: { args: readonly string[]; env: Readonly<Record<string, string>>; waitMs: number },
): Promise<string | null | typeof PENDING> {
  const packaged = packagedVersion(path);
  if (packaged !== undefined) return packaged;
  const answer = ask(path, args, env);
  if (waitMs === Number.POSITIVE_INFINITY) return answer;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof PENDING>((resolve) => {
    timer = setTimeout(() => resolve(PENDING), waitMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** The version of the package that lists this file as its program. With a name, as that program: Node may come in a package too. */
export function packagedVersion(path: string, name?: string): string | undefined {
  try {
    const program = realpathSync(path);
    let directory = dirname(program);
    for (let up = 0; up < DEPTH; up++, directory = dirname(directory)) {
      const { name: own, version, bin } = (readJsonFile(join(directory, "package.json")) ?? {}) as Record<string, unknown>;
      const programs = typeof bin === "string" ? { [String(own).replace(/^.*\//, "")]: bin } : (bin ?? {});
      const files = Object.entries(programs).flatMap(([program, file]) => (name === undefined || name === program ? [String(file)] : []));
      if (typeof version === "string" && files.some((file) => join(directory, file) === program)) return version;
    }
  } catch {
    // The file is gone or unreadable. Running it then reports the failure.
  }
  return undefined;
}

function ask(path: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string | null> {
  const key = `${path} ${statSync(path, { throwIfNoEntry: false })?.mtimeMs}`;
  const known = asked.get(key);
  if (known) return known;
  const answer = new Promise<string | null>((resolve) => {
    const options = { env: { ...env }, cwd: "/", timeout: LONGEST_MS, killSignal: "SIGKILL" as const, maxBuffer: 1 << 20 };
    const child = execFile(path, [...args], options, (error, stdout) => {
      // A program that was too slow may be faster next time.
      if (error?.killed) asked.delete(key);
      resolve(error ? null : numberIn(stdout));
    });
    child.stdin?.end();
  });
  asked.set(key, answer);
  return answer;
}

function numberIn(text: string): string | null {
  return /\d+(?:\.\d+)+[^\s)]*/.exec(text)?.[0] ?? null;
}
