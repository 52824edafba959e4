import { dirname } from "node:path";

/** A directory and all that it is in, itself first. */
export function ancestors(directory: string): string[] {
  return directory === dirname(directory) ? [directory] : [directory, ...ancestors(dirname(directory))];
}
