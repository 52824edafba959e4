import fc from "fast-check";
import { expect, test } from "vitest";
import { openEmulator, parseNow } from "../render/emulator.ts";
import { View } from "./view.ts";

const ROOM = { columns: 30, rows: 7 };

/** A terminal that shows what a view draws. */
function watcher(room = ROOM) {
  const terminal = openEmulator({ ...room, scrollback: 0 });
  return {
    show: (text: string) => parseNow(terminal, text),
    lines: () => Array.from({ length: room.rows }, (_, y) => terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd()),
    cursor: () => [terminal.buffer.active.cursorX, terminal.buffer.active.cursorY],
  };
}

test("only changed rows are redrawn", () => {
  using view = new View({ columns: 20, rows: 6 });
  view.write(Buffer.from("one\r\ntwo\r\n"));
  expect(view.draw(ROOM, "status")).toContain("one");
  view.write(Buffer.from("three"));
  const second = view.draw(ROOM, "status");
  expect(second).toContain("three");
  expect(second).not.toMatch(/one|two|status/);
  view.forget();
  expect(view.draw(ROOM, "status")).toMatch(/one.*two.*three.*status/);
});

test("a character split between two writes is one character", () => {
  using view = new View({ columns: 20, rows: 6 });
  const [first, ...rest] = Buffer.from("漢");
  view.write(Buffer.from([first ?? 0]));
  view.write(Buffer.from(rest));
  expect(view.draw(ROOM, "")).toContain("漢");
});

test.each([
  { recorded: { columns: 40, rows: 20 }, text: `${"x".repeat(29)}漢y`, first: "x".repeat(29) },
  { recorded: { columns: 40, rows: 20 }, text: `${"x".repeat(28)}漢y`, first: `${"x".repeat(28)}漢` },
  { recorded: { columns: 10, rows: 2 }, text: "short", first: "short" },
])("a row wider than the terminal is cut at a whole character: $text", ({ recorded, text, first }) => {
  using view = new View(recorded);
  const seen = watcher();
  view.write(Buffer.from(text));
  seen.show(view.draw(ROOM, "status"));
  expect(seen.lines()).toEqual([first, "", "", "", "", "", "status"]);
});

test("the part with the cursor is shown of a screen higher than the terminal", () => {
  using view = new View({ columns: 20, rows: 20 });
  const seen = watcher();
  view.write(Buffer.from(Array.from({ length: 20 }, (_, i) => `row ${i}`).join("\r\n")));
  seen.show(view.draw(ROOM, "status"));
  expect(seen.lines()).toEqual(["row 14", "row 15", "row 16", "row 17", "row 18", "row 19", "status"]);
  view.write(Buffer.from("\x1b[3;2H"));
  seen.show(view.draw(ROOM, "status"));
  expect([seen.lines()[0], seen.cursor()]).toEqual(["row 0", [1, 2]]);
});

test("each frame shows the recorded screen and cursor, whatever was recorded", () => {
  const part = fc.constantFrom(
    ..."ab漢 \r\n\t\b",
    ...[
      "👍",
      "\x1b[31m",
      "\x1b[0;7m",
      "\x1b[44m",
      "\x1b[0m",
      "\x1b[K",
      "\x1b[2J",
      "\x1b[H",
      "\x1b[A",
      "\x1b[4C",
      "\x1b[2;4r",
      "\x1b[r",
      "\x1bM",
    ],
    ...["\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b]0;title\x07", "\x1b[6n", "\x1b[4h", "\x1b[?6h", "\x1b[?7l", "e\u0301", "\xff"],
  );
  fc.assert(
    fc.property(fc.array(fc.array(part, { maxLength: 20 }), { minLength: 1, maxLength: 6 }), (frames) => {
      const recorded = { columns: ROOM.columns, rows: ROOM.rows - 1 };
      using view = new View(recorded);
      const model = watcher(recorded);
      const seen = watcher();
      for (const frame of frames) {
        view.write(Buffer.from(frame.join("")));
        model.show(frame.join(""));
        seen.show(view.draw(ROOM, "status"));
        expect(seen.lines()).toEqual([...model.lines(), "status"]);
        const [x = 0, y] = model.cursor();
        expect(seen.cursor()).toEqual([Math.min(x, ROOM.columns - 1), y]);
      }
    }),
  );
});

test("a note about a gap has its own line, and is never drawn in a full-screen program", () => {
  using view = new View({ columns: 20, rows: 6 });
  const seen = watcher();
  view.write(Buffer.from("one\r\ntw\x1b]0;title"));
  view.breakOff("[missing]");
  view.write(Buffer.from("three"));
  seen.show(view.draw(ROOM, ""));
  expect(seen.lines().slice(0, 4)).toEqual(["one", "tw", "[missing]", "three"]);
  view.write(Buffer.from("\x1b[?1049h\x1b[H\x1b[2Jwhole screen"));
  view.breakOff("[missing]");
  seen.show(view.draw(ROOM, ""));
  expect(seen.lines().slice(0, 2)).toEqual(["whole screen", ""]);
});
