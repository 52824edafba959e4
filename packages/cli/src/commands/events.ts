import type { AnyEvent } from "@holdfast/contract/events";
import type { Command, Context } from "../command.ts";
import { followEvents } from "../follow-events.ts";
import { writeOut } from "../write-out.ts";

export const command: Command = {
  name: "events",
  summary: "what happened, one JSON per line",
  onlyReads: true,
  printsJson: true,
  usage: "[-f] [--after [EPOCH:]SEQ] [--session NAME | --group GROUP] [--type T]",
  description:
    "From the first event, or after a place. `seq` counts from 1 without gaps; come back with the last one you saw and you miss nothing.",
  flags: {
    follow: { summary: "stay, and print what comes", short: "f" },
    after: { value: "CURSOR", summary: "only what came after this: SEQ, or EPOCH:SEQ", complete: "nothing" },
    session: { value: "NAME", summary: "only of this session (by id also of a removed one)", complete: "sessions" },
    group: { value: "GROUP", summary: "only of this group: who joins, what is shared and said", complete: "groups" },
    type: { value: "TYPE", summary: "only of these types (comma-separated)", multiple: true, complete: "nothing" },
  },
  examples: [
    ["holdfast events", "all of them"],
    ["holdfast events -f --after 42", "from 43 on, and what comes"],
    ["holdfast events --session demo --type session.ended", "how it ended"],
    ["holdfast events -f --group team", "what its members do there"],
  ],
  async run(context) {
    const { flags } = context;
    const types = flags.list("type").flatMap((value) => value.split(","));
    const query = { session: flags.text("session"), group: flags.text("group"), type: types.length > 0 ? types : undefined };
    if (!flags.has("follow")) return listAll(context, query);
    const onEvent = (event: AnyEvent) => writeOut(`${JSON.stringify(event)}\n`);
    await followEvents(context, { query, after: flags.text("after"), onEvent });
    return 0;
  },
};

type Query = { session: string | undefined; group: string | undefined; type: string[] | undefined };

async function listAll(context: Context, query: Query): Promise<number> {
  let after = context.flags.text("after");
  for (;;) {
    const page = await context.client.call("listEvents", { query: { ...query, after } });
    await writeOut(page.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    if (!page.more) return 0;
    after = page.cursor;
  }
}
