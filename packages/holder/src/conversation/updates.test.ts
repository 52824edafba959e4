import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { Updates } from "./updates.ts";

const say = (text: string) => ({ type: "content", content: { type: "text", text } });

function of(updates: Updates, update: object) {
  return updates.entriesOf(update as SessionUpdate);
}

describe("tool calls that repeat all their output", () => {
  test("a repeated call becomes one entry, and only new output is recorded", () => {
    const updates = new Updates(() => undefined);
    const call = {
      sessionUpdate: "tool_call",
      toolCallId: "t",
      title: "Run",
      kind: "execute",
      rawInput: { command: "ls" },
      locations: [{ path: "/a" }],
    };
    expect(of(updates, call)).toEqual([
      { type: "tool_started", call: "t", title: "Run", kind: "execute", input: { command: "ls" }, files: ["/a"] },
    ]);
    expect(of(updates, call)).toEqual([]);
    const more = (text: string) => of(updates, { sessionUpdate: "tool_call_update", toolCallId: "t", content: [say(text)] });
    expect(more("one\n")).toEqual([{ type: "tool_output", call: "t", title: null, text: "one\n", changes: [] }]);
    expect(more("one\ntwo\n")).toEqual([{ type: "tool_output", call: "t", title: null, text: "two\n", changes: [] }]);
    expect(more("one\ntwo\n")).toEqual([]);
    // Text that does not continue the earlier text is all new.
    expect(more("other")).toEqual([{ type: "tool_output", call: "t", title: null, text: "other", changes: [] }]);
  });

  test("each change is recorded once, and a better title replaces the first", () => {
    const updates = new Updates(() => undefined);
    const diff = { type: "diff", path: "/a", oldText: "x", newText: "y" };
    const update = (title: string, content: object[]) =>
      of(updates, { sessionUpdate: "tool_call_update", toolCallId: "t", title, content });
    expect(update("Edit", [diff])).toMatchObject([
      { type: "tool_started", title: "Edit" },
      { type: "tool_output", title: null, text: null, changes: [{ path: "/a", old: "x", new: "y" }] },
    ]);
    expect(update("Edit", [diff])).toEqual([]);
    expect(update("Edit a", [diff, { ...diff, path: "/b", oldText: null }])).toMatchObject([
      { title: "Edit a", changes: [{ path: "/b", old: null }] },
    ]);
  });

  test("a call ends once, and later updates of it are ignored", () => {
    const updates = new Updates(() => undefined);
    const done = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed", rawOutput: "no such file" };
    expect(of(updates, done)).toEqual([
      { type: "tool_started", call: "t", title: "a tool", kind: "other", input: null, files: [] },
      { type: "tool_output", call: "t", title: null, text: "no such file", changes: [] },
      { type: "tool_completed", call: "t", ok: false },
    ]);
    expect(of(updates, { ...done, status: "completed", rawOutput: "again" })).toEqual([]);
    expect(updates.leftOpen()).toEqual([]);
  });

  test("a call that never ends is completed with its turn, and is a new call in the next turn", () => {
    const updates = new Updates(() => undefined);
    const call = { sessionUpdate: "tool_call", toolCallId: "t", name: "ls" };
    expect(of(updates, call)).toMatchObject([{ type: "tool_started", title: "ls" }]);
    expect(updates.leftOpen()).toEqual([{ type: "tool_completed", call: "t", ok: false }]);
    expect(of(updates, call)).toMatchObject([{ type: "tool_started" }]);
  });
});

describe("terminals of the keeper", () => {
  test("a call that shows a terminal gets its earlier output, then its new output, each once", () => {
    const updates = new Updates((terminal) => (terminal === "x" ? "early\n" : undefined));
    expect(updates.printed("x", "early\n")).toEqual([]);
    const shows = { sessionUpdate: "tool_call", toolCallId: "t", content: [{ type: "terminal", terminalId: "x" }] };
    expect(of(updates, shows)).toMatchObject([{ type: "tool_started" }, { type: "tool_output", call: "t", text: "early\n" }]);
    expect(of(updates, shows)).toEqual([]);
    expect(updates.printed("x", "late\n")).toEqual([{ type: "tool_output", call: "t", title: null, text: "late\n", changes: [] }]);
    expect(updates.printed("x", "")).toEqual([]);
    expect(of(updates, { ...shows, content: [{ type: "terminal", terminalId: "unknown" }] })).toEqual([]);
    updates.leftOpen();
    expect(updates.printed("x", "after the turn")).toEqual([]);
  });
});

describe("messages and thoughts", () => {
  test.each([
    [{ type: "text", text: "words" }, "words"],
    [{ type: "resource_link", uri: "file:///a" }, "file:///a"],
    [{ type: "resource", resource: { uri: "file:///a", text: "inside" } }, "inside"],
    [{ type: "resource", resource: { uri: "file:///a", blob: "" } }, "file:///a"],
    [{ type: "image", mimeType: "image/png" }, "[image, image/png]"],
    [{ type: "hologram" }, "[hologram]"],
  ])("content %j becomes the text %s", (content, text) => {
    const updates = new Updates(() => undefined);
    expect(of(updates, { sessionUpdate: "agent_message_chunk", content })).toEqual([{ type: "text", text }]);
    expect(of(updates, { sessionUpdate: "agent_thought_chunk", content })).toEqual([{ type: "thought", text }]);
  });

  test("empty, invalid and unknown content becomes no entry", () => {
    const updates = new Updates(() => undefined);
    for (const content of [{ type: "text", text: "" }, { type: "text", text: 5 }, null, "words", { type: 7 }]) {
      expect(of(updates, { sessionUpdate: "agent_message_chunk", content })).toEqual([]);
    }
    expect(of(updates, { sessionUpdate: "telepathy" })).toEqual([]);
    expect(of(updates, {})).toEqual([]);
  });

  test("a plan keeps its steps, with defaults for missing fields", () => {
    const entries = [{ content: "one", status: "completed", priority: "low" }, { content: "two", status: "abandoned" }, null];
    expect(of(new Updates(() => undefined), { sessionUpdate: "plan", entries })).toEqual([
      {
        type: "plan",
        steps: [
          { text: "one", status: "completed", priority: "low" },
          { text: "two", status: "pending", priority: "medium" },
        ],
      },
    ]);
  });

  test("a notice becomes a note, with the subject that our own agents give it", () => {
    const updates = new Updates(() => undefined);
    expect(of(updates, { sessionUpdate: "notice", title: "Careful", description: "80 %" })).toEqual([
      { type: "note", about: "notice", text: "Careful: 80 %" },
    ]);
    expect(of(updates, { sessionUpdate: "notice", title: "Careful", _meta: { "holdfast/about": "context" } })).toEqual([
      { type: "note", about: "context", text: "Careful" },
    ]);
  });
});

test("a tool call without an id gets one, and ends with its turn", () => {
  const updates = new Updates(() => undefined);
  const [started] = of(updates, { sessionUpdate: "tool_call", title: "Run" });
  expect(started).toMatchObject({ type: "tool_started", call: expect.any(String), title: "Run" });
  expect(updates.leftOpen()).toMatchObject([{ type: "tool_completed", ok: false }]);
});

test("updates of a call completed with its turn are over; those of another call are not", () => {
  const updates = new Updates(() => undefined);
  const call = (toolCallId: string) => ({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" }) as SessionUpdate;
  updates.entriesOf({ sessionUpdate: "tool_call", toolCallId: "t", title: "Run" } as SessionUpdate);
  updates.leftOpen();
  expect(updates.isOver(call("t"))).toBe(true);
  expect(updates.isOver(call("other"))).toBe(false);
});
