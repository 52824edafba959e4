import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { RUN, SESSION, World } from "../../test/conversation-world.ts";
import { TranscriptMending } from "./mending.ts";
import { Transcripts } from "./transcripts.ts";

/** An ended conversation of three turns, and a way to read it. */
async function ended() {
  const world = new World();
  const conversations = world.begin();
  for (const words of ["one", "two", "three"]) {
    const id = world.queue(words);
    await vi.waitFor(() => expect(world.told.some((request) => request.t === "prompt" && request.message === id)).toBe(true));
    world.write({ type: "text", text: `answer to ${words}` }, { type: "turn_ended", reason: "completed" });
  }
  conversations.ended(RUN);
  world.end();
  const { home, journal, queries } = world;
  const mending = new TranscriptMending({ home, journal, queries });
  const transcripts = new Transcripts({ home, queries, changed: () => undefined, mend: (record, how) => mending.tryToMend(record, how) });
  const read = () => transcripts.read(transcripts.resolve(SESSION), {}).entries.map(({ entry }) => entry);
  return { world, read, aside: join(home.path, "damaged") };
}

function words(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.type === "user" || entry.type === "text" ? [entry.text] : []));
}

const ALL = ["one", "answer to one", "two", "answer to two", "three", "answer to three"];

/** The expected note, the number of lost turns, and the damage to the file. */
const DAMAGE: [what: string, turns: number, harm: (file: string) => void][] = [
  ["is empty", 3, (file) => truncateSync(file, 0)],
  ["is missing", 3, (file) => rmSync(file)],
  ["is shorter than it was", 2, (file) => truncateSync(file, readFileSync(file).indexOf('"two"'))],
  ["was changed", 3, (file) => writeFileSync(file, Buffer.alloc(readFileSync(file).length + 100, "x"))],
  [
    "was changed",
    1,
    (file) =>
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(/^.*"two".*\n.*\n.*$/m, (lines) => "g".repeat(lines.length)),
      ),
  ],
];

test.each(DAMAGE)(
  "a transcript of an ended run that %s is set aside, and its %i lost turns are restored from the journal (mend 23)",
  async (what, turns, harm) => {
    const { world, read, aside } = await ended();
    using _ = world;
    expect(words(read())).toEqual(ALL);
    harm(world.transcript);
    const found = existsSync(world.transcript) ? readFileSync(world.transcript) : Buffer.alloc(0);
    const entries = read();
    expect(words(entries)).toEqual(ALL);
    expect(entries[0]).toMatchObject({ type: "note", about: "recovered", text: expect.stringContaining(what) });
    expect(new Set(entries.map(({ n }) => n)).size).toBe(entries.length);
    const events = world.events("transcript.damaged");
    expect(events.map(({ data }) => data)).toMatchObject([{ run: 1, turns, what, aside: found.length > 0 ? expect.any(String) : null }]);
    const kept = events[0]?.data.aside;
    if (kept) expect(readFileSync(kept).equals(found)).toBe(true);
    else expect(existsSync(aside)).toBe(false);
    // Only once: the replacement is good.
    expect(words(read())).toEqual(ALL);
    expect(world.events("transcript.damaged")).toHaveLength(1);
    expect(existsSync(aside) ? readdirSync(aside).length : 0).toBe(kept ? 1 : 0);
  },
);

test("a starting daemon checks all transcripts, and leaves good and live ones alone (mend 23)", async () => {
  const { world } = await ended();
  using _ = world;
  const { home, journal, queries } = world;
  const good = readFileSync(world.transcript, "utf8");
  await new TranscriptMending({ home, journal, queries }).begin(new AbortController().signal);
  expect(readFileSync(world.transcript, "utf8")).toBe(good);
  truncateSync(world.transcript, 0);
  await new TranscriptMending({ home, journal, queries }).begin(new AbortController().signal);
  expect(world.events("transcript.damaged")).toMatchObject([{ data: { turns: 3 } }]);
  world.append("session.run_created", { run: 2, why: "resume" });
  world.append("session.started", { run: 2, pid: 8, pidStart: "y", outputPath: "/out" });
  world.append("turn.ended", { run: 2, turn: "m9", offset: 500, reason: "completed", text: "", error: null });
  await new TranscriptMending({ home, journal, queries }).begin(new AbortController().signal);
  expect(world.events("transcript.damaged")).toHaveLength(1);
});
