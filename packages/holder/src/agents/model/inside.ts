/** Confines paths that a model names to the session's directory, even through symbolic links. */
import { relative } from "node:path";
import { inside as realPathInside, insideToWrite as realPathInsideToWrite } from "../../inside.ts";

/** The reason why a tool refuses a request; the model reads it and may correct itself. */
export class Refusal extends Error {}

/** The real path; for a missing file, the path it would have. `root` is a real path. */
export async function inside(root: string, path: string): Promise<string> {
  try {
    return realPathInside(root, path);
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}

/** As `inside`, for a file to be written. Git's own files are refused, because the next commit would run a hook there. */
export async function insideToWrite(root: string, path: string): Promise<string> {
  if ((await inside(root, path)) === root) throw new Refusal("the file name is missing");
  try {
    return realPathInsideToWrite(root, path);
  } catch {
    throw new Refusal(`${path} belongs to git: use run_command with git`);
  }
}

/** The path as people read it. */
export function nameOf(root: string, path: string): string {
  return relative(root, path) || ".";
}
