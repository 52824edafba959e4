import { ANSWERS, type Answer, isHeldBack, judge } from "@holdfast/daemon/agent/fixtures/accuracy";
import { type Fixture, readFixtures } from "@holdfast/daemon/agent/fixtures/fixtures";
import { Profiles } from "@holdfast/daemon/agent/profiles/index";
import { type Benchmark, type Row, spread } from "./harness.ts";

export const accuracy: Benchmark = {
  name: "accuracy",
  measures:
    "Results of the screen rules for recorded screens of the real agents in known states, compared with the reading of a person. Unknown: not wrong, but incomplete. Held back: recorded after the rules were finished. Two of these have changed a rule since: Claude's `subagent`, which was unknown, and opencode's `usage-limit`, which was wrong. Results do not depend on the machine.",
  baseline: "the recordings that the rules were made from",
  budget: "no wrong answer",
  async run(): Promise<Row[]> {
    const all = readFixtures();
    const wrong = all.filter((fixture) => answerOf(fixture) === "wrong").length;
    return [
      ...agentsOf(all).map((agent) => rowOf(all.filter((fixture) => fixture.agent === agent))),
      { what: `wrong answers, of ${all.length} screens`, unit: "screens", subject: spread([wrong]), limit: { of: "subject", atMost: 0 } },
    ];
  },
  /** Per state and agent; a status that is missing here was reported for no screen. */
  table() {
    const all = readFixtures();
    const agents = agentsOf(all);
    const states = [...new Set(all.map(({ state }) => state))].sort();
    const of = (state: string, agent: string) => all.filter((fixture) => fixture.state === state && fixture.agent === agent);
    const whole = agents.map((agent) => counted(all.filter((fixture) => fixture.agent === agent)));
    return [
      ["state", ...agents],
      ...states.map((state) => [state, ...agents.map((agent) => counted(of(state, agent)))]),
      ["all", ...whole],
      ["held back", ...agents.map((agent) => counted(all.filter((fixture) => fixture.agent === agent && isHeldBack(fixture))))],
    ];
  },
};

const profiles = new Profiles();

function answerOf(fixture: Fixture): Answer {
  return judge(profiles.get(fixture.agent).screen ?? [], fixture).answer;
}

function agentsOf(fixtures: readonly Fixture[]): string[] {
  return [...new Set(fixtures.map(({ agent }) => agent))];
}

function rowOf(fixtures: readonly Fixture[]): Row {
  const heldBack = fixtures.filter(isHeldBack);
  const known = fixtures.filter((fixture) => !isHeldBack(fixture));
  return {
    what: `${fixtures[0]?.agent}, right of ${heldBack.length} held back`,
    unit: "%",
    subject: spread([share(heldBack)]),
    baseline: { name: `of ${known.length} known`, ...spread([share(known)]) },
  };
}

function share(fixtures: readonly Fixture[]): number {
  return (100 * fixtures.filter((fixture) => answerOf(fixture) === "right").length) / fixtures.length;
}

function counted(fixtures: readonly Fixture[]): string {
  const answers = fixtures.map(answerOf);
  return ANSWERS.map((answer) => ({ answer, count: answers.filter((one) => one === answer).length }))
    .filter(({ count }) => count > 0)
    .map(({ answer, count }) => `${count} ${answer}`)
    .join(", ");
}
