import type { AnyEvent } from "@holdfast/contract/events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseEventStream } from "./event-stream.ts";

function event(seq: number, text = "x"): AnyEvent {
  return { epoch: "e", seq, type: "t", data: { text } } as unknown as AnyEvent;
}

function wire(each: AnyEvent): string {
  return `id: e:${each.seq}\nevent: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`;
}

async function parse(chunks: Iterable<Uint8Array>): Promise<AnyEvent[]> {
  return Array.fromAsync(
    parseEventStream(
      (async function* () {
        yield* chunks;
      })(),
    ),
  );
}

test("events arrive however the bytes are split", async () => {
  const events = [event(1), event(2, "漢字 🦭 é"), event(3, "data: id: \n\n event:")];
  const bytes = Buffer.from(
    `: alive\n\n${wire(events[0] as AnyEvent)}: alive\n\n${wire(events[1] as AnyEvent)}${wire(events[2] as AnyEvent)}`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      expect(await parse(places.slice(1).map((end, i) => bytes.subarray(places[i], end)))).toEqual(events);
    }),
  );
});

test("an incomplete last event is dropped, and the previous cursor fetches it again", async () => {
  expect(await parse([Buffer.from(wire(event(1)) + wire(event(2)).slice(0, -1))])).toEqual([event(1)]);
  expect(await parse([])).toEqual([]);
});

test("keep-alive comments are not events", async () => {
  expect(await parse([Buffer.from(": alive\n\n: alive\n\n\n\n")])).toEqual([]);
});
