/** Events or output of a running session at a limited rate; items above the rate are dropped and counted. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { HoldfastClient } from "@holdfast/sdk/client";
import * as z from "zod/mini";
import { linesOf } from "../lines.ts";
import { TokenBucket } from "../token-bucket.ts";
import { patience, say, tool } from "../tool.ts";
import { isPassing } from "../waiting.ts";

const AGAIN_MS = 200;

/** One item, with the cursor after it. The first item only has the starting cursor. */
interface Item {
  what?: unknown;
  after: string;
}

export const MONITOR_TOOLS = [
  tool({
    name: "event_monitor",
    description:
      "Watch a session: its events, or its output (for a conversation: its transcript); or a group that you are in: joins, shared values and messages. The rate is limited: a burst of 5, then one per second by default; dropped counts the omitted items. Each item is sent at once as progress. The result has all of them, with a cursor to continue from.",
    reads: true,
    input: z.object({
      name: say(z.optional(z.string()), "session name or id"),
      group: say(z.optional(z.string()), "instead of name: the events of this group, by its path"),
      source: say(z._default(z.enum(["events", "output"]), "events"), "events or output"),
      types: say(z.optional(z.array(z.string())), "only events of these types, such as session.status_changed or tool.completed"),
      after: say(z.optional(z.string()), "cursor of an earlier result; default: only new items"),
      duration_ms: patience(30_000, "how long to watch"),
      max_items: say(z._default(z.number().check(z.minimum(1), z.maximum(1000)), 100), "return after this many items"),
      burst: say(z._default(z.number().check(z.minimum(1), z.maximum(100)), 5), "burst size"),
      per_second: say(z._default(z.number().check(z.minimum(0.01), z.maximum(100)), 1), "items per second after the burst"),
    }),
    async run({ name, group, source, types, after, duration_ms: durationMs, max_items: most, burst, per_second: perSecond }, call) {
      const { client, signal, tell } = call;
      const session = await watched(client, { name, group, source });
      const enough = new AbortController();
      const over = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(durationMs)]);
      const bucket = new TokenBucket({ burst, perSecond });
      const items: unknown[] = [];
      let cursor = after ?? null;
      const watch = { ref: session?.id ?? "", group, types, over };
      const source_ = source === "events" ? eventsOf : session?.kind === "conversation" ? entriesOf : printedBy;
      const why = { value: "time" };
      for await (const { what, after: next } of source_(client, { ...watch, after }, why)) {
        cursor = next;
        if (what === undefined || !bucket.take()) continue;
        items.push(what);
        tell(typeof what === "string" ? what : JSON.stringify(what), { done: items.length });
        if (items.length < most) continue;
        why.value = "max_items";
        enough.abort();
        break;
      }
      return { items, passed: bucket.passed, dropped: bucket.dropped, cursor, endedBy: why.value };
    },
  }),
];

/** Undefined for a group. */
async function watched(
  client: HoldfastClient,
  { name, group, source }: { name: string | undefined; group: string | undefined; source: "events" | "output" },
): Promise<Session | undefined> {
  if ((name === undefined) === (group === undefined)) throw new HoldfastError("usage", "pass either name or group");
  if (group !== undefined && source === "output") throw new HoldfastError("usage", "a group has no output: omit source");
  return name === undefined ? undefined : client.call("getSession", { params: { ref: name } });
}

interface Watch {
  ref: string;
  group: string | undefined;
  types: string[] | undefined;
  over: AbortSignal;
  after: string | undefined;
}

/** Starts now unless there is a cursor. After a daemon restart it continues after the last event seen. */
async function* eventsOf(client: HoldfastClient, { ref, group, types, over, after: from }: Watch): AsyncGenerator<Item> {
  const whose = group === undefined ? { session: ref } : { group };
  let after = from ?? (await client.call("listSessions", { query: group === undefined ? { names: [ref] } : {} })).cursor;
  yield { after };
  yield* again(over, async function* () {
    for await (const event of client.events({ query: { ...whose, after, ...(types ? { type: types } : {}) } }, over)) {
      after = `${event.epoch}:${event.seq}`;
      yield { what: { type: event.type, at: event.at, actor: event.actor, data: event.data }, after };
    }
    return "go on";
  });
}

async function* entriesOf(client: HoldfastClient, { ref, over, after: from }: Watch, why: { value: string }): AsyncGenerator<Item> {
  let after = from ?? (await client.call("getConversation", { params: { ref } })).cursor;
  yield { after };
  yield* again(over, async function* () {
    for await (const { cursor, entry } of client.entries({ params: { ref }, query: { after } }, over)) {
      after = cursor;
      yield { what: entry, after };
    }
    why.value = over.aborted ? why.value : "session ended";
    return over.aborted ? "go on" : "end";
  });
}

/** The cursor is the number of bytes so far. */
async function* printedBy(client: HoldfastClient, { ref, over, after }: Watch, why: { value: string }): AsyncGenerator<Item> {
  const { bytes, begins } = await client.call("getRecording", { params: { ref } });
  let from = Math.max(begins, after === undefined ? bytes : Number(after) || 0);
  yield { after: String(from) };
  yield* again(over, async function* () {
    const begin = from;
    for await (const { text, end } of linesOf(await client.bytes({ params: { ref }, query: { from, follow: true } }, over))) {
      from = begin + end;
      if (text.trim() !== "") yield { what: text, after: String(from) };
    }
    why.value = over.aborted ? why.value : "session ended";
    return over.aborted ? "go on" : "end";
  });
}

/** Repeats until the source ends or the caller wants no more. */
async function* again(over: AbortSignal, source: () => AsyncGenerator<Item, "end" | "go on">): AsyncGenerator<Item> {
  while (!over.aborted) {
    try {
      const ended = yield* source();
      if (ended === "end") return;
    } catch (error) {
      if (over.aborted) return;
      if (!isPassing(error)) throw error;
    }
    if (!over.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
