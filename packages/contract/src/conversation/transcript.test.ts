import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Entry, parseEntry, TRANSCRIPT_VERSION } from "./transcript.ts";

const common = { v: TRANSCRIPT_VERSION, n: 1, at: "2026-11-15T12:00:00.000Z", turn: "m1" };
const use = { model: null, input: 1, output: null, cacheRead: null, cacheWrite: 0, cost: 0.5, context: { used: 1, size: null } };

const ALL: Record<Entry["type"], object> = {
  user: { message: "m1", from: "user:x", text: "hello", addition: null, steer: false },
  text: { text: "hi" },
  thought: { text: "hm" },
  tool_started: { call: "t", title: "Read", kind: "read", input: { any: ["thing"] }, files: [] },
  tool_output: { call: "t", title: null, text: "out", changes: [{ path: "/a", old: null, new: "b" }] },
  tool_completed: { call: "t", ok: true },
  plan: { steps: [{ text: "one", status: "pending", priority: "low" }] },
  approval_asked: {
    ask: "a1",
    call: null,
    title: "Run",
    kind: "execute",
    input: null,
    options: [{ id: "y", name: "Yes", kind: "allow_once" }],
  },
  approval_answered: { ask: "a1", option: null, allowed: false, by: null },
  usage: use,
  usage_so_far: use,
  turn_ended: { reason: "interrupted" },
  error: { code: "x", message: "no", hint: null, retry: true },
  note: { about: "opened", text: "it begins", conversation: "c1" },
};

const line = (type: string, more: object = {}) => JSON.stringify({ ...common, type, ...more });

describe("transcript lines", () => {
  test.each(Object.entries(ALL))("a line of type %s is read back unchanged", (type, fields) => {
    expect(parseEntry(line(type, fields))).toEqual({ ...common, type, ...fields });
  });

  test("a line may have unknown fields of a newer version", () => {
    expect(parseEntry(line("text", { text: "hi", mood: "good" }))).toMatchObject({ type: "text", text: "hi" });
  });

  test("a line of an unknown type belongs to a newer version and is not damaged", () => {
    expect(parseEntry(line("hologram", { anything: 1 }))).toBe("unknown");
    expect(parseEntry(JSON.stringify({ v: 9, type: "hologram" }))).toBe("unknown");
  });

  test("a line without a required field is damaged", () => {
    for (const [type, fields] of Object.entries(ALL)) {
      for (const field of Object.keys(fields).filter((each) => each !== "conversation" && each !== "input")) {
        expect(parseEntry(line(type, { ...fields, [field]: undefined })), `${type} without ${field}`).toBe("damaged");
      }
    }
    for (const field of Object.keys(common)) expect(parseEntry(line("text", { text: "hi", [field]: undefined })), field).toBe("damaged");
  });

  test("a line with a negative or fractional count is damaged", () => {
    for (const wrong of [{ input: -1 }, { output: 0.5 }, { cost: -0.1 }, { context: { used: -1, size: 1 } }, { input: "1" }]) {
      expect(parseEntry(line("usage", { ...use, ...wrong })), JSON.stringify(wrong)).toBe("damaged");
    }
    expect(parseEntry(line("text", { text: "hi", n: 0 }))).toBe("damaged");
  });

  test("a line cut anywhere is damaged, which is reported and never thrown", () => {
    for (const [type, fields] of Object.entries(ALL)) {
      const whole = line(type, fields);
      for (let end = 0; end < whole.length; end++) expect(parseEntry(whole.slice(0, end))).toBe("damaged");
    }
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ v: fc.anything(), type: fc.anything() }).map((each) => JSON.stringify(each, unbig) ?? ""),
    );
    fc.assert(fc.property(any, (text) => void expect(["object", "string"]).toContain(typeof parseEntry(text))));
  });
});

function unbig(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
