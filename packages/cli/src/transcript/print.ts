/** Prints a transcript piece by piece, then new entries. */
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { Context } from "../command.ts";
import type { SessionNames } from "../session/names.ts";
import { followEntries } from "./follow-entries.ts";
import type { TranscriptText } from "./text.ts";

export interface Wanted {
  ref: string;
  follow: boolean;
  page: number | undefined;
  turns: number | undefined;
  /** Undefined for JSON, one entry per line. */
  text: TranscriptText | undefined;
  names: SessionNames;
}

export async function printTranscript({ client }: Context, { ref, follow, page, turns, text, names }: Wanted): Promise<number> {
  const print = async (placed: PlacedEntry) => {
    if (text) await names.learn(placed.entry);
    process.stdout.write(text ? text.of(placed.entry) : `${JSON.stringify(placed)}\n`);
  };
  let reply = await client.call("readTranscript", { params: { ref }, query: { page: wire(page), turns: wire(turns) } });
  const { id } = reply.session;
  let damaged = 0;
  for (;;) {
    for (const placed of reply.entries) await print(placed);
    damaged += reply.damaged;
    if (!reply.more || page !== undefined) break;
    reply = await client.call("readTranscript", { params: { ref: id }, query: { after: reply.cursor } });
  }
  if (follow) {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await followEntries(client, { session: id, after: reply.cursor, signal: stop.signal, onEntry: print });
  }
  process.stdout.write(text?.end() ?? "");
  if (damaged > 0)
    process.stderr.write(`holdfast: ${damaged === 1 ? "one line" : `${damaged} lines`} of the transcript could not be read\n`);
  if (reply.pages !== null && text) process.stderr.write(`page ${page} of ${reply.pages}\n`);
  return 0;
}

function wire(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number);
}
