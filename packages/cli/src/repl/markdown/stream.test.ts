import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { widthOf } from "../../text/fit.ts";
import { painter } from "../paint.ts";
import { MarkdownStream } from "./stream.ts";

/** The rendered text, received in pieces of this size. */
function render(text: string, { width = 40, size = 1000, painted = true } = {}): string[] {
  const stream = new MarkdownStream({ width: () => width, paint: painter(painted), painted });
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    lines.push(...stream.push(text.slice(at, at + size)));
    stream.tail();
  }
  return [...lines, ...stream.end()];
}

/** The lines without styles. */
function bare(lines: readonly string[]): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own styles
  return lines.map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
}

describe("markdown on a terminal", () => {
  test.each([
    ["# Title", ["\x1b[1;4mTitle\x1b[0m"]],
    ["## Part ##", ["\x1b[1mPart\x1b[0m"]],
    ["a **bold** word", ["a \x1b[1mbold\x1b[0m word"]],
    ["an *italic*, a _second_ and ~~none~~", ["an \x1b[3mitalic\x1b[0m, a \x1b[3msecond\x1b[0m and \x1b[9mnone\x1b[0m"]],
    ["***both***", ["\x1b[1;3mboth\x1b[0m"]],
    ["run `npm test` now", ["run \x1b[36mnpm test\x1b[0m now"]],
    ["``a ` b``", ["\x1b[36ma ` b\x1b[0m"]],
    ["snake_case_name and 2 * 3 * 4", ["snake_case_name and 2 * 3 * 4"]],
    ["an open ** and a lone `", ["an open ** and a lone `"]],
    ["an **unclosed one", ["an **unclosed one"]],
    ["\\*not\\* bold", ["*not* bold"]],
    ["see [docs](https://x.org/a_(b))", ["see \x1b[4mdocs\x1b[0m\x1b[2m (https://x.org/a_(b))\x1b[0m"]],
    ["[https://x.org](https://x.org) <https://y.org>", ["\x1b[4mhttps://x.org\x1b[0m \x1b[4mhttps://y.org\x1b[0m"]],
    ["![a cat](cat.png)", ["\x1b[4ma cat\x1b[0m\x1b[2m (cat.png)\x1b[0m"]],
    [
      "- one\n  - two\n* [x] three\n1. four",
      ["\x1b[2m• \x1b[0mone", "\x1b[2m  • \x1b[0mtwo", "\x1b[2m• ☑ \x1b[0mthree", "\x1b[2m1. \x1b[0mfour"],
    ],
    ["> said\n> > twice", ["\x1b[2m│ \x1b[0m\x1b[3msaid\x1b[0m", "\x1b[2m│ │ \x1b[0m\x1b[3mtwice\x1b[0m"]],
    ["---", [`\x1b[2m${"─".repeat(40)}\x1b[0m`]],
    [
      "```ts\nlet a = 1;\n\n  **b**\n```\nend",
      ["\x1b[2m  ts\x1b[0m", "  \x1b[36mlet a = 1;\x1b[0m", "", "  \x1b[36m  **b**\x1b[0m", "end"],
    ],
    ["~~~\n```\n~~~", ["  \x1b[36m```\x1b[0m"]],
    ["a\n\nb", ["a", "", "b"]],
    ["a | b, no table\nc", ["a | b, no table", "c"]],
  ])("%j", (text, lines) => {
    for (const size of [1000, 1, 3]) expect(render(text, { size }), `in pieces of ${size}`).toEqual(lines);
  });

  test("a table is aligned, and its cells are formatted", () => {
    const text = "| name | n |\n|---|--:|\n| **a** | 10 |\n| `b|c` \\| d | 2 |\nafter";
    for (const size of [1000, 1]) {
      expect(bare(render(text, { size }))).toEqual(["name    │  n", "────────┼───", "a       │ 10", "b|c | d │  2", "after"]);
    }
  });

  test("a table wider than the terminal is shown row by row, without omissions", () => {
    const text = "| name | about |\n|---|---|\n| first | some words that take more than one row |\n| second | x |";
    expect(bare(render(text, { width: 20 }))).toEqual([
      "name: first",
      "about: some words",
      "  that take more",
      "  than one row",
      "",
      "name: second",
      "about: x",
    ]);
  });

  test("a table is visible while it arrives", () => {
    const stream = new MarkdownStream({ width: () => 40, paint: painter(false), painted: true });
    expect(stream.push("| a | b |\n")).toEqual([]);
    expect(stream.tail()).toEqual(["| a | b |"]);
    expect(stream.push("|---|---|\n| 1")).toEqual([]);
    expect(stream.tail()).toEqual(["a │ b", "──┼──", "1 │"]);
    stream.push(" | 2 |");
    expect(stream.tail()).toEqual(["a │ b", "──┼──", "1 │ 2"]);
  });

  test("a table without an end is printed in parts", () => {
    const stream = new MarkdownStream({ width: () => 40, paint: painter(false), painted: true });
    const lines = stream.push(`| a |\n|---|\n${"| x |\n".repeat(600)}`);
    expect(lines.length).toBeGreaterThan(400);
  });
});

test("without styles the markdown is printed as written", () => {
  const text = "# Title\n**bold** `code`\n- item\n```\ncode\n```\n> quote";
  expect(render(text, { painted: false })).toEqual(["# Title", "**bold** `code`", "- item", "```", "  code", "```", "> quote"]);
});

test("wrapped lines of an item or a quote are aligned", () => {
  expect(bare(render("- one two three four\n> one two three four", { width: 12 }))).toEqual([
    "• one two",
    "  three four",
    "│ one two",
    "│ three four",
  ]);
});

test("a line of code is not wrapped, so that it can be copied", () => {
  const long = "x".repeat(100);
  expect(bare(render(`\`\`\`\n${long}\n\`\`\``, { width: 20 }))).toEqual([`  ${long}`]);
  const stream = new MarkdownStream({ width: () => 20, paint: painter(false), painted: true });
  stream.push(`\`\`\`\n${long}`);
  expect(stream.tail().every((row) => widthOf(row) <= 20)).toBe(true);
  expect(stream.tail().join("").replaceAll(" ", "")).toBe(long);
});

test("a very long line that arrives in small pieces is processed in linear time", () => {
  const stream = new MarkdownStream({ width: () => 80, paint: painter(false), painted: true });
  stream.push("```\n");
  for (let i = 0; i < 200_000; i++) stream.push("12345");
  expect(stream.tail().length).toBeLessThan(400);
  expect(stream.push("\n")[0]?.length).toBe(1_000_002);
});

test("code indented with its fence is not indented twice", () => {
  expect(bare(render("- a\n  ```\n  b\n    c\n  ```"))).toEqual(["• a", "  b", "    c"]);
});

test("unclosed markup is shown as if it were closed", () => {
  const stream = new MarkdownStream({ width: () => 40, paint: painter(true), painted: true });
  stream.push("a **bol");
  expect(stream.tail()).toEqual(["a \x1b[1mbol\x1b[0m"]);
  stream.push("d** and `co");
  expect(stream.tail()).toEqual(["a \x1b[1mbold\x1b[0m and \x1b[36mco\x1b[0m"]);
  expect(stream.end()).toEqual(["a \x1b[1mbold\x1b[0m and `co"]);
});

test("full rows of a growing paragraph are printed with the styles still open in them", () => {
  const stream = new MarkdownStream({ width: () => 10, paint: painter(true), painted: true });
  const words = Array.from({ length: 30 }, (_, i) => `word${i}`);
  const done = stream.push(`- **${words.join(" ")}`);
  expect(done.length).toBeGreaterThan(20);
  expect(stream.tail().length).toBeLessThanOrEqual(6);
  const all = [...done, ...stream.push("** end"), ...stream.end()];
  expect(bare(all).join(" ").replace(/•|\s+/g, " ").trim()).toBe(`${words.join(" ")} end`);
  expect(all.filter((line) => line.includes("\x1b[1m")).length).toBeGreaterThan(20);
});

describe("for any pieces and any width", () => {
  const parts = [..."ab 漢👍é*_`~[]()>#-\\\n\n", "**", "word ", "- ", "1. ", "> ", "```\n", "long".repeat(9)];
  const said = (units: string[]) =>
    fc.tuple(fc.array(fc.constantFrom(...units), { maxLength: 60 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 4, max: 30 }));
  const letters = (lines: readonly string[]) =>
    bare(lines)
      .join("")
      .replace(/[^a-z漢👍é]/gu, "");

  test("no letter is lost or repeated, and every row of text fits", () => {
    fc.assert(
      fc.property(said(parts), ([units, size, width]) => {
        const text = units.join("");
        const lines = render(text, { width, size });
        expect(letters(lines)).toBe(letters([text]));
        if (!/```|~~~/.test(text)) for (const line of bare(lines)) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 500 },
    );
  });

  test("no letter of a table is lost", () => {
    fc.assert(
      fc.property(said([...parts, "|", "| a | b |\n", "|---|---|\n"]), ([units, size, width]) => {
        const text = units.join("");
        const shown = letters(render(text, { width, size }));
        for (const letter of new Set(letters([text])))
          expect(shown.split(letter).length).toBeGreaterThanOrEqual(letters([text]).split(letter).length);
      }),
      { numRuns: 500 },
    );
  });
});

test("an agent's text cannot control the terminal", () => {
  const text = "a\x1b[31mred\x1b[0m \x1b]0;title\x07b \x1b[2J\x1b]52;c;eA==\x1b\\c \x9b31md\u202e \x1b\x07";
  expect(render(text)).toEqual(["ared b c d\ufffd \ufffd\ufffd"]);
  for (const size of [1, 2, 5]) expect(render(text, { size })).toEqual(["ared b c d\ufffd \ufffd\ufffd"]);
  expect(render("one\r\ntwo\tthree")).toEqual(["one", "two    three"]);
});
