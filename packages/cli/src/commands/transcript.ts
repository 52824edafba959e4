import { hasColor } from "../color.ts";
import type { Command } from "../command.ts";
import { oneName, wholeNumber } from "../select.ts";
import { SessionNames } from "../session-names.ts";
import { TranscriptText } from "../transcript-text.ts";
import { tellLooked, tellViewed } from "../viewed.ts";

export const command: Command = {
  name: "transcript",
  summary: "what was said and done in a conversation",
  onlyReads: true,
  usage: "NAME [-f] [--page N] [--turns N] [--all]",
  description:
    "Of sessions that were started with --chat. A page is 20 turns, counted from the oldest; without --page it is all of them.\nWhat a terminal session printed: holdfast logs.",
  flags: {
    follow: { summary: "stay, and print what comes until the session ends", short: "f" },
    page: { value: "N", summary: "only this page of 20 turns, from the oldest", complete: "nothing" },
    turns: { value: "N", summary: "only the last N turns", complete: "nothing" },
    all: { summary: "also what it thought, what its tools said, and the tokens it used" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast transcript api", "all of it"],
    ["holdfast transcript api --turns 1 -f", "the last turn, and what comes"],
    ["holdfast transcript api --page 2", "turns 21 to 40"],
    ["holdfast transcript api --json | jq .entry.type", "every entry, a line each"],
  ],
  async run(context) {
    const { flags, json } = context;
    const { printTranscript } = await import("../transcript.ts");
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
