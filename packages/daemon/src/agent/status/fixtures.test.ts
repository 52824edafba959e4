/** Applies the rules to recorded screens of real agents. A wrong answer fails; missing answers are counted separately. */
import { describe, expect, test } from "vitest";
import { isHeldBack, judge } from "../fixtures/accuracy.ts";
import { nameOf, readFixtures } from "../fixtures/fixtures.ts";
import { Profiles } from "../profiles/index.ts";
import { readScreen } from "./screen-rules.ts";

const profiles = new Profiles();

/** Largest share of an agent's recorded screens that may have no answer. */
const MOST_UNKNOWN = 0.1;

const all = readFixtures();

test.each(["claude", "codex"])("%s waits for its limit until the announced time", (agent) => {
  const told = all.filter((fixture) => fixture.agent === agent && fixture.state === "usage-limit");
  expect(told.length).toBeGreaterThan(0);
  for (const fixture of told) {
    const noon = new Date(2026, 0, 1, 12).getTime();
    const until = readScreen(profiles.get(agent).screen ?? [], fixture.screen, noon)?.claim.attention?.until ?? "";
    expect([new Date(2026, 0, 1, 9, 41).toISOString(), new Date(2026, 0, 1, 10, 41).toISOString()], nameOf(fixture)).toContain(until);
  }
});

test.each(all.filter(({ state }) => state === "question").map((fixture) => [nameOf(fixture), fixture] as const))(
  "the question of %s is read, not its key hints",
  (_, { agent, screen }) => {
    const asked = readScreen(profiles.get(agent).screen ?? [], screen)?.claim.attention;
    expect(asked).toMatchObject({
      for: "question",
      text: expect.stringMatching(/^(Which colour is it|What should the button look like|Where should it go)\?$/),
    });
  },
);

describe.each([...new Set(all.map(({ agent }) => agent))])("%s", (agent) => {
  const fixtures = all.filter((fixture) => fixture.agent === agent);
  const rules = profiles.get(agent).screen ?? [];

  test.each(fixtures.map((fixture) => [nameOf(fixture), fixture] as const))("%s is read correctly, or not at all", (_, fixture) => {
    expect(judge(rules, fixture).wrong).toEqual([]);
  });

  test("few states are unknown", () => {
    const unknown = fixtures.filter((fixture) => judge(rules, fixture).answer === "unknown").map(nameOf);
    expect(unknown.length, unknown.join(", ")).toBeLessThanOrEqual(Math.floor(fixtures.length * MOST_UNKNOWN));
  });

  test("a third of the screens were recorded after the rules were finished", () => {
    expect(fixtures.filter(isHeldBack).length).toBeGreaterThanOrEqual(fixtures.length / 3);
  });
});
