import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Stage } from "./stage.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

function open() {
  const state = { ready: true, moves: false, looks: 0 };
  const written: string[] = [];
  const output = {
    columns: 20,
    rows: 5,
    get ready() {
      return state.ready;
    },
    write: (text: string) => void written.push(text),
  };
  const look = () => ({ rows: [`look ${++state.looks}`], cursor: { row: 0, column: 0 } });
  return { stage: new Stage({ output, look, moves: () => state.moves }), state, written };
}

test("many changes are drawn in one frame", () => {
  const { stage, state, written } = open();
  stage.draw();
  for (let i = 0; i < 100; i++) stage.print([`line ${i}`]);
  expect(state.looks).toBe(1);
  vi.advanceTimersByTime(20);
  expect(state.looks).toBe(2);
  expect(written.at(-1)).toContain("line 99\r\nlook 2");
  vi.advanceTimersByTime(1000);
  expect(state.looks).toBe(2);
});

test("an animation is redrawn by a timer", () => {
  const { stage, state } = open();
  state.moves = true;
  stage.draw();
  vi.advanceTimersByTime(1000);
  expect(state.looks).toBe(11);
  state.moves = false;
  vi.advanceTimersByTime(1000);
  expect(state.looks).toBe(12);
});

test("a slow terminal gets everything once it is ready", () => {
  const { stage, state, written } = open();
  state.ready = false;
  stage.print(["one"]);
  vi.advanceTimersByTime(100);
  stage.print(["two"]);
  vi.advanceTimersByTime(100);
  expect(written).toEqual([]);
  state.ready = true;
  vi.advanceTimersByTime(100);
  expect(written.join("")).toContain("one\r\ntwo\r\nlook 1");
});

test("redraw clears the screen and prints the last lines again", () => {
  const { stage, written } = open();
  stage.print(Array.from({ length: 1200 }, (_, i) => `line ${i}`));
  vi.advanceTimersByTime(20);
  written.length = 0;
  stage.redraw();
  vi.advanceTimersByTime(20);
  expect(written[0]).toBe("\x1b[H\x1b[2J");
  expect(written[1]).toContain("line 1195\r\nline 1196\r\nline 1197\r\nline 1198\r\nline 1199\r\nlook");
  expect(written[1]).not.toContain("line 1194");
});

test("closing writes everything pending and draws nothing later", () => {
  const { stage, state, written } = open();
  stage.print(["last words"]);
  stage[Symbol.dispose]();
  stage[Symbol.dispose]();
  expect(written.join("")).toContain("last words");
  expect(state.looks).toBe(1);
  stage.print(["too late"]);
  stage.draw();
  vi.advanceTimersByTime(100);
  expect(written.join("")).not.toContain("too late");
});

test("clear removes the rows until the next frame", () => {
  const { stage, written } = open();
  stage.draw();
  stage.clear();
  expect(written.at(-1)).toBe("\r\x1b[J");
});
