import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Evidence, SOURCES } from "./evidence.ts";
import { explain, fuse, REDRAW_MS, statusOf } from "./fuse.ts";

const hook = (at: number, claim: Evidence["claim"], what = "a hook"): Evidence => ({ source: "hook", at, claim, what });
const screen = (at: number, claim: Evidence["claim"], settled = true): Evidence => ({
  source: "screen",
  at,
  claim,
  what: "a rule",
  settled,
});
const status = (...evidence: Evidence[]) => statusOf(fuse(evidence));

test("without evidence nothing is known", () => {
  expect(status()).toBe("unknown");
  expect(fuse([])).toEqual({ turn: undefined, attention: undefined, background: undefined });
});

test("a hook is believed before the screen that was there already", () => {
  expect(status(screen(1000, { turn: "idle" }), hook(2000, { turn: "working" }))).toBe("working");
});

test("a screen that came to rest after the hook corrects a working that no hook ever ended", () => {
  expect(status(hook(1000, { turn: "working" }), screen(9000, { turn: "idle", attention: null }))).toBe("idle");
});

test("a last frame of the spinner, drawn after the hook that ended the turn, does not begin another", () => {
  expect(status(hook(1000, { turn: "idle" }), screen(1000 + REDRAW_MS, { turn: "working" }))).toBe("idle");
  expect(status(hook(1000, { turn: "idle" }), screen(9000, { turn: "working" }, false))).toBe("idle");
});

test("what is on the screen in the end is believed: a turn that began without a hook", () => {
  expect(status(hook(1000, { turn: "idle" }), screen(9000, { turn: "working" }))).toBe("working");
});

test("waiting for a person comes before everything else", () => {
  const approval = { for: "approval", text: "rm -rf build", until: null } as const;
  expect(status(hook(1000, { turn: "working" }), hook(2000, { attention: approval }))).toBe("waiting");
  expect(status(hook(1000, { attention: approval }), hook(2000, { attention: null, turn: "working" }))).toBe("working");
});

test("an idle prompt with something in the background is idle with background work", () => {
  const standing = fuse([hook(1000, { turn: "idle" }), screen(2000, { background: true })]);
  expect(statusOf(standing)).toBe("idle");
  expect(standing.background?.value).toBe(true);
});

test("a structured protocol is corrected by nothing", () => {
  expect(status({ source: "protocol", at: 1, claim: { turn: "working" }, what: "a prompt" }, screen(1e9, { turn: "idle" }))).toBe(
    "working",
  );
});

describe("whatever was seen", () => {
  const any = fc.array(
    fc.record({
      source: fc.constantFrom(...SOURCES),
      at: fc.integer({ min: 0, max: 10_000 }),
      claim: fc.record(
        {
          turn: fc.constantFrom("idle" as const, "working" as const),
          attention: fc.constantFrom(null, { for: "question" as const, text: null, until: null }),
          background: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      what: fc.constant("seen"),
      settled: fc.boolean(),
    }),
    { maxLength: 12 },
  );

  test("each belief is somebody's claim, and an axis is unknown exactly when nobody claims it", () => {
    fc.assert(
      fc.property(any, (evidence) => {
        const standing = fuse(evidence);
        for (const axis of ["turn", "attention", "background"] as const) {
          const claims = evidence.filter(({ claim }) => claim[axis] !== undefined);
          expect(standing[axis] === undefined).toBe(claims.length === 0);
          if (standing[axis]) expect(claims).toContain(standing[axis].evidence);
        }
      }),
    );
  });

  test("an order in which it was noticed changes nothing, except between what came at one time from one source", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          any.map((list) => list[0]).filter((one) => one !== undefined),
          { selector: ({ source, at }) => `${source} ${at}` },
        ),
        (evidence) => {
          expect(fuse([...evidence].reverse())).toEqual(fuse(evidence));
        },
      ),
    );
  });
});

test("explain says for each axis what is believed, by what and since when, and what was seen besides", () => {
  const lines = explain([hook(1000, { turn: "working" }, "UserPromptSubmit"), screen(9000, { turn: "idle", attention: null })], 12_000);
  expect(lines).toEqual([
    "turn: idle, by screen, 3 s ago: a rule",
    "attention: none, by screen, 3 s ago: a rule",
    "background: unknown: nothing says so",
    "not decisive: hook, 11 s ago: UserPromptSubmit",
  ]);
});
