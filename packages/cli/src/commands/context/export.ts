import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { readContext, tooMany } from "../../context/read.ts";

export const command: Command = {
  name: "context export",
  summary: "export the Working Context as one markdown file",
  usage: "FILE.md|- [NAME] [--force]",
  description: "FILE - is standard output. An existing file is replaced only with --force.",
  arguments: "files",
  onlyReads: true,
  flags: { force: { summary: "replace an existing file" } },
  examples: [
    ["holdfast context export report.md", "export the context of this directory"],
    ["holdfast context export - fix-login", "print the context of a session or workspace"],
  ],
  async run(context) {
    const [file, name, ...more] = context.args;
    if (more.length > 0) throw tooMany("export", more[0]);
    if (file === undefined || (file === "-" && context.json)) {
      throw new HoldfastError(
        "usage",
        file === undefined ? "expected the file to write" : "--json and - cannot be used together: both write to standard output",
        {
          hint: "for example: holdfast context export report.md",
        },
      );
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
