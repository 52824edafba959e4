import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { oneName, runNumber } from "../select.ts";

const FORMATS = ["asciicast", "text", "html"] as const;

export const command: Command = {
  name: "export",
  summary: "write a session's recording to a file: asciicast, text or HTML",
  onlyReads: true,
  usage: "NAME --asciicast FILE|--text FILE|--html FILE [--run N] [--force]",
  description:
    "An asciicast plays with its times in asciinema's players; a marker says where times are not known. Text is what logs prints; HTML is\nthe same with colours, in one file without scripts. FILE - is standard output. A file that exists is replaced only with --force.",
  flags: {
    asciicast: { value: "FILE", summary: "asciicast v2, for asciinema play and asciinema-player", complete: "files" },
    text: { value: "FILE", summary: "as logs prints it", complete: "files" },
    html: { value: "FILE", summary: "with colours, for a browser", complete: "files" },
    run: { value: "N", summary: "of this run of the session (default: the last)", complete: "nothing" },
    force: { summary: "replace a file that exists" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast export build --asciicast build.cast", "then: asciinema play build.cast"],
    ["holdfast export build --html build.html --force", "for a browser, over an older one"],
    ["holdfast export build --text - | less", "to read"],
  ],
  async run(context) {
    const { flags } = context;
    const ref = oneName(context, "export NAME --asciicast FILE");
    const [format, ...more] = FORMATS.filter((name) => flags.text(name) !== undefined);
    const file = flags.text(format ?? "");
    if (format === undefined || more.length > 0 || file === undefined || file === "") {
      throw new HoldfastError("usage", "say one format and its file", { hint: "--asciicast FILE, --text FILE or --html FILE" });
    }
    if (file === "-" && context.json) {
      throw new HoldfastError("usage", "--json and - both write to standard output", { hint: "name a file, or leave out --json" });
    }
    const { exportRecording } = await import("../export/export.ts");
    await exportRecording(context, { ref, format, file, run: runNumber(flags), force: flags.has("force") });
    return 0;
  },
};
