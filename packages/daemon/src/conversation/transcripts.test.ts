import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { runDirectory } from "@holdfast/platform";
import { expect, test } from "vitest";
import { SESSION, SOMEBODY, World } from "../../test/conversation-world.ts";
import { type Changed, PAGE_TURNS, Transcripts } from "./transcripts.ts";

const AT = "2026-11-15T12:00:00.000Z";

/** A session with transcripts of its runs, and a hook to wait for more. */
class Session extends World {
  changed: Changed = () => undefined;
  readonly transcripts = new Transcripts({
    home: this.home,
    queries: this.queries,
    changed: (run, signal) => this.changed(run, signal),
  });

  entry(run: number, n: number, draft: object): void {
    const directory = runDirectory(this.home, SESSION, run);
    mkdirSync(directory, { recursive: true });
    appendFileSync(join(directory, "transcript.jsonl"), `${JSON.stringify({ v: 1, n, at: AT, turn: null, ...draft })}\n`);
  }

  /** A turn of two entries. */
  turn(run: number, name: string): void {
    const common = { message: name, from: SOMEBODY, addition: null, steer: false };
    this.entry(run, 1, { type: "user", text: name, turn: name, ...common });
    this.entry(run, 2, { type: "text", text: `answer to ${name}`, turn: name });
  }

  nextRun(): void {
    this.end(1);
    this.append("session.run_created", { run: 2, why: "resume" });
    this.append("session.started", { run: 2, pid: 8, pidStart: "y", outputPath: "/out2" });
  }

  read(how: Parameters<Transcripts["read"]>[1] = {}) {
    const { entries, ...rest } = this.transcripts.read(this.transcripts.resolve("fix"), how);
    return { texts: entries.map(({ run, entry }) => `${run} ${"text" in entry ? entry.text : entry.type}`), entries, ...rest };
  }
}

test("the transcripts of all runs read as one, and a cursor continues where it was", () => {
  using session = new Session();
  session.turn(1, "a");
  session.turn(1, "b");
  session.nextRun();
  session.turn(2, "c");
  const all = session.read();
  expect(all).toMatchObject({
    texts: ["1 a", "1 answer to a", "1 b", "1 answer to b", "2 c", "2 answer to c"],
    more: false,
    pages: null,
    damaged: 0,
  });
  for (const [index, { cursor }] of all.entries.entries())
    expect(session.read({ after: cursor }).texts).toEqual(all.texts.slice(index + 1));
  expect(all.cursor).toBe(session.transcripts.end(session.transcripts.resolve("fix")));
  const some = session.read({ limit: 3 });
  expect(some).toMatchObject({ texts: all.texts.slice(0, 3), more: true });
  expect(session.read({ after: some.cursor }).texts).toEqual(all.texts.slice(3));
});

test("pages count turns from the oldest, across runs; entries before the first turn are on the first page", () => {
  using session = new Session();
  session.entry(1, 1, { type: "note", about: "opened", text: "it begins" });
  for (let turn = 1; turn <= PAGE_TURNS + 1; turn++) session.turn(1, `t${turn}`);
  session.nextRun();
  session.entry(2, 1, { type: "note", about: "opened", text: "it goes on" });
  session.turn(2, "last");
  const first = session.read({ page: 1 });
  expect(first).toMatchObject({ pages: 2, more: true });
  expect(first.texts[0]).toBe("1 it begins");
  expect(first.texts.at(-1)).toBe(`1 answer to t${PAGE_TURNS}`);
  expect(session.read({ page: 2 }).texts).toEqual([
    `1 t${PAGE_TURNS + 1}`,
    `1 answer to t${PAGE_TURNS + 1}`,
    "2 it goes on",
    "2 last",
    "2 answer to last",
  ]);
  expect(() => session.read({ page: 3 })).toThrow(expect.objectContaining({ code: "usage", message: "fix has 2 pages, not 3" }));
});

test("the last turns are counted from the end, and asking for too many returns all", () => {
  using session = new Session();
  for (const name of ["a", "b", "c"]) session.turn(1, name);
  expect(session.read({ turns: 1 }).texts).toEqual(["1 c", "1 answer to c"]);
  expect(session.read({ turns: 2 }).texts).toHaveLength(4);
  expect(session.read({ turns: 9 }).texts).toHaveLength(6);
});

test("an empty session has one empty page; unreadable lines are counted", () => {
  using session = new Session();
  expect(session.read({ page: 1 })).toMatchObject({ texts: [], pages: 1, more: false });
  expect(() => session.read({ page: 2 })).toThrow("one page");
  appendFileSync(session.transcript, "garbage\n");
  session.turn(1, "a");
  expect(session.read()).toMatchObject({ damaged: 1, texts: ["1 a", "1 answer to a"] });
});

test("an invalid cursor means the beginning", () => {
  using session = new Session();
  session.turn(1, "a");
  expect(session.read({ after: "0.0" }).texts).toHaveLength(2);
  expect(session.read({ after: "1" }).texts).toHaveLength(2);
});

test("a terminal has a recording, and no transcript", () => {
  using world = new World("terminal");
  const transcripts = new Transcripts({ home: world.home, queries: world.queries, changed: () => undefined });
  expect(() => transcripts.resolve("fix")).toThrow(
    expect.objectContaining({ code: "not_a_conversation", hint: "read its output: holdfast logs fix" }),
  );
});

test("a follower gets each entry once, through the next run, until the session has ended", async () => {
  using session = new Session();
  session.turn(1, "a");
  const waiting: (() => void)[] = [];
  session.changed = () =>
    session.queries.get(SESSION)?.status === "stopped" ? undefined : new Promise<void>((resolve) => void waiting.push(resolve));
  const seen: string[] = [];
  const stop = new AbortController();
  const following = (async () => {
    for await (const placed of session.transcripts.follow("fix", { signal: stop.signal })) {
      if (placed) seen.push(`${placed.run} ${"text" in placed.entry ? placed.entry.text : ""}`);
    }
  })();
  await expect.poll(() => waiting.length).toBe(1);
  session.turn(1, "b");
  session.nextRun();
  session.turn(2, "c");
  waiting.shift()?.();
  await expect.poll(() => seen.length).toBe(6);
  await expect.poll(() => waiting.length).toBe(1);
  session.end(2);
  waiting.shift()?.();
  await following;
  expect(seen).toEqual(["1 a", "1 answer to a", "1 b", "1 answer to b", "2 c", "2 answer to c"]);
});

test("a follower with a cursor gets what comes after it, and ends when it is aborted", async () => {
  using session = new Session();
  session.turn(1, "a");
  const { cursor } = session.read();
  session.turn(1, "b");
  const stop = new AbortController();
  session.changed = (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  const seen: unknown[] = [];
  for await (const placed of session.transcripts.follow("fix", { after: cursor, signal: stop.signal })) {
    seen.push(placed?.entry);
    if (seen.length === 2) stop.abort();
  }
  expect(seen).toMatchObject([{ text: "b" }, { text: "answer to b" }]);
});

test("following retries a run that is not watched yet, and ends when the session is removed", async () => {
  using session = new Session();
  const stop = new AbortController();
  const stream = session.transcripts.follow("fix", { signal: stop.signal });
  const next = stream.next();
  await new Promise((resolve) => setImmediate(resolve));
  session.turn(1, "a");
  expect((await next).value).toMatchObject({ entry: { text: "a" } });
  await stream.next();
  const last = stream.next();
  session.end(1);
  session.append("session.removed", {}, SOMEBODY);
  expect((await last).done).toBe(true);
});
