import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { oneName } from "../session/select.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "handover",
  summary: "give a session to another person or token, with its history and a note",
  section: "Attach to a session",
  usage: "NAME --to PRINCIPAL [--note TEXT]",
  description:
    "The session keeps running unchanged. The new owner can take control of it and hand it on. They see the handover and the note in show, in digest and at their next attach; attached terminals are notified. holdfast token ls lists the tokens.",
  flags: {
    to: { value: "PRINCIPAL", summary: "token:NAME, or user:NAME", complete: "nothing" },
    note: { value: "TEXT", summary: "a note for the new owner", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast handover fix-login --to token:ada --note 'tests are green; the migration is yours'", "hand over a session with a note"],
  ],
  async run(context) {
    const ref = oneName(context, "handover NAME --to PRINCIPAL");
    const to = context.flags.text("to");
    if (to === undefined)
      throw new HoldfastError("usage", "expected the new owner: --to PRINCIPAL", {
        hint: "holdfast token ls lists the tokens: --to token:NAME",
      });
    const note = context.flags.text("note");
    const session = await context.client.call("handOverSession", {
      params: { ref },
      body: { to, ...(note === undefined ? {} : { note }) },
    });
    process.stdout.write(`${context.json ? JSON.stringify(session) : plain(`${session.name} now belongs to ${session.owner}`)}\n`);
    return 0;
  },
};
