import type { IBufferLine } from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { openEmulator, parseNow } from "./emulator.ts";
import { htmlHead, htmlRow } from "./html.ts";

/** The first row of a terminal after this text. */
function row(text: string): IBufferLine {
  const terminal = openEmulator({ columns: 20, rows: 3, scrollback: 0 });
  parseNow(terminal, text);
  const line = terminal.buffer.active.getLine(0);
  if (!line) throw new Error("a terminal without rows");
  return line;
}

const span = (style: string, text: string) => `<span style="${style}">${text}</span>`;

describe("a row as HTML", () => {
  test.each([
    ["", ""],
    ["plain", "plain"],
    ["a   b", "a   b"],
    ["\x1b[5Cfar", "     far"],
    ["漢字👍 e\u0301", "漢字👍 e\u0301"],
    [`<a href="x">&'`, "&#60;a href=&#34;x&#34;&#62;&#38;&#39;"],
    ["\x1b[31mred\x1b[39m not", `${span("color:#cd3131", "red")} not`],
    ["\x1b[91;102mbright", span("color:#f14c4c;background:#23d18b", "bright")],
    [
      "\x1b[38;5;16ma\x1b[38;5;231mb\x1b[38;5;232mc\x1b[38;5;255md",
      ["000000", "ffffff", "080808", "eeeeee"].map((c, i) => span(`color:#${c}`, "abcd"[i] ?? "")).join(""),
    ],
    ["\x1b[48;2;1;2;3mx", span("background:#010203", "x")],
    ["\x1b[1mb\x1b[0;2md\x1b[0;3mi", span("font-weight:bold", "b") + span("opacity:.6", "d") + span("font-style:italic", "i")],
    ["\x1b[4;9;53mx", span("text-decoration:underline line-through overline", "x")],
    ["\x1b[7mx\x1b[31my", span("color:#1e1e1e;background:#d4d4d4", "x") + span("color:#1e1e1e;background:#cd3131", "y")],
    ["\x1b[7;44mx", span("color:#2472c8;background:#d4d4d4", "x")],
    ["\x1b[8mhidden", span("visibility:hidden", "hidden")],
    // A bar over the whole width is kept; unwritten cells without attributes do not become spaces.
    ["\x1b[41m\x1b[K", span("background:#cd3131", " ".repeat(20))],
    ["x\x1b[31m\x1b[10C", "x"],
  ])("%j is %s", (text, html) => {
    expect(htmlRow(row(text))).toBe(html);
  });
});

test("a title is escaped", () => {
  expect(htmlHead("</title><script>")).toContain("<title>&#60;/title&#62;&#60;script&#62;</title>");
});
