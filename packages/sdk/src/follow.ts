/** Streams that survive a daemon restart. Each one follows a cursor and reconnects at the last one it has seen, so nothing is lost or repeated. */
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { HoldfastEvent } from "@holdfast/contract/events";
import { formatCursor } from "@holdfast/contract/journal/cursor";
import { hasEnded } from "@holdfast/contract/session/status";
import type { HoldfastClient } from "./client.ts";
import { HoldfastError, throwIfAborted } from "./errors.ts";
import { Patience } from "./patience.ts";

export interface EventOptions {
  /** Start after this cursor. "now" starts with the next event; by default the stream starts at the beginning of the journal. */
  after?: string;
  /** Only events of these types. */
  types?: readonly string[];
  /** Only events of this session, by name or id. */
  session?: string;
  /** Only events of this group, by its path. */
  group?: string;
  /** False: end after the existing events. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** An event of the journal with its cursor. A newer daemon may send unknown types; ignore them. */
export type JournalEvent = HoldfastEvent & { cursor: string };

/** Follows the journal until the signal aborts or the reader stops. */
export async function* followEvents(client: HoldfastClient, options: EventOptions = {}): AsyncGenerator<JournalEvent> {
  const { session, group, types, signal } = options;
  const type = types === undefined ? undefined : [...types];
  const patience = new Patience();
  let after = options.after === "now" ? await cursorNow(client, signal) : options.after;
  if (options.follow === false) return yield* pastEvents(client, { after, session, group, type }, signal);
  for (;;) {
    try {
      const query = { after, session, group, type };
      for await (const event of client.events({ query }, signal)) {
        after = formatCursor(event);
        patience.renew();
        yield { ...event, cursor: after } as unknown as JournalEvent;
      }
      throwIfAborted(signal);
      await patience.pause();
    } catch (error) {
      throwIfAborted(signal);
      if (isCode(error, "cursor_gone")) throw error;
      await patience.bear(error);
    }
  }
}

interface Asked {
  after: string | undefined;
  session: string | undefined;
  group: string | undefined;
  type: string[] | undefined;
}

async function* pastEvents(client: HoldfastClient, asked: Asked, signal: AbortSignal | undefined): AsyncGenerator<JournalEvent> {
  let { after } = asked;
  for (let more = true; more; ) {
    const page = await surely(() => client.call("listEvents", { query: { ...asked, after } }, signal), signal);
    for (const event of page.events) yield { ...event, cursor: formatCursor(event) } as unknown as JournalEvent;
    ({ more, cursor: after } = page);
  }
}

export async function cursorNow(client: HoldfastClient, signal?: AbortSignal): Promise<string> {
  return formatCursor(await client.call("status", {}, signal));
}

/** Follows a conversation's entries until it ends or the reader stops. */
export async function* followEntries(
  client: HoldfastClient,
  { session, signal, ...from }: { session: string; after?: string; signal?: AbortSignal },
): AsyncGenerator<PlacedEntry> {
  const patience = new Patience();
  let after = from.after ?? "0.0";
  for (;;) {
    try {
      for await (const placed of client.entries({ params: { ref: session }, query: { after } }, signal)) {
        after = placed.cursor;
        patience.renew();
        yield placed;
      }
      throwIfAborted(signal);
      // The stream also ends when the daemon ends, so check the session.
      const { status } = await client.call("getSession", { params: { ref: session } }, signal);
      const { entries } = await client.call("readTranscript", { params: { ref: session }, query: { after, limit: 1 } }, signal);
      if (hasEnded(status) && entries.length === 0) return;
      await patience.pause();
    } catch (error) {
      throwIfAborted(signal);
      await patience.bear(error);
    }
  }
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof HoldfastError && codes.includes(error.code);
}

/** Retries when the daemon is unreachable. Only for calls that are safe to repeat: they have an id or change nothing. */
export async function surely<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const patience = new Patience();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted || !isCode(error, "daemon_unreachable")) throw error;
      await patience.bear(error);
    }
  }
}
