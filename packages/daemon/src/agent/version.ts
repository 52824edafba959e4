/**
 * Which version of an agent is installed. What npm installed says so in a file beside it; anything else is run with `--version`, once for each
 * time that it changes, and only waited for as long as somebody wants to.
 */
import { execFile } from "node:child_process";
import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJsonFile } from "@holdfast/platform";

/** Some take seconds to start, on a busy machine longer. */
const LONGEST_MS = 30_000;

/** How far above a program its package may begin: `bin/agent.js`, `dist/bin/agent.js`. */
const DEPTH = 3;

/** By path and time of change: asking costs a start of the program. */
const asked = new Map<string, Promise<string | null>>();

export const PENDING = Symbol("pending");

/** Null: it does not say. */
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

/** By the package that says that this very file is its program; with a name, the one of that name: Node may come in a package itself. */
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
    // It went, or may not be looked at: it is asked, and fails by itself.
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
      // One that was too slow may be faster another time.
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
