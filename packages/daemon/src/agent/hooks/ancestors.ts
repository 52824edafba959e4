import { dirname } from "node:path";

/** A directory and all its parents, itself first. */
export function ancestors(directory: string): string[] {
  return directory === dirname(directory) ? [directory] : [directory, ...ancestors(dirname(directory))];
}
