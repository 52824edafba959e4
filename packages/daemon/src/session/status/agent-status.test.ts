import type { Evidence } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type HookReading, readHook } from "../../agent/hooks/hook-rules.ts";
import { Profiles } from "../../agent/profiles/index.ts";
import { withEvidence } from "../../agent/status/evidence.ts";
import { fuse } from "../../agent/status/fuse.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import { changeOf, isOwn, withScreen } from "./agent-status.ts";

const at = (ms: number) => new Date(ms).toISOString();
const prompted = (ms: number): Evidence => ({ source: "hook", at: at(ms), claim: { turn: "working" }, what: "UserPromptSubmit" });
const shows = (ms: number, turn: "idle" | "working"): Evidence => ({
  source: "screen",
  at: at(ms),
  claim: { turn },
  what: "a rule",
  settled: true,
});

test("a turn that the screen did not show for a while counts once, and the next one counts again", () => {
  const evidence = [prompted(1000), shows(9000, "idle")];
  const standing = { turn: "idle", attention: null, background: null, hung: false, evidence };
  const record = { run: 1, status: "idle", statusAt: at(9000), standing } as unknown as SessionRecord;
  expect(changeOf(record, [prompted(1000), shows(12_000, "working")], false)).toMatchObject({ status: "working", turnBegan: false });
  expect(changeOf(record, [shows(9000, "idle"), prompted(20_000)], false)).toMatchObject({ status: "working", turnBegan: true });
});

test.each(["qwen", "gemini"])("a %s that an agent starts as a tool does not take over the session's conversation", (agent) => {
  const reading = new Profiles().get(agent).hooks as HookReading;
  const begins = (source: string) => {
    const signal = readHook(reading, { hook_event_name: "SessionStart", source, session_id: "another" }, at(3000));
    if (!signal) throw new Error("nothing was told");
    return signal;
  };
  const heard = { turn: "working", attention: null, background: null, hung: false, evidence: [prompted(1000)] } as const;
  const record = (standing: unknown) => ({ conversation: "own", standing }) as SessionRecord;
  expect(isOwn(begins("startup"), record(heard))).toBe(false);
  expect(isOwn(begins("clear"), record(heard))).toBe(true);
  expect(isOwn(begins("startup"), record(null))).toBe(true);
  expect(isOwn(begins("startup"), record({ ...heard, evidence: [shows(1000, "idle")] }))).toBe(true);
});

test("a screen that shows a turn says nothing about background work, and does not end it (truth 4)", () => {
  const idle = (ms: number, background: boolean): Evidence => ({ ...shows(ms, "idle"), claim: { turn: "idle", background } });
  const kept = withScreen([idle(1000, true)], shows(2000, "working"));
  expect(kept).toMatchObject([{ at: at(1000), claim: { background: true } }, shows(2000, "working")]);
  expect(fuse(kept)).toMatchObject({ turn: { value: "working" }, background: { value: true } });
  expect(withScreen(kept, idle(3000, false))).toMatchObject([{ claim: { turn: "idle", background: false } }]);
  expect(withScreen([shows(1000, "idle")], shows(2000, "working"))).toEqual([shows(2000, "working")]);
});

test("a screen that says nothing about background work does not repeat what an older one said (truth 4)", () => {
  const agents: Evidence = { ...shows(1000, "idle"), settled: true, claim: { turn: "idle", background: true } };
  const file = { source: "state_file", at: at(3000), claim: { turn: "idle", background: false }, what: "it says idle" } as const;
  const later = withScreen(withEvidence(withScreen([agents], shows(2000, "working")), file), { ...shows(4000, "idle"), settled: true });
  expect(fuse(later).background).toMatchObject({ value: false });
});
