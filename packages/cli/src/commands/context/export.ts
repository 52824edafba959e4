import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { readContext, tooMany } from "../../context/read.ts";

export const command: Command = {
  name: "context export",
  summary: "write all of it into one markdown file",
  usage: "FILE.md|- [NAME] [--force]",
  description: "FILE - is standard output. A file that exists is replaced only with --force.",
  arguments: "files",
  onlyReads: true,
  flags: { force: { summary: "replace a file that exists" } },
  examples: [
    ["holdfast context export report.md", "of this directory"],
    ["holdfast context export - fix-login", "of a session or a workspace, to read"],
  ],
  async run(context) {
    const [file, name, ...more] = context.args;
    if (more.length > 0) throw tooMany("export", more[0]);
    if (file === undefined || (file === "-" && context.json)) {
      throw new HoldfastError("usage", file === undefined ? "say the file to write" : "--json and - both write to standard output", {
        hint: "for example: holdfast context export report.md",
      });
    }
    const { asMarkdown } = await import("../../context/markdown.ts");
    const text = asMarkdown(await readContext(context, name));
    if (file === "-") process.stdout.write(text);
    else {
      const { ExportFile } = await import("../../export/file.ts");
      using target = new ExportFile(file, { force: context.flags.has("force") });
      target.write(text);
      target.finish();
      const { bytes } = target;
      process.stdout.write(context.json ? `${JSON.stringify({ file: resolve(file), bytes })}\n` : `${file}: ${bytes} bytes\n`);
    }
    return 0;
  },
};
