import { describe, expect, test } from "vitest";
import { type Claim, judge, type Truth } from "./judge.ts";

const truths: Truth[] = [
  { at: 0, is: "idle", state: "turn" },
  { at: 10_000, is: "working", state: "turn" },
  { at: 20_000, is: "idle", state: "turn" },
];

function verdicts(...claims: [at: number, says: string | null][]): string[] {
  const said: Claim[] = claims.map(([at, says]) => ({ at, says }));
  return judge(truths, said, 30_000).map(({ verdict, latencyMs }) => `${verdict} ${latencyMs}`);
}

describe("the judge of npm run accuracy", () => {
  test("a claim within half a second is right, a later claim is late", () => {
    expect(verdicts([0, "idle"], [10_200, "working"], [20_700, "idle"])).toEqual(["right 0", "right 200", "late 700"]);
  });

  test("a claim that comes shortly before its truth is right", () => {
    expect(verdicts([0, "idle"], [9_000, "working"], [19_900, "idle"])).toEqual(["right 0", "right 0", "right 0"]);
    expect(verdicts([0, "idle"], [7_000, "working"], [20_000, "idle"])).toEqual(["wrong 0", "right 0", "right 0"]);
  });

  test("a claim that changes away from the truth is wrong, however briefly", () => {
    expect(verdicts([0, "idle"], [10_000, "working"], [15_000, "waiting"], [15_100, "working"], [20_000, "idle"])).toEqual([
      "right 0",
      "wrong 0",
      "right 0",
    ]);
  });

  test("a missing claim is wrong, or unknown if Holdfast claimed nothing else", () => {
    expect(verdicts([0, "idle"])).toEqual(["right 0", "wrong null", "right 0"]);
    expect(verdicts([0, "idle"], [10_100, null], [20_000, "idle"])).toEqual(["right 0", "unknown null", "right 0"]);
  });

  test("a repeated claim counts once", () => {
    expect(verdicts([0, "idle"], [10_100, "working"], [20_100, "working"], [20_400, "idle"])).toEqual([
      "right 0",
      "right 100",
      "right 400",
    ]);
    expect(verdicts([0, "idle"], [10_100, "working"], [20_100, "working"], [20_800, "idle"])).toEqual(["right 0", "right 100", "late 800"]);
  });

  test("another claim before the right one is wrong if it lasts", () => {
    expect(verdicts([0, "idle"], [10_000, "working"], [20_100, "waiting"], [20_300, "idle"])).toEqual(["right 0", "right 0", "right 300"]);
    expect(verdicts([0, "idle"], [10_000, "working"], [20_100, "waiting"], [22_300, "idle"])).toEqual(["right 0", "right 0", "wrong 2300"]);
  });

  test("a claim after an answer is not judged against the time before it", () => {
    const answered: Truth[] = [
      { at: 0, is: "waiting", state: "denied", until: 5000 },
      { at: 5300, is: "idle", state: "denied" },
    ];
    const said = [
      { at: 0, says: "waiting" },
      { at: 5100, says: "working" },
      { at: 7500, says: "idle" },
    ];
    expect(judge(answered, said, 10_000).map(({ verdict, latencyMs }) => [verdict, latencyMs])).toEqual([
      ["right", 0],
      ["late", 2200],
    ]);
  });

  test("a truth too short to be noticed is not judged", () => {
    const brief: Truth[] = [...truths.slice(0, 2), { at: 10_300, is: "idle", state: "turn" }];
    expect(judge(brief, [{ at: 0, says: "idle" }], 30_000).map(({ is }) => is)).toEqual(["idle", "idle"]);
  });

  test("the claim from before a turn that ends at once does not count for the time after it", () => {
    const brief: Truth[] = [...truths.slice(0, 2), { at: 10_050, is: "idle", state: "turn" }];
    const last = (...claims: [at: number, says: string][]) => {
      const said = claims.map(([at, says]) => ({ at, says }));
      const one = judge(brief, said, 30_000).at(-1);
      return `${one?.verdict} ${one?.latencyMs}`;
    };
    expect(last([0, "idle"], [10_052, "working"], [10_070, "idle"])).toBe("right 20");
    expect(last([0, "idle"], [10_052, "working"], [10_750, "idle"])).toBe("wrong 700");
    expect(last([0, "idle"], [10_052, "waiting"], [10_070, "idle"])).toBe("wrong 0");
  });
});
