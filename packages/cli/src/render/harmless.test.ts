import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openEmulator, parseNow } from "./emulator.ts";
import { Harmless } from "./harmless.ts";

describe("sequences that could harm a terminal are removed", () => {
  test.each([
    ["a title", "\x1b]0;title\x07"],
    ["a title that ends with ST", "\x1b]2;title\x1b\\"],
    ["an 8-bit title", "\x9d0;title\x9c"],
    ["screen's title", "\x1bktitle\x1b\\"],
    ["the clipboard", "\x1b]52;c;aGVsbG8=\x07"],
    ["the clipboard through tmux", "\x1bPtmux;\x1b\x1b]52;c;aGVsbG8=\x07\x1b\\"],
    ["a link", "\x1b]8;;https://example.org\x1b\\"],
    ["a file download", "\x1b]1337;File=name=eA==:aGVsbG8=\x07"],
    ["a notification", "\x1b]9;hello\x07"],
    ["device attributes", "\x1b[c\x1b[>c\x1b[=c\x9bc\x1bZ"],
    ["status and cursor position", "\x1b[5n\x1b[6n\x1b[?6n"],
    ["the version", "\x1b[>q\x1b[>0q"],
    ["modes", "\x1b[?2004$p\x1b[4$p"],
    ["settings and capabilities", "\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\x90$qm\x9c"],
    ["colours", "\x1b]10;?\x07\x1b]4;1;?\x07"],
    ["window reports and operations", "\x1b[18t\x1b[21t\x1b[3;0;0t\x1b[22;0t"],
    ["terminal parameters", "\x1b[x"],
    ["ENQ", "\x05"],
    ["mouse, focus and paste", "\x1b[?1000h\x1b[?1002;1003;1006h\x1b[?1004h\x1b[?2004h\x1b[?9h"],
    ["keyboard modes", "\x1b[?1h\x1b=\x1b[>1u\x1b[=1u\x1b[<u\x1b[?u\x1b[>4;2m\x1b[?2031h\x1b[?2048h"],
    ["printing", "\x1b[5i\x1b[?5i"],
    ["APC, PM and SOS", "\x1b_Gi=1;AAAA\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\\x9fx\x9c"],
    ["an image", "\x1bPq#0;2;0;0;0~-\x1b\\"],
    ["mouse highlighting", "\x1b[1;1;1;1;1T"],
    ["a sequence without end", `\x1b[${"1;".repeat(5000)}m`],
    ["a question with a control inside", "\x1b[6\x05n"],
    ["a title after a broken one", "\x1b\x1b]0;title\x07"],
    ["cursor and pointer shape", "\x1b[2 q\x1b]22;hand\x07"],
  ])("%s", (_, sequence) => {
    for (const size of [1, 2, 7, 1000]) expect(filter(`a${sequence}b`, size), `in pieces of ${size}`).toBe("ab");
  });
});

test.each([
  ["\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"],
  ["\x1b[38;2;1;2;3;4:3mx", "\x1b[38;2;1;2;3;4:3mx"],
  ["\x9b31mred", "\x1b[31mred"],
  ["\x1b[?25;1000;1049h", "\x1b[?25;1049h"],
  ["\x1b[2J\x1b[H\x1b[?2026h\x1b7\x1b8\x1b(0\x1b)B\x1bM\x1bc\x1b[!p", "\x1b[2J\x1b[H\x1b[?2026h\x1b7\x1b8\x1b(0\x1b)B\x1bM\x1bc\x1b[!p"],
  ["\u0085\u008d", "\x1bE\x1bM"],
  ["\x1b[3\n1mx", "\n\x1b[31mx"],
  ["é漢👍\x1b👍", "é漢👍👍"],
  ["\x1b]0;never ended", ""],
])("%j draws as %j", (text, drawn) => {
  for (const size of [1, 3, 1000]) expect(filter(text, size)).toBe(drawn);
});

test("the remaining sequences draw the same picture, however they are split", () => {
  const part = fc.constantFrom(
    ..."ab漢\r\n\t\b",
    ...[
      "\x1b[31m",
      "\x1b[0m",
      "\x1b[H",
      "\x1b[3;4H",
      "\x1b[K",
      "\x1b[2J",
      "\x1b[A",
      "\x1b[5C",
      "\x1b[2L",
      "\x1b[2;4r",
      "\x1b[r",
      "\x1b[3b",
    ],
    ...["\x1b[?1049h", "\x1b[?1049l", "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1b(0q\x1b(B", "\x9b1m", "\x1b[4h", "\x1b[4l", "\x1b[?7l"],
    ...[
      "\x1b]0;title\x07",
      "\x1b]52;c;eA==\x1b\\",
      "\x1b[6n",
      "\x1bP$qm\x1b\\",
      "\x1b[?1000h",
      "\x1b[>1u",
      "\x1b]8;;x:y\x07",
      "\x9d2;x\x9c",
    ],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 80 }), fc.integer({ min: 1, max: 9 }), (parts, size) => {
      const text = parts.join("");
      expect(picture(filter(text, size))).toEqual(picture(text));
    }),
  );
});

test("REP repeats a character only where a terminal would, not after a removed sequence", () => {
  expect(filter("a\x1b]0;title\x07\x1b[3b", 1)).toBe("a");
  expect(filter("a\x1b]0;title\x07b\x1b[3b", 1)).toBe("ab\x1b[3b");
});

test("only drawing sequences remain of any input", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."\x1b[]P?>;5052ncqmhtuk\x07\\\x9b\x9d\x9c\x05\x18x".split("")), maxLength: 60 }),
      (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
        expect(filter(text, 4)).not.toMatch(/[\x05\x80-\x9f]|\x1b(?![[cnhu])|\x1b\[[\d;?]*[ncqt]|\x1b\[[>?][\d;]*u/);
      },
    ),
    { numRuns: 2000 },
  );
});

function filter(text: string, size: number): string {
  const harmless = new Harmless();
  let out = "";
  for (let at = 0; at < text.length; at += size) out += harmless.push(text.slice(at, at + size));
  return out;
}

function picture(text: string): unknown {
  const terminal = openEmulator({ columns: 12, rows: 6, scrollback: 0 });
  parseNow(terminal, text);
  const { active } = terminal.buffer;
  const lines = Array.from({ length: 6 }, (_, y) => active.getLine(active.baseY + y)?.translateToString());
  const result = { lines, x: active.cursorX, y: active.cursorY, type: active.type };
  terminal.dispose();
  return result;
}
