import type { Command, Context } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { oneName, runNumber, wholeNumber } from "../select.ts";

export const command: Command = {
  name: "logs",
  summary: "what a session printed",
  onlyReads: true,
  usage: "NAME [-f] [--tail N] [--since 10m] [--raw] [--run N]",
  description:
    "As a person would have read it at the end: progress bars and spinners collapse to their last state, colours and other\nescape sequences are left out. --raw gives every byte as the program wrote it. A line in [… …] says where output was not recorded, as on a\nfull disk.",
  flags: {
    follow: { summary: "stay, and print what comes until the session ends; with its next runs, if it is restarted", short: "f" },
    tail: { value: "N", summary: "only the last N lines", short: "n", complete: "nothing" },
    since: { value: "TIME", summary: "only what came in the last 10m, 2h, …", complete: "nothing" },
    raw: { summary: "every byte, with escape sequences" },
    run: { value: "N", summary: "of this run of the session (default: the last)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast logs build", "all of it"],
    ["holdfast logs build -f --tail 20", "the end, and what comes"],
    ["holdfast logs build --raw > build.bytes", "byte for byte"],
  ],
  async run(context) {
    const { flags } = context;
    const ref = oneName(context, "logs NAME");
    const since = flags.text("since");
    const { printLogs } = await import("../logs.ts");
    await printLogs(context, {
      ref,
      follow: flags.has("follow"),
      raw: flags.has("raw"),
      tail: wholeNumber(flags, "tail"),
      run: runNumber(flags),
      since: since === undefined ? undefined : Math.max(0, Math.round(Date.now() - parseDuration(since, "--since"))),
    });
    // What an agent prints that is talked to is for its makers.
    if (process.stderr.isTTY && !context.json) await tellTranscript(context, ref);
    return 0;
  },
};

async function tellTranscript({ client }: Context, ref: string): Promise<void> {
  const { sessions } = await client.call("listSessions", { query: { names: [ref] } });
  if (sessions[0]?.kind === "conversation") process.stderr.write(`what was said and done: holdfast transcript ${ref}\n`);
}
