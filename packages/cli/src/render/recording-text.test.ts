import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RecordingText } from "./recording-text.ts";

const SIZE = { columns: 80, rows: 24 };

describe("a recorded program reads as its last screen", () => {
  it.each([
    ["curl's progress bar is its last state", "curl-bar"],
    ["curl's progress meter is its header and last state", "curl-meter"],
    ["git clone's counters are their last state", "git-clone"],
    ["npm's spinner is gone", "npm-install"],
    ["apt's bar at the bottom, outside the scroll region, is gone", "apt-progress"],
    ["the demo agent's spinner and edited prompt are gone", "demo-agent"],
    ["text wiped by clear is gone", "clear"],
    ["less, closed without later output, shows its last page", "less-left"],
    ["less, closed before later output, is gone", "less-then-more"],
    ["vim, closed without later output, shows its last screen", "vim-left"],
    ["vim, still open at the end, shows its screen", "vim-inside"],
  ])("%s", (_title, name) => {
    const text = read([fixture(`${name}.bytes`)]).map((line) => `${line}\n`);
    expect(text.join("")).toBe(fixture(`${name}.txt`).toString());
  });
});

describe("redraws", () => {
  it("collapse for carriage returns, erased lines and backspaces", () => {
    expect(read(["10%\r50%\r100%\r\nabc\x1b[2K\rdef\r\nteh\b\bhe\r\n"])).toEqual(["100%", "def", "the"]);
  });

  it("collapse for a block that is redrawn with cursor-up", () => {
    const frame = (percent: number) => `a: ${percent}%\x1b[K\r\nb: ${percent * 2}%\x1b[K\r\n`;
    const frames = [1, 2, 3].map((percent) => `\x1b[2A${frame(percent)}`);
    expect(read(["start\r\n", frame(0), ...frames, "end\r\n"])).toEqual(["start", "a: 3%", "b: 6%", "end"]);
  });

  it("keep what had scrolled off before the screen was cleared or the terminal reset", () => {
    for (const wipe of ["\x1b[H\x1b[2J\x1b[3J", "\x1bc"]) {
      expect(read([`${numbered(1, 30)}${wipe}new\r\n`])).toEqual([...lines(1, 7), "new"]);
    }
  });
});

describe("text", () => {
  it("does not depend on the width, because wrapped rows are joined", () => {
    const text = `${"wörter und 漢字 und 👍 ".repeat(20)}end\r\nsecond\r\n`;
    for (const columns of [5, 21, 80, 500]) expect(read([text], { columns, rows: 6 })).toEqual(text.trimEnd().split("\r\n"));
  });

  it("keeps combining characters and joined emoji whole", () => {
    expect(read(["e\u0301 👩‍💻 ❤️ 한글\r\n"])).toEqual(["e\u0301 👩‍💻 ❤️ 한글"]);
  });

  it("counts two columns for an emoji, as the program did that wrote behind it", () => {
    expect(read(["👍x\x1b[3Gy"])).toEqual(["👍y"]);
  });

  it("has U+FFFD for invalid UTF-8, but not for a character split between writes", () => {
    const euro = Buffer.from("€");
    expect(read([Buffer.from([0x61, 0xff, 0x62]), euro.subarray(0, 1), euro.subarray(1), Buffer.from([0xe2])])).toEqual([
      "a\ufffdb€\ufffd",
    ]);
  });

  it("contains no titles, clipboard writes, queries, strings or C1 controls", () => {
    const inert = [
      "\x1b]2;title\x07",
      "\x1b]52;c;aGk=\x1b\\",
      "\x1b[c\x1b[6n\x1b[>q",
      "\x1bP$qm\x1b\\",
      "\x1b_apc\x1b\\",
      "\u0090dcs\u009c",
      "\x07\x7f\0",
    ];
    expect(read(["a", ...inert, "b"])).toEqual(["ab"]);
  });

  it("has lines trimmed and no empty ones at the end", () => {
    expect(read([`\r\na  \r\n\r\nb${"\r\n".repeat(100)}`])).toEqual(["", "a", "", "b"]);
  });
});

describe("long recordings", () => {
  it("lose no line, however many scroll by in one write", () => {
    expect(read([numbered(1, 10_000)])).toEqual(lines(1, 10_000));
    expect(read(["\n".repeat(10_000), "end"])).toHaveLength(10_001);
  });

  it("break a line that never ends", () => {
    expect(read(["x".repeat(2 ** 20 + 5000)]).map((line) => line.length)).toEqual([1048640, 4936]);
  });
});

describe("a hostile or unlucky recording", () => {
  it("cannot make a sequence run two billion times", () => {
    for (const final of "bILMSTZ") expect(read([`a\x1b[2147483647${final}\r\nb`]).at(-1)).toBe("b");
  });

  it("may erase everything up to the last cell of the screen", () => {
    expect(read(["a\x1b[24;80H\x1b[1J\x1b[Hb"]).at(0)).toBe("b");
  });

  // xterm 6.0.0 alone throws here: an alternate screen entered after the terminal got lower keeps too many rows.
  it("may resize the terminal around the alternate screen and scroll a part of it", () => {
    using text = new RecordingText({ columns: 80, rows: 1 });
    text.write(Buffer.from("before\r\n"));
    text.resize(80, 2);
    text.resize(80, 1);
    text.write(Buffer.from(`\x1b[?1049h${"\n".repeat(10)}`));
    text.resize(80, 3);
    text.write(Buffer.from(`\x1b[2;5r${"\n".repeat(10)}\x1b[?1049lafter`));
    const read = text.finish();
    expect(read).toContain("before");
    expect(read).toContain("after");
  });
});

describe("a resize", () => {
  const sizes: [number, number][] = [
    [40, 10],
    [120, 50],
    [20, 3],
    [80, 24],
  ];

  it("neither loses nor repeats a line", () => {
    using text = new RecordingText(SIZE);
    const read: string[] = [];
    for (const [index, size] of sizes.entries()) {
      text.write(Buffer.from(numbered(index * 100 + 1, index * 100 + 100)));
      text.resize(...size);
      read.push(...text.scrolled());
    }
    expect([...read, ...text.finish()]).toEqual(lines(1, 400));
  });

  it("behind the alternate screen neither loses nor repeats a line", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from(`${numbered(1, 30)}\x1b[?1049h`));
    for (const size of sizes) {
      text.resize(...size);
      text.write(Buffer.from("inside"));
      text.write(Buffer.from("inside"));
    }
    text.write(Buffer.from("\x1b[?1049lafter\r\n"));
    expect(text.finish()).toEqual([...lines(1, 30), "after"]);
  });

  it("to fewer columns wraps lines and cuts nothing off", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from(`${"x".repeat(70)}\r\n${"y".repeat(70)}`));
    text.resize(40, 24);
    text.write(Buffer.from("\r\n"));
    text.resize(20, 24);
    expect(text.finish()).toEqual(["x".repeat(70), "y".repeat(70)]);
  });
});

describe("a follower", () => {
  it("gets a line once the cursor has moved below it, and the rest at the end", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from("one\r\ntw"));
    expect(text.settled()).toEqual(["one"]);
    expect(text.settled()).toEqual([]);
    text.write(Buffer.from("o\r\nthree"));
    expect(text.settled()).toEqual(["two"]);
    expect(text.finish()).toEqual(["three"]);
  });

  it("does not get a line again when it scrolls off", () => {
    using text = new RecordingText(SIZE);
    const followed: string[] = [];
    for (let line = 1; line <= 100; line += 10) {
      text.write(Buffer.from(numbered(line, line + 9)));
      followed.push(...text.settled());
    }
    expect([...followed, ...text.finish()]).toEqual(lines(1, 100));
  });

  it("gets redrawn lines when the terminal is at rest, and only those that changed", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from("title\r\na: 1%\r\nb: 1%\r\n"));
    expect(text.settled()).toEqual(["title", "a: 1%", "b: 1%"]);
    for (const percent of [50, 100]) {
      text.write(Buffer.from(`\x1b[2A\ra: ${percent}%\r\n\n`));
      expect(text.settled()).toEqual([]);
    }
    expect(text.settled({ atRest: true })).toEqual(["a: 100%"]);
    text.write(Buffer.from("done\r\n"));
    expect(text.settled()).toEqual(["done"]);
    expect(text.finish()).toEqual([]);
  });

  it("gets redrawn lines at the end if the terminal was never at rest", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from("title\r\na: 1%\r\n"));
    expect(text.settled()).toEqual(["title", "a: 1%"]);
    text.write(Buffer.from("\x1b[1A\ra: 100%\r\ndone\r\n"));
    expect(text.settled()).toEqual([]);
    expect(text.finish()).toEqual(["a: 100%", "done"]);
  });

  it("gets nothing of the alternate screen until the end", () => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from("before\r\n\x1b[?1049h\x1b[Hinside\r\n"));
    expect(text.settled({ atRest: true })).toEqual(["before"]);
    expect(text.finish()).toEqual(["inside"]);
  });
});

describe("for any recording", () => {
  const word = fc.constantFrom("a", "bc ", "漢", "👍", "e\u0301", "x".repeat(30));
  const printed = fc.oneof(word, fc.constant("\r\n"), fc.constant("\r\n".repeat(9)));
  const control = fc.constantFrom(
    ..."\r\t\b",
    "\x1b[A",
    "\x1b[3A",
    "\x1b[B",
    "\x1b[K",
    "\x1b[2K",
    "\x1b[2J",
    "\x1b[H",
    "\x1b[3J",
    "\x1bM",
    "\x1b[2L",
    "\x1b[2M",
  );
  const state = fc.constantFrom(
    "\x1b7",
    "\x1b8",
    "\x1b[2;5r",
    "\x1b[r",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1bc",
    "\x1b]0;title\x07",
    "\x1b[31m",
  );
  const stream = fc
    .array(fc.oneof({ weight: 4, arbitrary: printed }, control, state), { maxLength: 120 })
    .map((parts) => Buffer.from(parts.join("")));
  const cuts = fc.array(fc.nat(400), { maxLength: 30 });
  const small = { columns: 12, rows: 6 };

  it("the lines are the same however the bytes are split and whenever lines are read", () => {
    fc.assert(
      fc.property(stream, cuts, (bytes, at) => {
        expect(read(pieces(bytes, at), small)).toEqual(read([bytes], small));
      }),
    );
  });

  it("a follower of append-only output gets exactly the lines", () => {
    fc.assert(
      fc.property(fc.array(printed, { maxLength: 120 }), cuts, fc.boolean(), (parts, at, atRest) => {
        const bytes = Buffer.from(parts.join(""));
        expect(follow(pieces(bytes, at), { ...small, atRest })).toEqual(read([bytes], small));
      }),
    );
  });

  it("a follower gets every line of the final text", () => {
    fc.assert(
      fc.property(stream, cuts, fc.boolean(), (bytes, at, atRest) => {
        const followed = new Set(follow(pieces(bytes, at), { ...small, atRest }));
        expect(read([bytes], small).filter((line) => !followed.has(line))).toEqual([]);
      }),
    );
  });

  it("no control character is printed", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 500 }), stream), (bytes) => {
        expect(read([bytes], small).join("")).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

function read(parts: (string | Uint8Array)[], size = SIZE): string[] {
  using text = new RecordingText(size);
  const lines: string[] = [];
  for (const part of parts) {
    text.write(typeof part === "string" ? Buffer.from(part) : part);
    lines.push(...text.scrolled());
  }
  return [...lines, ...text.finish()];
}

function follow(parts: Uint8Array[], { atRest, ...size }: typeof SIZE & { atRest: boolean }): string[] {
  using text = new RecordingText(size);
  const lines: string[] = [];
  for (const part of parts) {
    text.write(part);
    lines.push(...text.settled({ atRest }));
  }
  return [...lines, ...text.finish()];
}

function pieces(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const ends = [...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

function lines(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
}

function numbered(from: number, to: number): string {
  return lines(from, to)
    .map((line) => `${line}\r\n`)
    .join("");
}

function fixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}`, import.meta.url));
}

describe("at a gap in the recording", () => {
  it.each([
    ["the line before the gap ends there", "one\r\ntw", "o\r\nfour\r\n", ["one", "tw", "o", "four"]],
    ["no empty line follows a line that had ended", "one\r\n", "two\r\n", ["one", "two"]],
    ["an unfinished escape sequence swallows no text", "one\x1b]0;title", "two\x07\r\n", ["one", "two"]],
    ["a partial character is dropped", "one\xe6", "two\r\n", ["one", "two"]],
  ])("%s", (_title, before, after, expected) => {
    using text = new RecordingText(SIZE);
    text.write(Buffer.from(before, "latin1"));
    text.breakOff();
    const first = text.scrolled();
    text.write(Buffer.from(after, "latin1"));
    expect([...first, ...text.finish()]).toEqual(expected);
    expect(first.length).toBeGreaterThan(0);
  });
});
