import { TURNS, WAITS } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { MessageRecord } from "../projection/messages.ts";
import {
  type Action,
  ANSWER_MS,
  COMMAND_MS,
  decide,
  FOUND_MS,
  limitIsOver,
  SHOWN_MS,
  type Situation,
  TAKEN_MS,
  TOLD_MS,
} from "./decide.ts";

const queued = {
  id: "m",
  state: "queued",
  text: "hello",
  steer: false,
  working: false,
  via: "typed",
  open: true,
} as MessageRecord;

const ready: Situation = {
  process: "lives",
  sameRun: true,
  turn: "idle",
  attention: null,
  usedUp: null,
  composer: "nothing",
  steadyMs: 0,
  attempt: { pasted: 0, entered: 0, sawTurn: null, told: null, into: null, heard: null, reply: null, failure: null },
  tells: { prompts: true, replies: true },
  joined: false,
  channel: undefined,
};

const afterRestart = { ...queued, state: "injecting" } as MessageRecord;
const submitted = { ...queued, state: "injected" } as MessageRecord;

const did = (message: MessageRecord, now: Partial<Situation>): Action["do"] => decide(message, { ...ready, ...now }).do;

const situations = fc.record({
  process: fc.constantFrom("lives", "created", "restarts", "broken", "ended"),
  sameRun: fc.boolean(),
  turn: fc.constantFrom(...TURNS, null),
  attention: fc.constantFrom(...WAITS, null),
  usedUp: fc.constantFrom(null, "its budget is used up"),
  composer: fc.constantFrom("nothing", "ours", "mixed", "other", "none"),
  steadyMs: fc.nat(20_000),
  attempt: fc.record({
    pasted: fc.nat(4),
    entered: fc.nat(3),
    sawTurn: fc.constantFrom(null, "title"),
    told: fc.constantFrom(null, "its hook told"),
    reply: fc.constantFrom(null, "done"),
    failure: fc.constantFrom(null, "429"),
  }),
  tells: fc.record({ prompts: fc.boolean(), replies: fc.boolean() }),
  joined: fc.boolean(),
  channel: fc.constantFrom(undefined, undefined, true, false),
}) as fc.Arbitrary<Situation>;

const messages = fc.record({
  state: fc.constantFrom("queued", "injecting", "injected", "turn_started"),
  steer: fc.boolean(),
  working: fc.boolean(),
  text: fc.constantFrom("hello", "/compact"),
}) as fc.Arbitrary<Partial<MessageRecord>>;

const anything = (check: (message: MessageRecord, now: Situation, action: Action) => void) =>
  fc.assert(
    fc.property(messages, situations, (given, now) => {
      const message = { ...queued, ...given } as MessageRecord;
      check(message, now, decide(message, now));
    }),
    { numRuns: 3000 },
  );

test("no key is pressed while the agent waits for a person, has ended, or has an unknown status (GRP-06 agents)", () => {
  anything((_, now, action) => {
    if (!now.attention && now.process === "lives") return;
    expect(["hand over", "press enter"]).not.toContain(action.do);
  });
  expect(did(queued, { turn: null })).toBe("hold");
});

test("no turn begins that the budget does not allow, and the sender is told why", () => {
  anything(({ state, steer }, { usedUp, turn }, action) => {
    if (usedUp !== null && state === "queued" && !(steer && turn === "working")) expect(action.do).not.toBe("hand over");
  });
  expect(decide(queued, { ...ready, usedUp: "its budget is used up" })).toMatchObject({ do: "hold", why: "its budget is used up" });
  expect(decide(queued, { ...ready, process: "ended", usedUp: "its budget is used up" })).toMatchObject({
    do: "fail",
    why: "its budget is used up",
  });
});

test("nothing is typed over somebody's draft, and Enter is not pressed on it (GRP-06 agents)", () => {
  anything((_, now, action) => {
    if (action.do === "press enter") expect(now.composer).toBe("ours");
    if (action.do === "hand over" && now.channel === undefined) expect(now.composer).toBe("nothing");
  });
});

test("a running turn is left alone unless the sender steers (GRP-06 agents)", () => {
  anything((message, now, action) => {
    if (action.do === "hand over" && now.turn === "working") expect(message.steer).toBe(true);
    if (action.do === "press enter" && now.turn === "working") expect(message.steer || message.working).toBe(true);
  });
  expect(did(queued, { turn: "working" })).toBe("hold");
  expect(did({ ...queued, steer: true }, { turn: "working" })).toBe("hand over");
  // The agent began a turn by itself while the message was typed.
  const pasted = { ...ready.attempt, pasted: 1 };
  expect(did(afterRestart, { turn: "working", composer: "ours", attempt: pasted })).toBe("hold");
  expect(did({ ...afterRestart, steer: true }, { turn: "working", composer: "ours", attempt: pasted })).toBe("press enter");
});

test("a message is typed again only if no trace of it exists and an agent that reports prompts reported none", () => {
  anything((message, now, action) => {
    if (action.do !== "requeue" || now.channel !== undefined) return;
    expect([now.turn, now.composer, now.attempt.sawTurn, now.attempt.entered]).toEqual(["idle", "nothing", null, 0]);
    expect(now.tells.prompts && now.steadyMs >= SHOWN_MS && now.sameRun && !message.working).toBe(true);
  });
});

test("a queued message to a dead agent waits for its next run; a delivered one fails", () => {
  expect(did(queued, { process: "broken" })).toBe("hold");
  expect(did(submitted, { process: "broken" })).toBe("fail");
  expect(did(queued, { process: "ended" })).toBe("fail");
});

test("every message reaches an end: none waits forever on an idle agent", () => {
  anything((message, now, action) => {
    const calm = now.process !== "restarts" && now.turn === "idle" && now.attention === null && now.steadyMs >= TOLD_MS;
    const clear = ["nothing", "ours", "mixed"].includes(now.composer);
    if (calm && clear && message.state !== "queued") expect(action.do).not.toBe("hold");
  });
});

test("a daemon that finds a half-delivered message continues from what it sees", () => {
  expect(did(afterRestart, { composer: "ours" })).toBe("hold");
  expect(did(afterRestart, { composer: "ours", steadyMs: FOUND_MS })).toBe("press enter");
  expect(did(afterRestart, { steadyMs: SHOWN_MS - 1 })).toBe("hold");
  expect(did(afterRestart, { steadyMs: SHOWN_MS })).toBe("requeue");
  expect(decide(afterRestart, { ...ready, steadyMs: TOLD_MS, tells: { prompts: false, replies: false } })).toMatchObject({
    do: "fail",
    known: false,
  });
  expect(decide({ ...afterRestart, working: true }, { ...ready, steadyMs: TOLD_MS })).toMatchObject({ do: "fail", known: false });
  expect(decide(afterRestart, { ...ready, sameRun: false })).toMatchObject({ do: "fail", known: false });
});

test("an Enter without effect is pressed once more, then given up in doubt: a slow agent may still take it", () => {
  const composer = "ours";
  const attempt = { ...ready.attempt, pasted: 1, entered: 1 };
  expect(did(submitted, { composer, attempt, steadyMs: TAKEN_MS - 1 })).toBe("hold");
  expect(did(submitted, { composer, attempt, steadyMs: TAKEN_MS })).toBe("press enter");
  expect(did(submitted, { composer, attempt: { ...attempt, entered: 2 }, steadyMs: TAKEN_MS })).toBe("hold");
  expect(decide(submitted, { ...ready, composer, attempt: { ...attempt, entered: 2 }, steadyMs: TOLD_MS })).toMatchObject({
    do: "fail",
    known: false,
  });
});

test("a message to an agent that reports no turns is settled; without an expected report it fails in doubt", () => {
  const silent = { prompts: false, replies: false };
  expect(did(submitted, { tells: silent, steadyMs: TOLD_MS })).toBe("settle");
  expect(did({ ...submitted, text: "/compact" }, { steadyMs: TOLD_MS })).toBe("settle");
  expect(decide(submitted, { ...ready, steadyMs: TOLD_MS })).toMatchObject({ do: "fail", known: false });
  expect(did(submitted, { tells: silent, turn: "working" })).toBe("note turn");
});

test("an agent's own command blocks nothing once the composer is empty and the agent is idle (truth 6)", () => {
  const command = { ...submitted, text: "/clear" };
  expect(did(command, { steadyMs: COMMAND_MS - 1 })).toBe("hold");
  expect(did(command, { steadyMs: COMMAND_MS })).toBe("settle");
  expect(did({ ...command, via: "input file" }, { steadyMs: COMMAND_MS, composer: "other", channel: true })).toBe("settle");
  expect(did(submitted, { steadyMs: COMMAND_MS })).toBe("hold");
  for (const composer of ["ours", "other", "none"] as const) expect(did(command, { steadyMs: COMMAND_MS, composer })).toBe("hold");
  for (const turn of ["working", null] as const) expect(did(command, { steadyMs: COMMAND_MS, turn })).toBe("hold");
  expect(did({ ...command, working: true }, { steadyMs: COMMAND_MS })).toBe("hold");
  const attempt = { ...ready.attempt, sawTurn: "title" };
  expect(did(command, { steadyMs: COMMAND_MS, attempt })).toBe("settle");
  expect(did(command, { steadyMs: COMMAND_MS, attempt, tells: { prompts: false, replies: false } })).toBe("note turn");
});

test("a message given into a running turn is answered by the last answer once all is quiet (BG-06 agents)", () => {
  const steered = { ...submitted, working: true };
  const attempt = { ...ready.attempt, told: "its hook told", reply: "the turn that ran" };
  expect(did(steered, { turn: "working", steadyMs: 60_000 })).toBe("hold");
  expect(did(steered, { attempt, steadyMs: ANSWER_MS - 1 })).toBe("hold");
  expect(decide(steered, { ...ready, attempt, steadyMs: ANSWER_MS })).toEqual({ do: "note turn", evidence: "its hook told" });
  expect(did({ ...steered, state: "turn_started" }, { attempt, steadyMs: ANSWER_MS })).toBe("note reply");
});

test("a message that the agent took into a turn is answered with that turn (truth 8)", () => {
  const attempt = { ...ready.attempt, heard: { reply: "done", turn: "t1" } };
  expect(did(submitted, { attempt, joined: true })).toBe("note answer");
  expect(did(submitted, { attempt })).toBe("hold");
  expect(did(submitted, { attempt, joined: true, sameRun: false })).toBe("fail");
});

test("a rate limit is waited for until its end, or for a minute if that is unknown; other waits are not ended", () => {
  const now = Date.parse("2026-01-02T10:00:00Z");
  const at = (ms: number) => new Date(now + ms).toISOString();
  const limit = (until: string | null) => ({ for: "rate_limit", text: null, until }) as const;
  expect(limitIsOver(limit(at(-1)), { turn: "idle", since: at(-5), now })).toBe(true);
  expect(limitIsOver(limit(at(1)), { turn: "idle", since: at(-3_600_000), now })).toBe(false);
  expect(limitIsOver(limit(null), { turn: "idle", since: at(-61_000), now })).toBe(true);
  expect(limitIsOver(limit(null), { turn: "idle", since: at(-1000), now })).toBe(false);
  expect(limitIsOver(limit(null), { turn: "idle", since: null, now })).toBe(false);
  // A dialog about the limit may be open, or the agent retries on its own.
  expect(limitIsOver(limit(at(-1)), { turn: "working", since: at(-61_000), now })).toBe(false);
  expect(limitIsOver({ for: "approval", text: null, until: at(-1) }, { turn: "idle", since: at(-61_000), now })).toBe(false);
});

test("a composer that shows other text after a paste gets no Enter, and is not waited for forever", () => {
  const attempt = { ...ready.attempt, pasted: 1 };
  expect(did(afterRestart, { composer: "other", attempt, steadyMs: 20_000 })).toBe("hold");
  expect(decide(afterRestart, { ...ready, composer: "other", attempt, steadyMs: 30_000 })).toMatchObject({ do: "fail", known: true });
  // If another daemon typed the message, it may have been submitted, and this text came later.
  expect(decide(afterRestart, { ...ready, composer: "other", steadyMs: 30_000 })).toMatchObject({ do: "fail", known: false });
});

test("a turn that a rate limit has ended has failed; one that waits for the limit has not", () => {
  const started = { ...queued, state: "turn_started" } as MessageRecord;
  const limited = { attention: "rate_limit", steadyMs: ANSWER_MS } as const;
  expect(decide(started, { ...ready, ...limited })).toMatchObject({ do: "fail", why: "its rate limit ended the turn", known: true });
  expect(did(started, { ...limited, steadyMs: 0 })).toBe("hold");
  expect(did(started, { ...limited, turn: "working" })).toBe("hold");
  expect(did(started, { ...limited, attention: "approval" })).toBe("hold");
});
