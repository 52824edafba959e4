/** What is read in the composers of recorded screens of the real agents. */
import { describe, expect, test } from "vitest";
import { type Composer, readComposer } from "./composer.ts";
import { nameOf, readFixtures } from "./fixtures/fixtures.ts";
import { Profiles } from "./profiles/index.ts";

const profiles = new Profiles();
const all = readFixtures();

describe.each([...new Set(all.map(({ agent }) => agent))])("%s", (agent) => {
  const composer = profiles.get(agent).composer as Composer;
  const fixtures = all.filter((fixture) => fixture.agent === agent);

  test.each(fixtures.map((fixture) => [nameOf(fixture), fixture] as const))(
    "in %s a draft is seen exactly where there is one",
    (_, fixture) => {
      expect(readComposer(composer, fixture.screen)?.is ?? null).toBe(fixture.expected.composer);
    },
  );
});
