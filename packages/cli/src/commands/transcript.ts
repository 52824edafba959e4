import type { Command } from "../command.ts";
import { SessionNames } from "../session/names.ts";
import { oneName, wholeNumber } from "../session/select.ts";
import { tellLooked, tellViewed } from "../session/viewed.ts";
import { hasColor } from "../text/color.ts";
import { TranscriptText } from "../transcript/text.ts";

export const command: Command = {
  name: "transcript",
  summary: "print the transcript of a conversation",
  onlyReads: true,
  section: "Read output",
  onlyPrints: true,
  follows: ({ flags }) => flags.has("follow"),
  usage: "NAME [-f] [--page N] [--turns N] [--all]",
  description:
    "For sessions started with chat or --chat. A page is 20 turns, counted from the oldest. For a terminal session, use holdfast logs.",
  flags: {
    follow: { summary: "keep running and print new entries until the session ends", short: "f" },
    page: { value: "N", summary: "one page of 20 turns, counted from the oldest", complete: "nothing" },
    turns: { value: "N", summary: "the last N turns", complete: "nothing" },
    all: { summary: "include thoughts, tool output and token usage" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast transcript api", "print the whole transcript"],
    ["holdfast transcript api --turns 1 -f", "print the last turn and follow"],
    ["holdfast transcript api --page 2", "print turns 21 to 40"],
    ["holdfast transcript api --json | jq .entry.type", "print every entry, one per line"],
  ],
  pages: ({ flags }) => !flags.has("follow"),
  async run(context) {
    const { flags, json } = context;
    const { printTranscript } = await import("../transcript/print.ts");
    const name = oneName(context, "transcript NAME");
    const names = new SessionNames(context.client);
    const code = await printTranscript(context, {
      ref: name,
      follow: flags.has("follow"),
      page: wholeNumber(flags, "page"),
      turns: wholeNumber(flags, "turns"),
      names,
      text: json ? undefined : new TranscriptText({ color: hasColor(), all: flags.has("all"), name, nameOf: (who) => names.of(who) }),
    });
    if (!json) {
      await tellLooked(context, name);
      await tellViewed(context, name);
    }
    return code;
  },
};
