/** Files are written next to their place and renamed, so a reader sees either the old or the new content. */
import { chmod, mkdir, readFile as read, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@holdfast/platform/files";
import * as z from "zod/mini";
import { insideToWrite, nameOf, Refusal } from "../inside.ts";
import { defineTool, type Prepared } from "./tool.ts";

/** The default of any program; the user's umask restricts it. */
const USUAL_MODE = 0o666;

export const writeFile = defineTool({
  name: "write_file",
  description:
    "Writes a text file in the session's directory: a new file, or over an existing one. To change a part of a file use edit_file.",
  kind: "edit",
  leave: "edit",
  input: z.strictObject({ path: z.string(), content: z.string() }),
  title: ({ path }) => `Write ${path}`,
  async prepare({ path, content }, root) {
    const file = await insideToWrite(root, path);
    return replacement({ root, file, old: await textOf(file, nameOf(root, file)), content });
  },
});

export const editFile = defineTool({
  name: "edit_file",
  description: "Replaces `old` by `new` in a text file in the session's directory. `old` must match exactly once, or `all` must be true.",
  kind: "edit",
  leave: "edit",
  input: z.strictObject({ path: z.string(), old: z.string().check(z.minLength(1)), new: z.string(), all: z.optional(z.boolean()) }),
  title: ({ path }) => `Edit ${path}`,
  async prepare({ path, old: before, new: after, all = false }, root) {
    const file = await insideToWrite(root, path);
    const name = nameOf(root, file);
    const old = await textOf(file, name);
    if (old === null) throw new Refusal(`${name} does not exist: create it with write_file`);
    const parts = old.split(before);
    if (parts.length === 1) throw new Refusal(`${name} does not contain that text: read it again`);
    if (parts.length > 2 && !all)
      throw new Refusal(`${name} contains that text ${parts.length - 1} times: include more of the surrounding text, or set all`);
    return replacement({ root, file, old, content: parts.join(after) });
  },
});

function replacement({ root, file, old, content }: { root: string; file: string; old: string | null; content: string }): Prepared {
  const name = nameOf(root, file);
  return {
    files: [file],
    changes: [{ path: file, old, new: content }],
    async run() {
      // A person saw and allowed the planned change. Hours may have passed since, and a link may have changed.
      if ((await insideToWrite(root, file)) !== file) throw new Refusal(`${name} has moved`);
      if ((await textOf(file, name)) !== old) throw new Refusal(`${name} has changed: read it again`);
      try {
        await mkdir(dirname(file), { recursive: true });
        const mode = (await stat(file).catch(() => undefined))?.mode;
        writeFileAtomic(file, content, USUAL_MODE);
        if (mode !== undefined) await chmod(file, mode & 0o7777);
      } catch (error) {
        throw new Refusal(`${name} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
      }
      return { text: old === null ? `${name} written` : `${name} changed`, ok: true };
    },
  };
}

/** Null: the file does not exist. */
async function textOf(path: string, name: string): Promise<string | null> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return null;
  if (!found.isFile()) throw new Refusal(`${name} is not a file`);
  const content = await read(path).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${name} cannot be read: ${error.code}`);
  });
  if (content.includes(0)) throw new Refusal(`${name} is not text`);
  return content.toString("utf8");
}
