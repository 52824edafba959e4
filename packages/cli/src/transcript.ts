/** Prints a transcript piece by piece, then what comes. */
import type { PlacedEntry } from "@holdfast/contract/conversation-endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";
import type { Context } from "./command.ts";
import { followEntries } from "./follow-entries.ts";
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
  const names = new Names(client, text);
  const print = async (placed: PlacedEntry) => {
    await names.learn(placed.entry);
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
  if (damaged > 0) process.stderr.write(`holdfast: ${damaged === 1 ? "one line" : `${damaged} lines`} of it could not be read\n`);
  if (reply.pages !== null && text) process.stderr.write(`page ${page} of ${reply.pages}\n`);
  return 0;
}

/** Sessions are known by their ids where they speak; people know them by their names. */
class Names {
  readonly #client: HoldfastClient;
  readonly #text: TranscriptText | undefined;
  readonly #asked = new Set<string>();

  constructor(client: HoldfastClient, text: TranscriptText | undefined) {
    this.#client = client;
    this.#text = text;
  }

  /** Asked once for each; of one that is gone, or nobody may know of, the id is shown. */
  async learn(entry: PlacedEntry["entry"]): Promise<void> {
    const who = entry.type === "user" ? entry.from : entry.type === "approval_answered" ? entry.by : null;
    const [, id] = /^session:(.+)$/.exec(who ?? "") ?? [];
    if (!this.#text || who === null || id === undefined || this.#asked.has(id)) return;
    this.#asked.add(id);
    try {
      const { name } = await this.#client.call("getSession", { params: { ref: id } });
      this.#text.call(who, `${name} (${who})`);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }
}

function wire(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(number);
}
