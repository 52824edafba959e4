import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { plain } from "../plain.ts";
import { oneName } from "../select.ts";

export const command: Command = {
  name: "handover",
  summary: "give a session to another principal, with its whole history and a note",
  usage: "NAME --to PRINCIPAL [--note TEXT]",
  description:
    "It goes on as it is: nothing is stopped or moved. From then on it is theirs: they may take control of it and hand it on. Who it was\nhanded to sees so in show, in digest and at their next attach, with the note; every terminal on it is told. Who is there: holdfast token ls.",
  flags: {
    to: { value: "PRINCIPAL", summary: "token:NAME, or user:NAME", complete: "nothing" },
    note: { value: "TEXT", summary: "what they need to know", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [["holdfast handover fix-login --to token:ada --note 'tests are green; the migration is yours'", "hers from now on"]],
  async run(context) {
    const ref = oneName(context, "handover NAME --to PRINCIPAL");
    const to = context.flags.text("to");
    if (to === undefined)
      throw new HoldfastError("usage", "say to whom: --to PRINCIPAL", { hint: "holdfast token ls names tokens: --to token:NAME" });
    const note = context.flags.text("note");
    const session = await context.client.call("handOverSession", {
      params: { ref },
      body: { to, ...(note === undefined ? {} : { note }) },
    });
    process.stdout.write(`${context.json ? JSON.stringify(session) : plain(`${session.name}: ${session.owner}'s now`)}\n`);
    return 0;
  },
};
