import fc from "fast-check";
import { expect, test } from "vitest";
import { EditBuffer } from "./buffer.ts";

/** `|` is the cursor. */
function at(marked: string): EditBuffer {
  const buffer = new EditBuffer();
  const cursor = marked.indexOf("|");
  buffer.set(marked.replace("|", ""));
  buffer.start();
  for (let guard = 0; buffer.cursor < cursor && guard < 1000; guard++) buffer.right();
  return buffer;
}

function shown(buffer: EditBuffer): string {
  return `${buffer.text.slice(0, buffer.cursor)}|${buffer.text.slice(buffer.cursor)}`;
}

type Edit = keyof { [K in keyof EditBuffer as EditBuffer[K] extends () => unknown ? K : never]: true };

test.each<[Edit, string, string]>([
  ["left", "ab|c", "a|bc"],
  ["left", "|abc", "|abc"],
  ["left", "👍🏽|", "|👍🏽"],
  ["left", "e\u0301|x", "|e\u0301x"],
  ["right", "|👨‍👩‍👧x", "👨‍👩‍👧|x"],
  ["right", "abc|", "abc|"],
  ["wordLeft", "one two-three |", "one two-|three "],
  ["wordRight", "|  one two", "  one| two"],
  ["lineStart", "one\ntw|o", "one\n|two"],
  ["lineEnd", "o|ne\ntwo", "one|\ntwo"],
  ["start", "one\ntw|o", "|one\ntwo"],
  ["end", "o|ne\ntwo", "one\ntwo|"],
  ["up", "one\ntw|o", "on|e\ntwo"],
  ["up", "a\nlonger|", "a|\nlonger"],
  ["up", "on|e", "on|e"],
  ["down", "lon|ger\na", "longer\na|"],
  ["down", "o|ne\ntwo\nx", "one\nt|wo\nx"],
  ["down", "on|e", "on|e"],
  ["backspace", "ab|c", "a|c"],
  ["backspace", "👍🏽|", "|"],
  ["backspace", "|a", "|a"],
  ["delete", "a|bc", "a|c"],
  ["delete", "a|", "a|"],
  ["killToEnd", "a|bc\nd", "a|\nd"],
  ["killToEnd", "a|\nd", "a|d"],
  ["killToStart", "a\nbc|d", "a\n|d"],
  ["killToStart", "a\n|d", "a|d"],
  ["killWordLeft", "one two|", "one |"],
  ["killWordRight", "|one two", "| two"],
  ["transpose", "a|b", "ba|"],
  ["transpose", "ab|", "ba|"],
  ["transpose", "|ab", "|ab"],
  ["yank", "a|", "a|"],
  ["yankBefore", "a|", "a|"],
  ["undo", "", ""],
])("%s: %j becomes %j", (edit, before, after) => {
  const buffer = before === "" ? new EditBuffer() : at(before);
  buffer[edit]();
  expect(before === "" ? buffer.text : shown(buffer)).toBe(after);
});

test("one yank inserts everything that consecutive kills removed, and yankBefore replaces it with an earlier kill", () => {
  const buffer = at("one two three|");
  buffer.killWordLeft();
  buffer.killWordLeft();
  expect(shown(buffer)).toBe("one |");
  buffer.left();
  buffer.killToStart();
  buffer.yank();
  expect(shown(buffer)).toBe("one| ");
  buffer.yankBefore();
  expect(shown(buffer)).toBe("two three| ");
  buffer.yankBefore();
  expect(shown(buffer)).toBe("one| ");
});

test("consecutive forward kills are joined in order, and only the newest kills are kept", () => {
  const buffer = at("|one two");
  buffer.killWordRight();
  buffer.killWordRight();
  buffer.yank();
  expect(shown(buffer)).toBe("one two|");
  for (let i = 0; i < 30; i++) {
    buffer.set(`x${i}`);
    buffer.killToStart();
  }
  buffer.yank();
  for (let i = 0; i < 20; i++) buffer.yankBefore();
  expect(buffer.text).toBe("x29");
});

test("undo removes a typed word at a time", () => {
  const buffer = new EditBuffer();
  for (const letter of "one two") buffer.insert(letter);
  buffer.undo();
  expect(buffer.text).toBe("one");
  buffer.undo();
  expect(buffer.text).toBe("");
  for (let i = 0; i < 300; i++) buffer.set(String(i));
  for (let i = 0; i < 300; i++) buffer.undo();
  expect(buffer.text).toBe("99");
});

test("submitted text cannot be undone", () => {
  const buffer = at("said|");
  expect(buffer.take()).toBe("said");
  buffer.undo();
  expect(buffer.isEmpty).toBe(true);
});

test("the cursor stays inside the text after any edits", () => {
  const edits =
    "left right wordLeft wordRight lineStart lineEnd up down backspace delete killToEnd killToStart killWordLeft killWordRight yank yankBefore transpose undo".split(
      " ",
    ) as Edit[];
  const step = fc.oneof(
    fc.constantFrom(...edits),
    fc.constantFrom("a", " ", "\n", "👍🏽", "e\u0301").map((text) => ({ text })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const buffer = new EditBuffer();
      for (const each of steps) {
        if (typeof each === "string") buffer[each]();
        else buffer.insert(each.text);
        expect(buffer.cursor).toBeGreaterThanOrEqual(0);
        expect(buffer.cursor).toBeLessThanOrEqual(buffer.text.length);
      }
    }),
  );
});
