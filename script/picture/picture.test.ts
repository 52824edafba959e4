import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Cast, readCast, writeCast } from "./cast.ts";
import { type Film, filmOf } from "./frames.ts";
import { svgOf } from "./svg.ts";

const FIRST: Cast = {
  columns: 20,
  rows: 3,
  events: [
    [0, "m", "Start"],
    [0, "o", "$ "],
    [0.5, "o", "l"],
    [0.51, "o", "s"],
    [30, "o", "\r\n\u001b[1;32mfix\u001b[0m \u001b[7mwaits\u001b[0m <&>"],
    [30.5, "o", "\u001b[?25l"],
  ],
};
const SECOND: Cast = {
  columns: 20,
  rows: 3,
  events: [
    [0, "m", "Come back"],
    [0.2, "o", "╭─▛ ok"],
  ],
};

const NOTES = { title: "A <film>", closed: "Closed." };

test("a recording becomes one frame per change, and idle time is shortened", () => {
  const film = filmOf([FIRST]);
  expect(film.frames.map(({ at, rows }) => [Math.round(at * 1000) / 1000, ...rows.map(textOf)])).toEqual([
    [0, "$", "", ""],
    [0.055, "$ ls", "", ""],
    [0.465, "$ ls", "fix waits <&>", ""],
    [0.865, "$ ls", "fix waits <&>", ""],
  ]);
  expect(film.frames.map(({ rows }) => rows.map(({ cursor }) => cursor).find((cursor) => cursor !== undefined))).toEqual([
    2,
    4,
    13,
    undefined,
  ]);
  expect([film.captions, film.windows]).toEqual([[{ at: 0, text: "Start" }], [{ from: 0, to: film.duration }]]);
});

test("a part that takes long on a busy machine plays faster", () => {
  const slow: Cast["events"] = Array.from({ length: 100 }, (_, index) => [index + 1, "o", `frame ${index}\r`]);
  const film = filmOf([{ columns: 20, rows: 3, events: [[0, "m", "Start"], ...slow, [101, "m", "End"]] }]);
  expect(film.captions[1]?.at).toBeCloseTo(7 + 1);
});

test("the second recording starts on an empty screen, after a time without a window", () => {
  const film = filmOf([FIRST, SECOND]);
  const [first, second] = film.windows;
  expect(second?.from).toBeGreaterThan((first?.to ?? 0) + 1);
  const opened = film.frames.find(({ at }) => at === second?.from);
  expect(opened?.rows.map(textOf)).toEqual(["", "", ""]);
  expect(film.captions.map(({ text }) => text)).toEqual(["Start", "Come back"]);
});

test("the picture is text, shapes and keyframes: no script, no address, nothing from elsewhere", () => {
  const svg = svgOf(filmOf([FIRST, SECOND]), NOTES);
  expect(svg).toContain('<text x="0" y="14" textLength="114" class="b" style="fill:#4cc38a">fix</text>');
  expect(svg).toContain(">&#60;&#38;&#62;</text>");
  expect(svg).toContain('<title id="title">A &#60;film&#62;</title>');
  expect(svg).not.toMatch(/<text[^>]*>[╭─▛]/);
  expect(svg).toMatch(/@keyframes r1\{0%\{transform:translateY\(0px\)\}/);
  expect(svg).not.toMatch(/<script|<foreignObject|href=|url\(|@import|\son\w+=/);
  expect(svg.match(/https?:\/\/[^"]*/g)).toEqual(["http://www.w3.org/2000/svg"]);
});

test("each row shows the content of the frame at every moment", () => {
  const film = filmOf([FIRST, SECOND]);
  const svg = svgOf(film, NOTES);
  for (const { at, rows } of film.frames)
    expect(shownAt(svg, at + 0.001, film)).toEqual(rows.map(textOf).map((text) => text.replace(/[╭─▛]/g, "").trim()));
});

test("a recording is read as it was written", () => {
  expect(readCast(writeCast(FIRST))).toEqual(FIRST);
});

test("the picture of the README shows the session that it promises and is small", () => {
  const svg = readFileSync(path.join(import.meta.dirname, "../../docs/images/demo.svg"), "utf8");
  const words = unescaped(svg.replace(/<[^>]*>/g, " ").replace(/\s+/g, " "));
  for (const shown of ["holdfast spawn claude", "holdfast spawn codex", "holdfast spawn gemini", "holdfast ls", "holdfast next"])
    expect(words).toContain(shown);
  for (const shown of ["waiting", "Do you want to proceed?", "All 3 tests pass", "The terminal is closed."]) expect(words).toContain(shown);
  expect(svg.length).toBeLessThan(300_000);
  expect(svg).not.toMatch(/<script|href=|\/tmp\/|\/root|\/home\//);
});

function textOf({ runs }: Film["frames"][number]["rows"][number]): string {
  return runs
    .map(({ text }) => text)
    .join("")
    .trimEnd();
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

/** The text of each row at a time, from the keyframes alone. */
function shownAt(svg: string, at: number, film: Film): string[] {
  return Array.from({ length: film.rows }, (_, y) => {
    const [, keyframes = ""] = new RegExp(`@keyframes r${y}\\{((?:[\\d.]+%\\{[^}]*\\})*)\\}`).exec(svg) ?? [];
    const steps = [...keyframes.matchAll(/([\d.]+)%\{transform:translateY\((-?\d+)px\)\}/g)].map(([, percent, move]) => [
      Number(percent),
      -Number(move),
    ]);
    const offset = steps.findLast(([percent = 0]) => percent <= (at / film.duration) * 100)?.[1] ?? 0;
    const [, strip = ""] = new RegExp(`class="a r${y}">(.*)</g></svg>`).exec(svg) ?? [];
    const [, content = ""] = new RegExp(`<g transform="translate\\(0 ${offset}\\)">(.*?)</g>`).exec(strip) ?? [];
    return [...content.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text = ""]) => unescaped(text)).join(" ");
  });
}
