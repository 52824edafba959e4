import type { AnyEvent } from "@holdfast/contract/events";
import type { Command, Context } from "../command.ts";
import { followEvents } from "../connection/follow-events.ts";
import { writeOut } from "../console/write-out.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "events",
  summary: "print the event journal, one JSON object per line",
  onlyReads: true,
  printsJson: true,
  section: "Administration",
  onlyPrints: true,
  follows: ({ flags }) => flags.has("follow"),
  usage: "[-f] [--after [EPOCH:]SEQ] [--session NAME | --group GROUP] [--type T]",
  description: "Starts at the first event that is kept, or after a cursor. Continue after the last seq you saw, and you miss nothing.",
  flags: {
    follow: { summary: "keep running and print new events", short: "f" },
    after: { value: "CURSOR", summary: "events after this cursor: SEQ, or EPOCH:SEQ", complete: "nothing" },
    session: { value: "NAME", summary: "events of this session (by id, also of a removed one)", complete: "sessions" },
    group: { value: "GROUP", summary: "events of this group: members, shared values, messages", complete: "groups" },
    type: { value: "TYPE", summary: "events of these types (comma-separated)", multiple: true, complete: "nothing" },
  },
  withArgument: (word) => `events of one session: holdfast events --session ${word}`,
  examples: [
    ["holdfast events", "print all events"],
    ["holdfast events -f --after 42", "print events from 43 on, and follow"],
    ["holdfast events --session demo --type session.ended", "print how a session ended"],
    ["holdfast events -f --group team", "follow a group"],
  ],
  pages: ({ flags }) => !flags.has("follow"),
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
  let count = 0;
  for (;;) {
    const page = await context.client.call("listEvents", { query: { ...query, after } });
    await writeOut(page.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    count += page.events.length;
    if (!page.more) break;
    after = page.cursor;
  }
  // A newer daemon may have types that this program does not know, so an unknown one is not an error.
  if (count === 0 && query.type !== undefined)
    process.stderr.write(`note: there is no event of type ${query.type.map(plain).join(", ")}; docs/EVENTS.md lists the types\n`);
  return 0;
}
