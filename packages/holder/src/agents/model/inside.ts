/** Paths that a model names, inside of the session's directory and nowhere else, whatever symbolic links there are. */
import { relative } from "node:path";
import { inside as realPathInside, insideToWrite as realPathInsideToWrite } from "../../inside.ts";

/** Why a tool does not do what it was asked to; the model is told, and may do better. */
export class Refusal extends Error {}

/** Where it really is. Of what is not there yet: where it would be. `root` is a real path. */
export async function inside(root: string, path: string): Promise<string> {
  try {
    return realPathInside(root, path);
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}

/** The same for what is to be written. Git's own files are git's to write: a hook there would be run by whoever commits. */
export async function insideToWrite(root: string, path: string): Promise<string> {
  if ((await inside(root, path)) === root) throw new Refusal("the file name is missing");
  try {
    return realPathInsideToWrite(root, path);
  } catch {
    throw new Refusal(`${path} belongs to git: use run_command with git`);
  }
}

/** As people read it. */
export function nameOf(root: string, path: string): string {
  return relative(root, path) || ".";
}
