import { type Evidence, SOURCES } from "@holdfast/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withEvidence } from "./evidence.ts";
import { explain, fuse, SLOW_REDRAW_MS, statusOf } from "./fuse.ts";

const time = (ms: number) => new Date(ms).toISOString();
const hook = (at: number, claim: Evidence["claim"], what = "a hook"): Evidence => ({ source: "hook", at: time(at), claim, what });
const screen = (at: number, claim: Evidence["claim"], settled = true): Evidence => ({
  source: "screen",
  at: time(at),
  claim,
  what: "a rule",
  settled,
});
const status = (...evidence: Evidence[]) => statusOf(fuse(evidence));

test("without evidence the status is unknown", () => {
  expect(status()).toBe("unknown");
  expect(fuse([])).toEqual({ turn: null, attention: null, background: null });
});

test("a hook is believed over an earlier screen", () => {
  expect(status(screen(1000, { turn: "idle" }), hook(2000, { turn: "working" }))).toBe("working");
});

test("a screen that settles after the hook corrects a turn that no hook ended", () => {
  expect(status(hook(1000, { turn: "working" }), screen(9000, { turn: "idle", attention: null }))).toBe("idle");
});

test("the last frame of a spinner after the hook that ended the turn does not begin another turn", () => {
  expect(status(hook(1000, { turn: "idle" }), screen(1000 + SLOW_REDRAW_MS, { turn: "working" }))).toBe("idle");
  expect(status(hook(1000, { turn: "idle" }), screen(9000, { turn: "working" }, false))).toBe("idle");
});

test("an idle composer does not end a reported turn that is not drawn yet", () => {
  expect(status(hook(1000, { turn: "working" }), screen(1000 + SLOW_REDRAW_MS, { turn: "idle" }))).toBe("working");
});

test("a later settled screen is believed: a turn can begin without a hook", () => {
  expect(status(hook(1000, { turn: "idle" }), screen(9000, { turn: "working" }))).toBe("working");
});

test("waiting for a person comes before everything else", () => {
  const approval = { for: "approval", text: "rm -rf build", until: null } as const;
  expect(status(hook(1000, { turn: "working" }), hook(2000, { attention: approval }))).toBe("waiting");
  expect(status(hook(1000, { attention: approval }), hook(2000, { attention: null, turn: "working" }))).toBe("working");
});

test("a screen that confirms a hook keeps the hook's text and time", () => {
  const told = hook(1000, { attention: { for: "approval", text: "Bash: rm -rf build", until: null } });
  const shown = screen(9000, { attention: { for: "approval", text: "Do you want to proceed?", until: null } });
  expect(fuse([told, shown]).attention).toEqual({ value: told.claim.attention, evidence: told });
});

test("an idle composer does not end a limit that a hook reported; the next turn does", () => {
  const limited = hook(1000, { turn: "idle", attention: { for: "rate_limit", text: null, until: null } });
  expect(status(limited, screen(9000, { turn: "idle", attention: null }))).toBe("waiting");
  expect(status(limited, screen(9000, { turn: "working", attention: null }))).toBe("working");
  expect(status(limited, hook(9000, { turn: "working", attention: null }))).toBe("working");
});

test("a progress bar does not end a limit before the time that a hook reported (truth 2)", () => {
  const limited = hook(1000, { turn: "working", attention: { for: "rate_limit", text: null, until: time(20_000) } });
  expect(status(limited, screen(9000, { turn: "working", attention: null }))).toBe("waiting");
  expect(status(limited, screen(21_000, { turn: "working", attention: null }))).toBe("working");
});

test("an idle prompt with a background process is idle with background work", () => {
  const standing = fuse([hook(1000, { turn: "idle" }), screen(2000, { background: true })]);
  expect(statusOf(standing)).toBe("idle");
  expect(standing.background?.value).toBe(true);
});

test("nothing corrects a structured protocol", () => {
  expect(status({ source: "protocol", at: time(1), claim: { turn: "working" }, what: "a prompt" }, screen(1e9, { turn: "idle" }))).toBe(
    "working",
  );
});

describe("any evidence", () => {
  const any = fc.array(
    fc.record({
      source: fc.constantFrom(...SOURCES),
      at: fc.integer({ min: 0, max: 10_000 }).map(time),
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

  test("each believed value is a claim, and an axis is unknown exactly if there is no claim about it", () => {
    fc.assert(
      fc.property(any, (evidence) => {
        const standing = fuse(evidence);
        for (const axis of ["turn", "attention", "background"] as const) {
          const claims = evidence.filter(({ claim }) => claim[axis] !== undefined);
          expect(standing[axis] === null).toBe(claims.length === 0);
          if (standing[axis]) expect(claims).toContain(standing[axis].evidence);
        }
      }),
    );
  });

  test("the order of arrival does not matter, except for evidence of one source at the same time", () => {
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

test("the claim of a waiting hook holds, whatever the screen shows, until the hook changes it", () => {
  const approval = { for: "approval", text: "rm -rf build", until: null } as const;
  const parked = { ...hook(1000, { attention: approval, turn: "working" as const }), held: true };
  expect(status(parked, screen(9000, { turn: "working", attention: null }))).toBe("waiting");
  expect(status(parked, screen(9000, { attention: null }), hook(9500, { attention: null }))).toBe("working");
});

test("dropping obsolete evidence does not change the standing", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...SOURCES), fc.nat(9000), fc.boolean()), { maxLength: 20 }), (seen) => {
      const all = seen.map(
        ([source, at, idle]): Evidence => ({ source, at: time(at), claim: idle ? { turn: "idle" } : { attention: null }, what: "" }),
      );
      const kept = all.reduce<Evidence[]>(withEvidence, []);
      expect(fuse(kept)).toEqual(fuse(all));
      expect(kept.length).toBeLessThanOrEqual(SOURCES.length * 2);
    }),
  );
});

test("explain shows for each axis the value, its evidence and time, and all other evidence", () => {
  const begun = hook(1000, { turn: "working" }, "UserPromptSubmit");
  const rest = screen(9000, { turn: "idle", attention: null });
  expect(explain([begun, rest])).toEqual({
    turn: { value: "idle", evidence: rest },
    attention: { value: null, evidence: rest },
    background: null,
    others: [begun],
  });
});

test("if the most trusted source only says that the agent waits, another source supplies the text", () => {
  const waits = (text: string | null) => ({ turn: "working", attention: { for: "approval", text, until: null } }) as const;
  const file: Evidence = { source: "state_file", at: time(2000), claim: waits(null), what: "it says waiting" };
  expect(fuse([file, screen(2100, waits("Edit file e.txt"))]).attention).toEqual({
    value: { for: "approval", text: "Edit file e.txt", until: null },
    evidence: file,
  });
  expect(fuse([file, screen(2100, { attention: { for: "question", text: "Which?", until: null } })]).attention?.value?.text).toBeNull();
});

test("processes show the end of background work before the screen, and only a settled screen contradicts them (truth 4)", () => {
  const processes = (ms: number, background: boolean): Evidence => ({
    source: "processes",
    at: time(ms),
    claim: { background },
    what: "sh",
  });
  const screen = (ms: number, background: boolean, settled = true): Evidence => ({
    source: "screen",
    at: time(ms),
    claim: { background },
    what: "1 shell",
    settled,
  });
  expect(fuse([screen(1000, true), processes(1000, true)]).background?.value).toBe(true);
  expect(fuse([screen(1000, true), processes(3000, false)]).background?.value).toBe(false);
  expect(fuse([screen(3400, true), processes(3000, false)]).background?.value).toBe(false);
  expect(fuse([screen(4000, true, false), processes(3000, false)]).background?.value).toBe(false);
  expect(fuse([screen(4000, true), processes(3000, false)]).background?.value).toBe(true);
});
