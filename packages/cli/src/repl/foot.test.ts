import { expect, test } from "vitest";
import { openEmulator, parseNow } from "../render/emulator.ts";
import { Foot } from "./foot.ts";

/** A terminal and its content. */
function terminal(columns = 20, rows = 8) {
  const emulator = openEmulator({ columns, rows, scrollback: 1000 });
  const output = {
    get columns() {
      return emulator.cols;
    },
    get rows() {
      return emulator.rows;
    },
    write: (text: string) => parseNow(emulator, text),
  };
  const lines = () => {
    const { active } = emulator.buffer;
    return Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? "")
      .join("\n")
      .trimEnd()
      .split("\n");
  };
  return { foot: new Foot(output), emulator, lines, cursor: () => [emulator.buffer.active.cursorX, emulator.buffer.active.cursorY] };
}

const at = (row: number, column: number) => ({ row, column });

test("printed lines stay, and the rows below them are redrawn", () => {
  const { foot, lines, cursor } = terminal();
  foot.draw(["one"], { rows: ["tail", "> ty", "status"], cursor: at(1, 4) });
  expect(lines()).toEqual(["one", "tail", "> ty", "status"]);
  expect(cursor()).toEqual([4, 2]);
  foot.draw(["two"], { rows: ["> typed", "status"], cursor: at(0, 7) });
  expect(lines()).toEqual(["one", "two", "> typed", "status"]);
  expect(cursor()).toEqual([7, 2]);
});

test("scrolled lines are all kept, each once", () => {
  const { foot, lines } = terminal();
  for (let i = 0; i < 50; i++) foot.draw([`line ${i}`], { rows: ["a", "> b", "c"], cursor: at(1, 3) });
  expect(lines()).toEqual([...Array.from({ length: 50 }, (_, i) => `line ${i}`), "a", "> b", "c"]);
});

test("rows beyond the terminal's height lose the first ones, and a row that is too wide is cut", () => {
  const { foot, lines } = terminal(10, 4);
  foot.draw([], { rows: ["1", "2", "3", "4", "> \x1b[1m012345678\x1b[0m9"], cursor: at(4, 12) });
  expect(lines()).toEqual(["3", "4", "> 01234567"]);
});

test("a resized terminal keeps the printed lines", () => {
  const { foot, lines, emulator } = terminal(20, 8);
  foot.draw(["done"], { rows: ["a tail of 20 columns", "> typed text", "status"], cursor: at(1, 12) });
  emulator.resize(9, 8);
  foot.draw([], { rows: ["a tail", "> typed", "status"], cursor: at(1, 7) });
  expect(lines()).toEqual(["done", "a tail", "> typed", "status"]);
  emulator.resize(40, 8);
  foot.draw(["more"], { rows: ["> typed", "status"], cursor: at(0, 7) });
  expect(lines()).toEqual(["done", "more", "> typed", "status"]);
});

test("the rows can be cleared, and the screen wiped", () => {
  const { foot, lines } = terminal();
  foot.draw(["one"], { rows: ["tail", "> ty"], cursor: at(1, 4) });
  foot.clear();
  expect(lines()).toEqual(["one"]);
  foot.wipe();
  foot.draw(["two"], { rows: ["> "], cursor: at(0, 2) });
  expect(lines().at(-1)).toBe(">");
});
