import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { oneName, runNumber } from "../session/select.ts";

const FORMATS = ["asciicast", "text", "html"] as const;

export const command: Command = {
  name: "export",
  summary: "export a recording to a file: asciicast, text or HTML",
  onlyReads: true,
  section: "Read output",
  onlyPrints: true,
  usage: "NAME --asciicast FILE|--text FILE|--html FILE [--run N] [--force]",
  description:
    "An asciicast plays in asciinema's players; markers show where times are unknown. Text is the output of holdfast logs. HTML is the same with colours, in one file without scripts. FILE - is standard output. An existing file is replaced only with --force.",
  flags: {
    asciicast: { value: "FILE", summary: "asciicast v2, for asciinema play and asciinema-player", complete: "files" },
    text: { value: "FILE", summary: "plain text, like holdfast logs", complete: "files" },
    html: { value: "FILE", summary: "HTML with colours", complete: "files" },
    run: { value: "N", summary: "run number (default: the last run)", complete: "nothing" },
    force: { summary: "replace an existing file" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast export build --asciicast build.cast", "export for asciinema play build.cast"],
    ["holdfast export build --html build.html --force", "write HTML, replacing an older file"],
    ["holdfast export build --text - | less", "read the recording"],
  ],
  async run(context) {
    const { flags } = context;
    const ref = oneName(context, "export NAME --asciicast FILE");
    const [format, ...more] = FORMATS.filter((name) => flags.text(name) !== undefined);
    const file = flags.text(format ?? "");
    if (format === undefined || more.length > 0 || file === undefined || file === "") {
      throw new HoldfastError("usage", "expected one format and its file", { hint: "--asciicast FILE, --text FILE or --html FILE" });
    }
    if (file === "-" && context.json) {
      throw new HoldfastError("usage", "--json and - cannot be used together: both write to standard output", {
        hint: "pass a file, or omit --json",
      });
    }
    if (file === "-" && flags.has("force"))
      throw new HoldfastError("usage", "--force has no effect on standard output", { hint: "omit --force, or pass a file" });
    const { exportRecording } = await import("../export/export.ts");
    await exportRecording(context, { ref, format, file, run: runNumber(flags), force: flags.has("force") });
    return 0;
  },
};
