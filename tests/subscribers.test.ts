/** The journal for subscribers: typed, gapless, each event once, from any position, at any reading speed. */
import { connect, type Socket } from "node:net";
import { AnyEvent, EVENTS, type EventType, formatCursor } from "@holdfast/contract";
import { openHome } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { residentBytes } from "./proc.ts";
import { expectGapless, Subscriber } from "./subscriber.ts";

test("every event of a session's life has the envelope and the data of its type (BG-04 spine)", async () => {
  await using home = new TestHome();
  const { id } = await home.run("while :; do sleep 1; done", "--name", "first");
  const brief = await home.run("exit 3");
  await home.ok(["rename", "first", "second"]);
  await home.ended(brief.id);
  await home.ok(["stop", "second"]);
  await home.ok(["rm", "second"]);
  await home.ok(["down"]);

  const events = await eventsOf(home);
  expectGapless(events);
  for (const event of events) {
    expect(AnyEvent.parse(event)).toEqual(event);
    const schema = EVENTS[event.type as EventType];
    // Parsing drops fields that the schema lacks, so equality means that every field is documented.
    expect(schema.parse(event.data)).toEqual(event.data);
    expect(event).toMatchObject({ epoch: events[0]?.epoch, machine: events[0]?.machine, v: 1 });
  }
  expect(events.filter(({ session }) => session === id).map(({ type, actor }) => `${type} by ${actor.split(":")[0]}`)).toEqual([
    "session.created by user",
    "session.started by daemon",
    "session.renamed by user",
    "session.stop_requested by user",
    "session.ended by daemon",
    "session.removed by user",
  ]);
  const times = events.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["daemon.started", "daemon.stopped"]));
});

test("a subscriber that continues from any position gets exactly the later events (BG-04 spine)", async () => {
  await using home = new TestHome();
  const { id } = await home.run("sleep 1000", "--name", "n");
  using client = home.client();
  for (let i = 0; i < 20; i++) await client.call("renameSession", { params: { ref: id }, body: { name: `n${i}` } });
  const all = await eventsOf(home);
  const { epoch } = all[0] ?? { epoch: "" };

  for (let seq = 0; seq <= all.length; seq++) {
    const { events } = await client.call("listEvents", { query: { after: formatCursor({ epoch, seq }) } });
    expect(events).toEqual(all.slice(seq));
    // Page by page, and as a stream that ends midway.
    const page = await client.call("listEvents", { query: { after: String(seq), limit: "3" } });
    expect(page.events).toEqual(all.slice(seq, seq + 3));
    expect(page.more).toBe(seq + 3 < all.length);
    const none = await client.call("listEvents", { query: { after: String(seq), limit: "0" } });
    expect(none).toEqual({ cursor: formatCursor({ epoch, seq }), events: [], more: seq < all.length });
    expect(await take(client, 3, formatCursor({ epoch, seq: Math.min(seq, all.length - 3) }))).toEqual(
      all.slice(Math.min(seq, all.length - 3)).slice(0, 3),
    );
  }
});

test("a subscriber gets the events of several concurrent clients in one order, each once (BG-04 spine)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  await using subscriber = new Subscriber(home);
  const clients = await Promise.all(Array.from({ length: 4 }, async (_, i) => ({ i, id: (await home.run("sleep 1000")).id })));
  await Promise.all(
    clients.map(async ({ i, id }) => {
      using client = home.client();
      for (let n = 0; n < 100; n++) await client.call("renameSession", { params: { ref: id }, body: { name: `c${i}-${n}` } });
    }),
  );
  const all = await eventsOf(home);
  await subscriber.until(({ seq }) => seq === all.length);
  expectGapless(subscriber.events);
  expect(subscriber.events).toEqual(all);
  for (const { i, id } of clients) {
    const names = all.filter(({ session, type }) => session === id && type === "session.renamed").map(({ data }) => data.name);
    expect(names).toEqual(Array.from({ length: 100 }, (_, n) => `c${i}-${n}`));
  }
});

test("a filtered subscriber misses no matching event across a daemon kill (BG-04 spine)", async () => {
  await using home = new TestHome();
  const wanted = await home.run("sleep 1000");
  const other = await home.run("sleep 1000");
  const follow = ["events", "-f", "--session", wanted.id, "--type", "session.renamed,session.ended"];
  using lines = follower(home, follow);
  for (let i = 0; i < 5; i++) {
    await home.ok(["rename", wanted.id, `wanted${i}`]);
    await home.ok(["rename", other.id, `other${i}`]);
    if (i === 2) await home.killDaemon();
  }
  await home.ok(["stop", other.id]);
  await home.ok(["stop", wanted.id]);
  await eventually(() => lines.events().some(({ type }) => type === "session.ended"));
  expect(lines.events().map(({ session, type, data }) => [session, type, data.name])).toEqual([
    ...Array.from({ length: 5 }, (_, i) => [wanted.id, "session.renamed", `wanted${i}`]),
    [wanted.id, "session.ended", undefined],
  ]);
});

test("a cursor of another epoch, one beyond the end, and an invalid one are clear errors (BG-04 spine)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  for (const follow of [[], ["-f"]]) {
    const foreign = await home.cli(["events", ...follow, "--after", "deadbeef:1"]);
    expect(foreign).toMatchObject({ code: 13, stdout: "", stderr: expect.stringContaining("the cursor belongs to epoch deadbeef") });
    expect(foreign.stderr).toContain("take a new snapshot");
    const beyond = await home.cli(["events", ...follow, "--after", "1000"]);
    expect(beyond).toMatchObject({ code: 13, stdout: "", stderr: expect.stringContaining("the cursor 1000 is beyond the last event, 1") });
    const none = await home.cli(["events", ...follow, "--after", "yesterday"]);
    expect(none).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining('"yesterday" is not a cursor') });
  }
  const json = await home.cli(["events", "--json", "--after", "deadbeef:1"]);
  expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "cursor_gone" } });
});

test("subscribers that do not read cost the daemon no memory and delay no other client", async () => {
  await using home = new TestHome();
  const { id } = await home.run("seq 1 3000000");
  using client = home.client();
  for (let n = 0; n < 6000; n++) await client.call("renameSession", { params: { ref: id }, body: { name: `${"n".repeat(50)}${n}` } });
  await home.ended(id);
  const all = await eventsOf(home);
  const bytes = { events: JSON.stringify(all).length, output: (await recordingOf(client, id)).bytes };
  const pid = await home.daemonPid();
  const before = residentBytes(pid);

  // The amount that a buffering daemon would hold: 40 times 3 MB of events and 10 times 24 MB of output.
  expect(bytes.events * 40 + bytes.output * 10).toBeGreaterThan(300_000_000);
  using stuck = stuckSubscribers(home, [
    ...Array.from({ length: 40 }, () => "/events/stream"),
    ...Array.from({ length: 10 }, () => `/sessions/${id}/output`),
  ]);
  await eventually(() => stuck.begun === 50);

  await using subscriber = new Subscriber(home);
  await subscriber.until(({ seq }) => seq === all.length);
  expect(subscriber.events).toEqual(all);
  const began = performance.now();
  await client.call("renameSession", { params: { ref: id }, body: { name: "new" } });
  await subscriber.until(({ data }) => data.name === "new");
  expect(performance.now() - began).toBeLessThan(5000);
  expect(residentBytes(pid) - before).toBeLessThan(120_000_000);
});

async function eventsOf(home: TestHome): Promise<AnyEvent[]> {
  return parse(await home.ok(["events"]));
}

async function recordingOf(client: HoldfastClient, ref: string) {
  return client.call("getRecording", { params: { ref }, query: {} });
}

/** The first events of a stream. */
async function take(client: HoldfastClient, count: number, after: string): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for await (const event of client.events({ query: { after } })) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

function follower(home: TestHome, args: string[]) {
  const child = home.start(args);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return { events: () => parse(text), [Symbol.dispose]: () => void child.kill("SIGTERM") };
}

function parse(lines: string): AnyEvent[] {
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}

/** Connections that request much data, read its first bytes, and then stop reading. */
function stuckSubscribers(home: TestHome, paths: string[]): Disposable & { begun: number } {
  const sockets: Socket[] = [];
  const stuck = {
    begun: 0,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
  for (const each of paths) {
    const socket = connect(openHome(home.env).daemonSocket);
    socket.write(`GET ${each} HTTP/1.0\r\nhost: holdfast\r\n\r\n`);
    socket.once("data", () => {
      socket.pause();
      stuck.begun++;
    });
    sockets.push(socket);
  }
  return stuck;
}
