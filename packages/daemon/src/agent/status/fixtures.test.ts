/** What the rules say of recorded screens of the real agents: a wrong answer fails, no answer is counted apart. */
import { describe, expect, test } from "vitest";
import { type Fixture, nameOf, readFixtures } from "../fixtures/fixtures.ts";
import { Profiles } from "../profiles/index.ts";
import { readScreen } from "./screen-rules.ts";

const profiles = new Profiles();

/** No more than this share of an agent's recorded screens may be left without an answer. */
const MOST_UNKNOWN = 0.1;

const all = readFixtures();

describe.each([...new Set(all.map(({ agent }) => agent))])("%s", (agent) => {
  const fixtures = all.filter((fixture) => fixture.agent === agent);
  const rules = profiles.get(agent).screen ?? [];

  test.each(fixtures.map((fixture) => [nameOf(fixture), fixture] as const))("%s is read right, or not at all", (_, fixture) => {
    expect(wrongs(fixture, rules)).toEqual([]);
  });

  test("few states are unknown", () => {
    const unknown = fixtures.filter(({ screen }) => !readScreen(rules, screen)).map(nameOf);
    expect(unknown.length, unknown.join(", ")).toBeLessThanOrEqual(Math.floor(fixtures.length * MOST_UNKNOWN));
  });
});

function wrongs({ screen, expected }: Fixture, rules: Parameters<typeof readScreen>[0]): string[] {
  const read = readScreen(rules, screen);
  if (!read) return [];
  const { turn, attention, background } = read.claim;
  const wrong: string[] = [];
  const says = (axis: string, is: unknown, must: unknown) => wrong.push(`${read.what}: ${axis} is ${must}, not ${is}`);
  if (turn !== undefined && expected.turn !== null && turn !== expected.turn) says("turn", turn, expected.turn);
  if (turn === "working" && expected.turn === null) says("turn", turn, "not begun");
  if (attention !== undefined && (attention?.for ?? null) !== (expected.attention?.for ?? null))
    says("attention", attention?.for, expected.attention?.for);
  if (background !== undefined && background !== expected.background) says("background", background, expected.background);
  return wrong;
}
