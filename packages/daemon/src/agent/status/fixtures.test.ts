/** What the rules say of recorded screens of the real agents: a wrong answer fails, no answer is counted apart. */
import { describe, expect, test } from "vitest";
import { isHeldBack, judge } from "../fixtures/accuracy.ts";
import { nameOf, readFixtures } from "../fixtures/fixtures.ts";
import { Profiles } from "../profiles/index.ts";

const profiles = new Profiles();

/** No more than this share of an agent's recorded screens may be left without an answer. */
const MOST_UNKNOWN = 0.1;

const all = readFixtures();

describe.each([...new Set(all.map(({ agent }) => agent))])("%s", (agent) => {
  const fixtures = all.filter((fixture) => fixture.agent === agent);
  const rules = profiles.get(agent).screen ?? [];

  test.each(fixtures.map((fixture) => [nameOf(fixture), fixture] as const))("%s is read right, or not at all", (_, fixture) => {
    expect(judge(rules, fixture).wrong).toEqual([]);
  });

  test("few states are unknown", () => {
    const unknown = fixtures.filter((fixture) => judge(rules, fixture).answer === "unknown").map(nameOf);
    expect(unknown.length, unknown.join(", ")).toBeLessThanOrEqual(Math.floor(fixtures.length * MOST_UNKNOWN));
  });

  test("a third of the screens were recorded when the rules were done", () => {
    expect(fixtures.filter(isHeldBack).length).toBeGreaterThanOrEqual(fixtures.length / 3);
  });
});
