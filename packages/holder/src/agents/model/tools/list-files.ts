import { glob, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { inside, nameOf, Refusal } from "../inside.ts";
import { MOST_ENTRIES } from "./limits.ts";
import { defineTool } from "./tool.ts";

/** Large directories that nobody searches. */
const PASSED_OVER = new Set([".git", "node_modules"]);

export const listFiles = defineTool({
  name: "list_files",
  description: "Lists a directory inside the session's directory; with `glob`, such as **/*.ts, all matching files below it.",
  kind: "search",
  input: z.strictObject({ path: z.optional(z.string()), glob: z.optional(z.string()) }),
  title: ({ path = ".", glob: pattern }) => `List ${pattern === undefined ? path : `${pattern} in ${path}`}`,
  async prepare({ path = ".", glob: pattern }, root) {
    const directory = await inside(root, path);
    const name = nameOf(root, directory);
    return {
      files: [directory],
      changes: [],
      async run() {
        const found = await stat(directory).catch(() => undefined);
        if (!found?.isDirectory()) throw new Refusal(found ? `${name} is a file: read it with read_file` : `${name} does not exist`);
        const entries = pattern === undefined ? await below(directory) : await fitting({ root, directory, pattern });
        const more = entries.length > MOST_ENTRIES ? [`[There are more than ${MOST_ENTRIES} entries: narrow the request.]`] : [];
        return { text: [...entries.slice(0, MOST_ENTRIES), ...more].join("\n") || "[nothing]", ok: true };
      },
    };
  },
});

async function below(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

async function fitting({ root, directory, pattern }: { root: string; directory: string; pattern: string }): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of glob(pattern, { cwd: directory, exclude: (name) => PASSED_OVER.has(name) })) {
    if (found.length > MOST_ENTRIES) break;
    // Globs can leave the directory through .. and through links.
    const real = await inside(root, join(directory, entry)).catch(() => undefined);
    if (real !== undefined) found.push(nameOf(root, join(directory, entry)));
  }
  return found.sort();
}
