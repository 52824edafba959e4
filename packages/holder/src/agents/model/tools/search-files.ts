/** Searches with git in a repository, because git knows the ignored files, and otherwise with grep. Both can be aborted, unlike a regular expression in this process. */
import { relative } from "node:path";
import { gitCommand } from "@holdfast/platform/git/command";
import * as z from "zod/mini";
import { type Start, start, tailOf } from "../../command.ts";
import { inside, Refusal } from "../inside.ts";
import { MOST_BYTES, MOST_ENTRIES } from "./limits.ts";
import { defineTool } from "./tool.ts";

const NO_REPOSITORY = 128;
const LONGEST_LINE = 400;

export const searchFiles = defineTool({
  name: "search_files",
  description:
    "Searches the files of the session's directory for an extended regular expression (as grep -E); `path` limits the search to a file or a directory.",
  kind: "search",
  input: z.strictObject({ pattern: z.string().check(z.minLength(1)), path: z.optional(z.string()) }),
  title: ({ pattern, path }) => `Search for ${pattern}${path === undefined ? "" : ` in ${path}`}`,
  async prepare({ pattern, path = "." }, root) {
    const place = relative(root, await inside(root, path)) || ".";
    return {
      files: [],
      changes: [],
      async run(signal) {
        const byGit = await searchByGit(["grep", "--untracked", "--no-color", "-nIE", "-e", pattern, "--", place], root, signal);
        const { code, lines, stderr } =
          byGit.code === NO_REPOSITORY
            ? await search(
                { command: ["grep", "-rnIE", "--exclude-dir=.git", "--exclude-dir=node_modules", "-e", pattern, "--", place], cwd: root },
                signal,
              )
            : byGit;
        if (lines.length === 0 && code === 1) return { text: "[no matches]", ok: true };
        if (lines.length === 0) throw new Refusal(`the search failed: ${stderr.trim()}`);
        return { text: lines.join("\n"), ok: true };
      },
    };
  },
});

interface Found {
  code: number | null;
  lines: string[];
  stderr: string;
}

async function searchByGit(args: string[], cwd: string, signal: AbortSignal): Promise<Found> {
  const asked = await gitCommand(cwd, args, { signal }).catch(() => ({ code: NO_REPOSITORY }));
  if ("code" in asked) return { code: NO_REPOSITORY, lines: [], stderr: "" };
  return search({ command: [asked.program, ...asked.args], cwd, env: asked.env }, signal);
}

async function search(what: Omit<Start, "signal">, signal: AbortSignal): Promise<Found> {
  const enough = new AbortController();
  const { stdout, stderr, ended } = start({ ...what, signal: AbortSignal.any([signal, enough.signal]) });
  const complaint = tailOf(stderr, 1000);
  // Awaited below; a failed start must not end the agent before that.
  const how = ended.catch(() => ({ code: NO_REPOSITORY }));
  let text = "";
  for await (const chunk of stdout) {
    text += String(chunk);
    if (text.length > MOST_BYTES) break;
  }
  if (text.length > MOST_BYTES) enough.abort();
  const { code } = await how;
  const lines = text.split("\n").filter((line) => line !== "");
  const most = lines.slice(0, MOST_ENTRIES).map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
  const more = text.length > MOST_BYTES || lines.length > MOST_ENTRIES ? ["[There are more matches: narrow the pattern or the path.]"] : [];
  return { code, lines: [...most, ...more], stderr: complaint() };
}
