/** Prints a transcript page by page, then what comes. A daemon that dies or is replaced is found again, at the place we had reached. */
import type { PlacedEntry } from "@holdfast/contract/conversation-endpoints";
import type { Context } from "./command.ts";
import { Patience } from "./patience.ts";
import type { TranscriptText } from "./transcript-text.ts";

export interface Wanted {
  ref: string;
  follow: boolean;
  page: number | undefined;
  turns: number | undefined;
  /** Undefined: as JSON, an entry a line. */
  text: TranscriptText | undefined;
}

export async function printTranscript({ client }: Context, { ref, follow, page, turns, text }: Wanted): Promise<number> {
  const print = (placed: PlacedEntry) => {
    process.stdout.write(text ? text.of(placed.entry) : `${JSON.stringify(placed)}\n`);
  };
  let reply = await client.call("readTranscript", { params: { ref }, query: { page: wire(page), turns: wire(turns) } });
  const { id } = reply.session;
  let damaged = 0;
  for (;;) {
    reply.entries.forEach(print);
    damaged += reply.damaged;
    if (!reply.more || page !== undefined) break;
    reply = await client.call("readTranscript", { params: { ref: id }, query: { after: reply.cursor } });
  }
  if (follow) await followEntries(client, { id, after: reply.cursor, print });
  process.stdout.write(text?.end() ?? "");
  if (damaged > 0) process.stderr.write(`holdfast: ${damaged === 1 ? "one line" : `${damaged} lines`} of it could not be read\n`);
  if (reply.pages !== null && text) process.stderr.write(`page ${page} of ${reply.pages}\n`);
  return 0;
}

async function followEntries(
  client: Context["client"],
  { id, print, ...from }: { id: string; after: string; print(placed: PlacedEntry): void },
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  let { after } = from;
  const patience = new Patience();
  while (!stop.signal.aborted) {
    try {
      for await (const placed of client.entries({ params: { ref: id }, query: { after } }, stop.signal)) {
        print(placed);
        after = placed.cursor;
        patience.renew();
      }
      return;
    } catch (error) {
      if (stop.signal.aborted) return;
      await patience.bear(error);
    }
  }
}

function wire(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number);
}
