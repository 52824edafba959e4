import type { Entry, EntryDraft } from "@holdfast/contract/conversation/transcript";
import { describe, expect, test } from "vitest";
import { painter } from "./paint.ts";
import { ConversationView, nameOf, type ViewOptions } from "./view.ts";

const ME = "user:me";

/** A view, its printed lines, and its own clock. */
function open(width = 60, more: Partial<ViewOptions> = {}) {
  let now = 0;
  const view = new ConversationView({
    width: () => width,
    paint: painter(false),
    painted: true,
    me: () => ME,
    name: () => "api",
    now: () => now,
    ...more,
  });
  const lines: string[] = [];
  const push = (...drafts: EntryDraft[]) => {
    for (const draft of drafts) lines.push(...view.push({ v: 1, n: 1, at: new Date(now).toISOString(), turn: "t1", ...draft } as Entry));
  };
  return {
    view,
    lines,
    push,
    later: (ms: number) => {
      now += ms;
    },
  };
}

const user = (text: string, from = ME, steer = false) =>
  ({ type: "user", message: "t1", from, text, addition: null, steer }) as unknown as EntryDraft;
const text = (said: string): EntryDraft => ({ type: "text", text: said });
const started = (call: string, title: string, more: object = {}) =>
  ({ type: "tool_started", call, title, kind: "execute", input: null, files: [], ...more }) as EntryDraft;
const output = (call: string, more: object) => ({ type: "tool_output", call, title: null, text: null, changes: [], ...more }) as EntryDraft;
const completed = (call: string, ok = true): EntryDraft => ({ type: "tool_completed", call, ok });
const ended = (reason: Extract<Entry, { type: "turn_ended" }>["reason"] = "completed"): EntryDraft => ({ type: "turn_ended", reason });

test("a message and its answer are shown one below the other", () => {
  const { view, lines, push } = open();
  push(user("hello\nthere"), text("Hi, **yo"), text("u**.\nBye"));
  expect(lines).toEqual(["", "› hello", "  there", "Hi, you."]);
  expect(view.live()).toEqual(["Bye", "⠋ working · Ctrl+C cancels"]);
  expect(view.turn).toBe("t1");
  push(ended());
  expect(lines.slice(4)).toEqual(["Bye"]);
  expect(view.live()).toEqual([]);
  expect(view.turn).toBeNull();
  expect(view.lastSaid).toBe("hello\nthere");
});

test("messages of others show their name, and the view knows who else is there", () => {
  const { view, lines, push } = open();
  push(user("mine"), ended(), user("yours", "user:alice"), ended(), user("from a script", "token:ci"));
  expect(lines).toEqual(["", "› mine", "", "alice › yours", "", "token:ci › from a script"]);
  expect(view.others).toEqual(["user:alice", "token:ci"]);
  expect(nameOf("user:bob")).toBe("bob");
});

test("a session is shown by its name if that is known", () => {
  const { lines, push } = open(60, { sessionOf: (principal) => (principal === "session:k7f2m9q4xw" ? "kid" : undefined) });
  push(user("done", "session:k7f2m9q4xw"), ended(), user("done, too", "session:aaaaaaaaaa"));
  expect(lines).toEqual(["", "kid › done", "", "session:aaaaaaaaaa › done, too"]);
});

test("a steering message is marked and does not begin a turn", () => {
  const { view, lines, push } = open();
  push(user("begin"), user("faster", ME, true));
  expect(lines).toEqual(["", "› begin", "", "» faster"]);
  expect(view.lastSaid).toBe("begin");
});

describe("a tool", () => {
  test("is an animated line while it runs, and a fixed line when it has ended", () => {
    const { view, lines, push, later } = open();
    push(user("go"), text("I look."), started("c1", "Read a.txt"));
    expect(lines.at(-1)).toBe("I look.");
    expect(view.live()).toEqual(["⠋ [1] Read a.txt"]);
    later(1500);
    push(output("c1", { title: "Read a.txt (5 lines)", text: "a\nb\n" }));
    expect(view.live()).toEqual(["⠴ [1] Read a.txt (5 lines) · 2 lines · 1s"]);
    push(completed("c1"));
    expect(lines.at(-1)).toBe("✓ [1] Read a.txt (5 lines) · 2 lines · 1s");
    expect(view.live()).toEqual(["⠴ working · Ctrl+C cancels"]);
  });

  test("that failed shows the end of its output", () => {
    const { lines, push } = open();
    push(
      user("go"),
      started("c1", "npm test"),
      output("c1", { text: "one\ntwo\n\x1b[31mthree\x1b[0m\n\nfour\nfive\n" }),
      completed("c1", false),
    );
    expect(lines.slice(2)).toEqual(["✗ [1] npm test · 6 lines", "    two", "    three", "    four", "    five"]);
  });

  test("expands to its input, its output and its changes", () => {
    const { view, push } = open();
    push(
      started("c1", "Edit", { input: { path: "a.txt", how: { deep: true }, text: "x\ny" }, files: ["/tmp/a.txt"] }),
      output("c1", {
        text: "ok\r\nfirst\rlast\n",
        changes: [{ path: "/tmp/a.txt", old: "1\n2\n3\n4\n5\n6\n7\n", new: "1\n2\n3\n4\nfive\n6\n7\n" }],
      }),
      completed("c1"),
      started("c2", "New", { input: "plain" }),
      output("c2", { changes: [{ path: "/tmp/b", old: null, new: "b\n" }] }),
      completed("c2"),
      started("c3", "Nothing"),
      completed("c3"),
    );
    expect(view.unfold(1)).toEqual([
      "✓ [1] Edit · +1 −1 · 2 lines",
      "    /tmp/a.txt",
      "    path: a.txt",
      "    how:",
      "      {",
      '        "deep": true',
      "      }",
      "    text:",
      "      x",
      "      y",
      "    ──",
      "    ok",
      "    last",
      "    /tmp/a.txt",
      "      3",
      "      4",
      "    - 5",
      "    + five",
      "      6",
      "      7",
    ]);
    expect(view.unfold(2)).toEqual(["✓ [2] New · +1 −0", "    plain", "    /tmp/b (new)", "    + b"]);
    expect(view.unfold()).toEqual(["✓ [3] Nothing", "    no further output"]);
    expect(view.unfold(4)).toBeUndefined();
  });

  test("is expanded at once on request", () => {
    const { view, lines, push } = open();
    view.unfolds = true;
    push({ type: "thought", text: "a\nb" }, started("c1", "ls"), output("c1", { text: "x" }), completed("c1"));
    expect(lines).toEqual(["∴ [1] thought", "    a", "    b", "✓ [2] ls · 1 line", "    ──", "    x"]);
  });

  test("that never started is ignored", () => {
    const { lines, push } = open();
    push(output("x", { text: "y" }), completed("x"));
    expect(lines).toEqual([]);
  });
});

test("a thought is one line, during the thought and afterwards", () => {
  const { view, lines, push } = open();
  push(user("go"), { type: "thought", text: "First this.\nThen" }, { type: "thought", text: " that." });
  expect(view.live()).toEqual(["⠋ thinking: Then that."]);
  push(text("Done"));
  expect(lines.at(-1)).toBe("∴ [1] First this. …");
  expect(view.unfold(1)).toEqual(["∴ [1] thought", "    First this.", "    Then that."]);
});

test("a plan shows its progress, and its last state stays", () => {
  const { view, lines, push } = open();
  const plan = (...statuses: ("pending" | "in_progress" | "completed")[]): EntryDraft => ({
    type: "plan",
    steps: statuses.map((status, i) => ({ text: `step ${i}`, status, priority: "medium" })),
  });
  push(user("go"), plan("completed", "in_progress", "pending"));
  expect(view.live()).toEqual(["☑ step 0", "▸ step 1", "☐ step 2", "⠋ working · Ctrl+C cancels"]);
  push(plan("completed", "completed", "completed"), ended());
  expect(lines.slice(2)).toEqual(["☑ step 0", "☑ step 1", "☑ step 2"]);
  push(user("next"));
  expect(view.live()).toEqual(["⠋ working · Ctrl+C cancels"]);
});

describe("a permission request", () => {
  const ask = (name: string, more: object = {}) =>
    ({
      type: "approval_asked",
      ask: name,
      call: null,
      title: "Run make",
      kind: "execute",
      input: { command: "make" },
      options: [{ id: "1", name: "Always", kind: "allow_always" }],
      ...more,
    }) as EntryDraft;

  test("is shown with all its arguments, and stays open until it is decided", () => {
    const { view, lines, push, later } = open();
    later(100);
    push(user("go"), ask("a1", { title: "`make`" }), ask("a2", { title: "Run rm", options: [] }));
    expect(lines.slice(2).map((line) => line.trim())).toEqual([
      "? asks for permission: execute: make",
      "command: make",
      "? asks for permission: execute: make · in the agent's words:",
      "“Run rm”",
      "command: make",
    ]);
    expect(view.asks).toEqual([
      { ask: "a1", title: "execute: make", shownAt: 100, canAlways: true },
      { ask: "a2", title: "execute: make · in the agent's words: “Run rm”", shownAt: 100, canAlways: false },
    ]);
    expect(view.live()).toEqual([]);
    lines.length = 0;
    push({ type: "approval_answered", ask: "a1", option: "1", allowed: true, by: "user:alice" as never });
    push({ type: "approval_answered", ask: "a2", option: "2", allowed: false, by: ME as never });
    push({ type: "approval_answered", ask: "a3", option: null, allowed: false, by: null });
    expect(lines).toEqual([
      "  allowed by alice: execute: make",
      "  denied: execute: make · in the agent's words: “Run rm”",
      "  unanswered",
    ]);
    expect(view.asks).toEqual([]);
  });

  test("that is very long is cut, with a hint how to show it in full", () => {
    const { lines, push } = open();
    push(ask("a1", { input: { text: Array.from({ length: 50 }, (_, i) => `line ${i}`).join("\n") } }));
    expect(lines.length).toBe(40);
    expect(lines.at(-1)).toBe("    … 21 more lines: /approve show");
  });
});

test.each([
  ["cancelled", "■ cancelled: the answer is incomplete; the output so far is"],
  ["refused", "■ the agent refused to continue; rephrase the message"],
  ["max_tokens", "■ the answer was cut off at the model's limit; send:"],
  ["max_requests", "■ the agent stopped at its request limit; send: continue"],
  ["failed", "■ the turn failed; /retry sends the message again"],
  ["interrupted", "■ the turn ended with its process; /retry sends the message"],
] as const)("a turn that ended as %s is reported, and its output stays", (reason, told) => {
  const { view, lines, push } = open();
  push(user("go"), text("half an ans"), started("c1", "left open"), ended(reason));
  expect(lines[2]).toBe("half an ans");
  expect(lines[3]).toBe(told);
  expect(view.live()).toEqual([]);
});

test("an error is shown once, with a hint", () => {
  const { lines, push } = open();
  push(user("go"), { type: "error", code: "x", message: "no network\nat all", hint: "plug it in", retry: true }, ended("failed"));
  expect(lines.slice(2)).toEqual(["✗ no network", "  at all", "  plug it in", "  /retry sends the same message again"]);
  lines.length = 0;
  push(user("go"), { type: "error", code: "x", message: "no", hint: "holdfast resume NAME", retry: false }, ended("failed"));
  expect(lines.slice(2)).toEqual(["✗ no", "  holdfast resume api"]);
  lines.length = 0;
  push(
    user("go"),
    { type: "error", code: "agent_ended", message: "gone", hint: "holdfast resume NAME", retry: true },
    ended("interrupted"),
  );
  expect(lines.slice(2)).toEqual(["✗ gone", "  /retry sends the same message again"]);
  lines.length = 0;
  push(user("go"), { type: "error", code: "unauthenticated", message: "wrong key", hint: null, retry: false }, ended("failed"));
  expect(lines.slice(2)).toEqual(["✗ wrong key", "  log in with the agent's own program or set its key, then", "  try again"]);
  lines.length = 0;
  push(user("go"), ended("failed"));
  expect(lines.slice(2)).toEqual(["■ the turn failed; /retry sends the message again"]);
});

test("notes are shown, except for those meant for programs", () => {
  const { lines, push } = open();
  push({ type: "note", about: "opened", text: "the conversation begins" }, { type: "note", about: "mode", text: "the mode is auto now" });
  push({ type: "note", about: "cleared", text: "an empty memory" });
  push({ type: "usage", model: null, input: 1, output: 1, cacheRead: null, cacheWrite: null, cost: null, context: null });
  push({ type: "of_a_newer_version" } as unknown as EntryDraft);
  expect(lines).toEqual(["· the mode is auto now", "── an empty memory ──"]);
});

test("no text can control the terminal", () => {
  const { view, lines, push } = open();
  const evil = "\x1b]0;title\x07\x1b[2Jx\u202e";
  push(user(evil), { type: "thought", text: evil }, started("c1", evil), output("c1", { text: evil }));
  lines.push(...view.live(), ...(view.unfold() ?? []));
  push(completed("c1", false), { type: "error", code: "x", message: evil, hint: evil, retry: false });
  push({ type: "note", about: "notice", text: evil }, ended());
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  for (const line of lines) expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
});

test("text wraps at any width without losing a word", () => {
  const { lines, push } = open(12);
  push(user("one two three four five"), { type: "error", code: "x", message: "six seven eight nine", hint: null, retry: false });
  expect(lines.join(" ").replace(/\s+/g, " ").trim()).toBe("› one two three four five ✗ six seven eight nine");
});
