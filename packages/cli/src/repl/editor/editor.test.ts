import { emitKeypressEvents } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { type Candidates, Editor, type Effect, type Key } from "./editor.ts";
import { History } from "./history.ts";

/** An editor that bytes are typed into, as a terminal sends them. */
function open(options: { said?: string[]; words?: string[] | Error } = {}) {
  const history = new History(undefined);
  for (const text of options.said ?? []) history.add(text);
  let changes = 0;
  const complete = async (text: string, cursor: number): Promise<Candidates> => {
    if (options.words instanceof Error) throw options.words;
    const from = text.lastIndexOf(" ", cursor - 1) + 1;
    return { from, words: (options.words ?? []).filter((word) => word.startsWith(text.slice(from, cursor))) };
  };
  const editor = new Editor({ history, complete, onChange: () => changes++ });
  const stream = new PassThrough();
  emitKeypressEvents(stream);
  const effects: Effect[] = [];
  stream.on("keypress", (text: string | undefined, key: Key) => effects.push(editor.press(text, key)));
  const type = (text: string) => {
    effects.length = 0;
    stream.emit("data", Buffer.from(text));
    return effects.filter((effect) => effect !== "changed" && effect !== "nothing");
  };
  return { editor, type, history, changes: () => changes };
}

/** The visible editor with its cursor. */
function seen(editor: Editor, width = 40, rows = 10): string {
  const { rows: lines, cursor, menu } = editor.view(width, rows);
  const marked = lines.map((line, i) => (i === cursor.row ? `${line.slice(0, cursor.column)}|${line.slice(cursor.column)}` : line));
  return [...marked, ...menu].join("\n");
}

describe("keys as terminals send them", () => {
  test.each([
    ["letters", "abc", "› abc|"],
    ["an accent and an emoji", "é👍", "› é👍|"],
    ["cursor keys", "abc\x1b[D\x1b[Dx", "› ax|bc"],
    ["cursor keys of application mode", "abc\x1bOD\x1bOCx", "› abcx|"],
    ["Home and End", "abc\x1b[Hx\x1b[Fy\x1b[1~z", "› z|xabcy"],
    ["Ctrl+A and Ctrl+E", "abc\x01x\x05y", "› xabcy|"],
    ["Ctrl+Left and Ctrl+Right", "one two\x1b[1;5D\x1b[1;5Dx\x1b[1;5Cy", "› xoney| two"],
    ["Alt+B and Alt+F", "one two\x1bbx\x1bf", "› one xtwo|"],
    ["Backspace and Delete", "abc\x7f\x1b[D\x1b[3~", "› a|"],
    ["kill and yank", "one two\x17\x19\x19", "› one twotwo|"],
    ["Ctrl+K and Ctrl+U", "abc\x1b[D\x0b\x15x", "› x|"],
    ["Alt+D, Alt+Backspace", "one two\x1b\x7f\x01\x1bd", "› | "],
    ["Ctrl+T", "ab\x14", "› ba|"],
    ["undo", "one two\x1f", "› one|"],
    ["Alt+Enter", "a\x1b\rb", "› a\n  b|"],
    ["Ctrl+J", "a\nb", "› a\n  b|"],
    ["a backslash at the end", "a\\\rb", "› a\n  b|"],
    ["a paste of several lines", "\x1b[200~a\r\nb\tc\rd\x1b[201~", "› a\n  b    c\n  d|"],
    ["a paste with sequences in it", "\x1b[200~a\x1b[31mb\x07\x1b[201~", "› a[31mb|"],
    ["Ctrl+D in a text", "ab\x01\x04", "› |b"],
    ["keys without a meaning", "a\x1b[5~\x1bq", "› a|"],
    ["up and down in several lines", "ab\ncd\x1b[Ax\x1b[By", "› abx\n  cdy|"],
  ])("%s", (_, typed, expected) => {
    const { editor, type } = open();
    expect(type(typed)).toEqual([]);
    expect(seen(editor)).toBe(expected);
  });

  test.each([
    ["\r", "submit"],
    ["\x03", "interrupt"],
    ["\x04", "leave"],
    ["\x0f", "unfold"],
    ["\x1a", "suspend"],
    ["\x0c", "redraw"],
  ] as const)("%j is reported to the caller: %s", (typed, effect) => {
    const { type } = open();
    expect(type(typed)).toEqual([effect]);
  });
});

test("submitted text is in the history, and the draft survives going back", () => {
  const { editor, type } = open({ said: ["first"] });
  type("second");
  expect(editor.take()).toBe("second");
  type("dra\x1b[A\x1b[A\x1b[A");
  expect(seen(editor)).toBe("› first|");
  type("\x1b[B");
  expect(seen(editor)).toBe("› second|");
  type("\x0e\x0e\x10\x0e");
  expect(seen(editor)).toBe("› dra|");
});

test("Ctrl+R finds earlier messages, further back each time", () => {
  const { editor, type } = open({ said: ["fix login", "add tests", "fix logout"] });
  type("\x12");
  expect(seen(editor)).toBe("(search: |) ");
  type("fix");
  expect(seen(editor)).toBe("(search: fix|) fix logout");
  type("\x12");
  expect(seen(editor)).toBe("(search: fix|) fix login");
  type("\x7f\x7f\x7fadd");
  expect(seen(editor)).toBe("(search: add|) add tests");
  type("zz");
  expect(seen(editor)).toBe("(no match: addzz|) add tests");
  type("\x07");
  expect(seen(editor)).toBe("› |");
  type("\x12log\x1b[D!");
  expect(seen(editor)).toBe("› fix logou!|t");
  type("\x15\x0b\x12login");
  expect(type("\r")).toEqual(["submit"]);
  expect(editor.text).toBe("fix login");
});

test("Ctrl+C in a search restores the draft", async () => {
  const { editor, type } = open({ said: ["one"] });
  type("dr\x12one");
  expect(editor.isEmpty).toBe(false);
  expect(type("\x03")).toEqual([]);
  expect(seen(editor)).toBe("› dr|");
});

describe("Tab", () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test("completes the only match and adds a space, except after a directory", async () => {
    const { editor, type, changes } = open({ words: ["/help", "src/"] });
    type("/h\t");
    await settled();
    expect(seen(editor)).toBe("› /help |");
    type("s\t");
    await settled();
    expect(seen(editor)).toBe("› /help src/|");
    expect(changes()).toBe(2);
  });

  test("completes the common beginning of several matches and lists them; pressed again, it selects each in turn", async () => {
    const { editor, type } = open({ words: ["/model", "/mode", "/more"] });
    type("/m\t");
    await settled();
    expect(seen(editor)).toBe("› /mo|\n /model  /mode  /more ");
    type("\t");
    expect(seen(editor)).toBe("› /model|\n[/model] /mode  /more ");
    type("\t\t\t");
    expect(seen(editor)).toBe("› /model|\n[/model] /mode  /more ");
    type("x");
    expect(seen(editor)).toBe("› /modelx|");
  });

  test("shows as many matches as fit", async () => {
    const words = Array.from({ length: 50 }, (_, i) => `word${i}`);
    const { editor, type } = open({ words });
    type("w\t");
    await settled();
    expect(seen(editor, 20)).toContain("… 50 in all");
    type("\t".repeat(50));
    expect(seen(editor, 20)).toContain("[word49]");
    type("\x1b[5~");
    expect(seen(editor)).toBe("› word49|");
  });

  test("does nothing if nothing matches, completion fails, or more was typed meanwhile", async () => {
    for (const words of [[], new Error("no daemon"), ["xyz"]]) {
      const { editor, type } = open({ words });
      type("x\t");
      if (Array.isArray(words) && words.length > 0) type("!");
      await settled();
      expect(editor.text).toMatch(/^x!?$/);
    }
  });
});

test("a long line wraps, and the cursor is in the right place", () => {
  const { editor, type } = open();
  type("abcdefghij漢");
  expect(seen(editor, 13)).toBe("› abcdefghij\n  漢|".replace("漢|", "漢|"));
  expect(editor.view(13, 10).cursor).toEqual({ row: 1, column: 4 });
});

test("only the lines around the cursor are shown", () => {
  const { editor, type } = open();
  type(`\x1b[200~${Array.from({ length: 50 }, (_, i) => `line ${i}`).join("\n")}\x1b[201~`);
  expect(editor.view(40, 5).rows).toEqual(["  line 45", "  line 46", "  line 47", "  line 48", "  line 49"]);
  type("\x1b[1;5H");
  expect(editor.view(40, 5).rows[0]).toBe("› line 0");
  editor.set("x");
  expect(seen(editor)).toBe("› x|");
});
