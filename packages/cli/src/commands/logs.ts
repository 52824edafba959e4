import type { Command, Context } from "../command.ts";
import { oneName, runNumber, wholeNumber } from "../session/select.ts";
import { parseDuration } from "../text/duration.ts";

export const command: Command = {
  name: "logs",
  summary: "print the output of a session",
  onlyReads: true,
  section: "Read output",
  onlyPrints: true,
  follows: ({ flags }) => flags.has("follow"),
  usage: "NAME [-f] [--tail N] [--since 10m] [--raw] [--run N]",
  description:
    "Prints the output as a person would have read it: progress bars and spinners collapse to their last state, and escape sequences are removed. --raw prints the original bytes. A line in [… …] marks output that was not recorded, for example because the disk was full.",
  flags: {
    follow: { summary: "keep running and print new output until the session ends, including its restarts", short: "f" },
    tail: { value: "N", summary: "the last N lines", short: "n", complete: "nothing" },
    since: { value: "TIME", summary: "output of the last 10m, 2h, …", complete: "nothing" },
    raw: { summary: "the original bytes, with escape sequences" },
    run: { value: "N", summary: "run number (default: the last run)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast logs build", "print all output"],
    ["holdfast logs build -f --tail 20", "print the last lines and follow"],
    ["holdfast logs build --raw > build.bytes", "save the original bytes"],
  ],
  pages: ({ flags }) => !flags.has("follow") && !flags.has("raw"),
  async run(context) {
    const { flags } = context;
    const ref = oneName(context, "logs NAME");
    const since = flags.text("since");
    const { printLogs } = await import("../logs/print.ts");
    await printLogs(context, {
      ref,
      follow: flags.has("follow"),
      raw: flags.has("raw"),
      tail: wholeNumber(flags, "tail"),
      run: runNumber(flags),
      since: since === undefined ? undefined : Math.max(0, Math.round(Date.now() - parseDuration(since, "--since"))),
    });
    // The output of a conversation's agent is only for debugging, so point to the transcript.
    if (process.stderr.isTTY && !context.json) await tellTranscript(context, ref);
    return 0;
  },
};

async function tellTranscript({ client }: Context, ref: string): Promise<void> {
  const { sessions } = await client.call("listSessions", { query: { names: [ref] } });
  if (sessions[0]?.kind === "conversation") process.stderr.write(`read the conversation: holdfast transcript ${ref}\n`);
}
