import { open, stat } from "node:fs/promises";
import * as z from "zod/mini";
import { inside, nameOf, Refusal } from "../inside.ts";
import { MOST_BYTES, MOST_LINES } from "./limits.ts";
import { defineTool } from "./tool.ts";

export const readFile = defineTool({
  name: "read_file",
  description: `Reads a text file in the session's directory: at most ${MOST_LINES} lines per call, from line \`offset\` (counted from 1).`,
  kind: "read",
  input: z.strictObject({
    path: z.string(),
    offset: z.optional(z.int().check(z.positive())),
    limit: z.optional(z.int().check(z.positive())),
  }),
  title: ({ path, offset }) => `Read ${path}${offset === undefined ? "" : ` from line ${offset}`}`,
  async prepare({ path, offset = 1, limit = MOST_LINES }, root) {
    const file = await inside(root, path);
    return {
      files: [file],
      changes: [],
      async run() {
        return { text: await lines(file, { name: nameOf(root, file), from: offset, count: Math.min(limit, MOST_LINES) }), ok: true };
      },
    };
  },
});

async function lines(path: string, { name, from, count }: { name: string; from: number; count: number }): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Refusal(`${name} does not exist`);
  if (found.isDirectory()) throw new Refusal(`${name} is a directory: list it with list_files`);
  // A pipe or a device would never end.
  if (!found.isFile()) throw new Refusal(`${name} is not a file`);
  await using file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${name} cannot be read: ${error.code}`);
  });
  const said: string[] = [];
  let number = 0;
  let bytes = 0;
  for await (const line of file.readLines({ encoding: "utf8" })) {
    number++;
    if (number < from) continue;
    if (line.includes("\0")) return `${name} is not text: ${found.size} bytes`;
    if (said.length === count || bytes > MOST_BYTES)
      return `${said.join("\n")}\n[The file continues at line ${number}: read it with offset ${number}.]`;
    bytes += Buffer.byteLength(line) + 1;
    said.push(line.length > MOST_BYTES ? `${line.slice(0, MOST_BYTES)} [The line continues.]` : line);
  }
  if (said.length === 0) return number === 0 ? "[The file is empty.]" : `[The file ends at line ${number}.]`;
  return said.join("\n");
}
