import { expect, test } from "vitest";
import type { Step } from "../recording/timeline.ts";
import { asciicast } from "./asciicast.ts";

const output = (text: string): Step => ({ kind: "output", at: 0, bytes: Buffer.from(text), timed: true });
const gap: Step = { kind: "gap", at: 1000, gap: { offset: 5, bytes: 12_288, why: "the disk was full", began: null } };

async function events(...steps: Step[]): Promise<unknown[]> {
  async function* all() {
    yield* steps;
  }
  const lines = await Array.fromAsync(asciicast(all(), { title: "x", command: "x", startedAt: null }));
  return lines.slice(1).map((line) => JSON.parse(line));
}

test("a gap becomes a marker and its own line in the output", async () => {
  const note = "12 KB not recorded: the disk was full";
  expect(await events(output("one\r\ntw"), gap, output("three\r\n"), gap)).toEqual([
    [0, "o", "one\r\ntw"],
    [1, "m", note],
    [1, "o", `\r\n[… ${note} …]\r\n`],
    [0, "o", "three\r\n"],
    [1, "m", note],
    [1, "o", `[… ${note} …]\r\n`],
  ]);
});

test("a gap inside a full-screen program becomes only a marker", async () => {
  const steps = await events(output("\x1b[?1049hwhole screen"), gap, output("\x1b[?1049lback"), gap);
  expect(steps).toEqual([
    [0, "o", "\x1b[?1049hwhole screen"],
    [1, "m", "12 KB not recorded: the disk was full"],
    [0, "o", "\x1b[?1049lback"],
    [1, "m", "12 KB not recorded: the disk was full"],
    [1, "o", "\r\n[… 12 KB not recorded: the disk was full …]\r\n"],
  ]);
});
