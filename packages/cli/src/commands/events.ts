import { formatCursor } from "@holdfast/contract/cursor";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import { Patience } from "../patience.ts";
import { writeOut } from "../write-out.ts";

export const command: Command = {
  name: "events",
  summary: "what happened, one JSON per line",
  onlyReads: true,
  usage: "[-f] [--after [EPOCH:]SEQ] [--session NAME] [--type T]",
  description:
    "From the first event, or after a place. `seq` counts from 1 without gaps; come back with the last one you saw and you miss nothing.",
  flags: {
    follow: { summary: "stay, and print what comes", short: "f" },
    after: { value: "CURSOR", summary: "only what came after this: SEQ, or EPOCH:SEQ", complete: "nothing" },
    session: { value: "NAME", summary: "only of this session (by id also of a removed one)", complete: "sessions" },
    type: { value: "TYPE", summary: "only of these types (comma-separated)", multiple: true, complete: "nothing" },
  },
  examples: [
    ["holdfast events", "all of them"],
    ["holdfast events -f --after 42", "from 43 on, and what comes"],
    ["holdfast events --session demo --type session.ended", "how it ended"],
  ],
  async run(context) {
    const { flags } = context;
    const types = flags.list("type").flatMap((value) => value.split(","));
    const query = { session: flags.text("session"), type: types.length > 0 ? types : undefined };
    return flags.has("follow") ? follow(context, query) : listAll(context, query);
  },
};

type Query = { session: string | undefined; type: string[] | undefined };

async function listAll(context: Context, query: Query): Promise<number> {
  let after = context.flags.text("after");
  for (;;) {
    const page = await context.client.call("listEvents", { query: { ...query, after } });
    await writeOut(page.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    if (!page.more) return 0;
    after = page.cursor;
  }
}

/** A daemon that dies or is replaced is found again, at the place we had reached. */
async function follow(context: Context, query: Query): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let after = context.flags.text("after");
  const patience = new Patience();
  while (!stop.signal.aborted) {
    try {
      for await (const event of context.client.events({ query: { ...query, after } }, stop.signal)) {
        await writeOut(`${JSON.stringify(event)}\n`);
        after = formatCursor(event);
        patience.renew();
      }
    } catch (error) {
      if (stop.signal.aborted) break;
      // In another epoch our place means nothing.
      if (error instanceof HoldfastError && error.code === "cursor_gone") throw error;
      await patience.bear(error);
    }
  }
  return 0;
}
