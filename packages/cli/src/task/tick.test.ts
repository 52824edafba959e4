import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ScannedItem, scan } from "./scan.ts";
import { findAgain, readTaskFile, tick } from "./tick.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "holdfast-tick-"));
  file = path.join(directory, "tasks.md");
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true, force: true });
});

function written(text: string | Buffer): ScannedItem[] {
  writeFileSync(file, text);
  return scan(readTaskFile(file)).items;
}

const nth = (all: ScannedItem[], index: number) => ({ item: all[index] as ScannedItem, all });

test("ticking changes one byte (TURN-04 conversations)", async () => {
  const odd = Buffer.concat([
    Buffer.from("\ufeff# Aufgaben\r\n\r\n-\t[ ]\terste: à la carte\r\n  mehr\t\r\n* [ ] zweite \u2028 ü"),
    Buffer.from([0xff, 0xc3, 0x28]),
    Buffer.from("\n\n1) [ ] ohne Zeilenende"),
  ]);
  const all = written(odd);
  expect(all.map(({ line }) => line)).toEqual([3, 5, 7]);
  expect(await tick(file, nth(all, 1))).toBe("ticked");
  const at = odd.indexOf("* [ ]") + 3;
  const expected = Buffer.from(odd);
  expected[at] = "x".charCodeAt(0);
  expect(readFileSync(file)).toEqual(expected);
  expect(await tick(file, nth(all, 1))).toBe("was ticked");
  expect(readdirSync(directory)).toEqual(["tasks.md"]);
});

test("ticking any items of any file in any order changes only their boxes", async () => {
  const word = fc.string({ unit: "grapheme-composite", minLength: 1, maxLength: 8 }).filter((text) => !/[\r\n]/.test(text));
  const line = fc.oneof(
    fc
      .tuple(fc.constantFrom("- [ ] ", "* [ ] ", "- [x] ", "1. [ ] ", "  - [ ] ", "\t[ ] ", "```", "<!-- ", "--> ", "# ", ""), word)
      .map((parts) => parts.join("")),
    word,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.nat(),
      async (lines, end, last, seed) => {
        const before = Buffer.from(lines.join(end) + (last ? end : ""));
        const all = written(before);
        const expected = Buffer.from(before);
        for (const item of all.toSorted((a, b) => ((a.line * 31 + seed) % 7) - ((b.line * 31 + seed) % 7))) {
          if (item.done) continue;
          await tick(file, { item, all });
          expected[item.box] = "x".charCodeAt(0);
          expect(readFileSync(file)).toEqual(expected);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("mode, links and other files are kept", async () => {
  const real = path.join(directory, "real", "list.md");
  mkdirSync(path.dirname(real));
  writeFileSync(real, "- [ ] a\n");
  chmodSync(real, 0o640);
  symlinkSync("real/list.md", file);
  const { items } = scan(readTaskFile(file));
  await tick(file, nth(items, 0));
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, "utf8")).toBe("- [x] a\n");
  expect((statSync(real).mode & 0o7777).toString(8)).toBe("640");
  expect(readdirSync(path.dirname(real))).toEqual(["list.md"]);
});

describe("a file that was edited meanwhile", () => {
  test("keeps the edit, and the item is ticked at its new place", async () => {
    const all = written("- [ ] a\n- [ ] b\n");
    writeFileSync(file, "# New\n\n- [ ] before\n- [x] a\n  more of it\n- [ ] b\n\nthe end");
    await tick(file, nth(all, 1));
    expect(readFileSync(file, "utf8")).toBe("# New\n\n- [ ] before\n- [x] a\n  more of it\n- [x] b\n\nthe end");
  });

  test("has the right one of several items with the same text ticked, as long as their number is unchanged", async () => {
    const all = written("- [ ] test\n- [ ] build\n- [ ] test\n");
    writeFileSync(file, "intro\n\n- [x] test\n- [ ] build\n- [ ] test\n");
    await tick(file, nth(all, 2));
    expect(readFileSync(file, "utf8")).toBe("intro\n\n- [x] test\n- [ ] build\n- [x] test\n");
    writeFileSync(file, "- [ ] test\n- [ ] test\n- [ ] test\n");
    await expect(tick(file, nth(all, 2))).rejects.toMatchObject({
      code: "task_item_gone",
      message: expect.stringContaining("other items now have the same words"),
    });
    expect(readFileSync(file, "utf8")).toBe("- [ ] test\n- [ ] test\n- [ ] test\n");
  });

  test("without the item is left alone, and that is reported", async () => {
    const all = written("- [ ] a\n- [ ] b\n");
    writeFileSync(file, "- [ ] a, but better\n- [ ] b\n");
    await expect(tick(file, nth(all, 0))).rejects.toMatchObject({
      code: "task_item_gone",
      message: expect.stringContaining("the item of line 1 no longer exists; its box was not checked off"),
    });
    expect(readFileSync(file, "utf8")).toBe("- [ ] a, but better\n- [ ] b\n");
    rmSync(file);
    await expect(tick(file, nth(all, 0))).rejects.toMatchObject({
      code: "task_item_gone",
      message: expect.stringContaining("no longer exists"),
    });
  });

  test("is waited for while it is empty, as editors leave it for a moment", async () => {
    const all = written("- [ ] a\n");
    writeFileSync(file, "");
    const ticked = tick(file, nth(all, 0));
    writeFileSync(file, "saved\n\n- [ ] a\n");
    await ticked;
    expect(readFileSync(file, "utf8")).toBe("saved\n\n- [x] a\n");
  });

  test("through an open file descriptor loses nothing", async () => {
    const all = written("- [ ] a\n- [ ] b\n");
    // An editor that holds the file open, and writes after the box was ticked.
    const editor = openSync(file, "r+");
    const ticked = tick(file, nth(all, 0));
    writeSync(editor, "- [ ] b\n- [ ] a\n- [ ] new\n", 0);
    closeSync(editor);
    await ticked;
    expect(readFileSync(file, "utf8")).toBe("- [ ] b\n- [x] a\n- [ ] new\n");
  });

  test("many times has every tick and every edit in the end", async () => {
    const all = written(Array.from({ length: 20 }, (_, index) => `- [ ] item ${index}`).join("\n"));
    const edit = (number: number) => {
      const temporary = path.join(directory, `edit-${number}`);
      writeFileSync(temporary, `edit ${number}\n\n${readFileSync(file, "latin1")}`, "latin1");
      renameSync(temporary, file);
    };
    for (const [index, item] of all.entries()) {
      const ticked = tick(file, { item, all });
      if (index % 3 === 0) edit(index);
      await ticked;
      if (index % 3 === 1) appendFileSync(file, "\n");
    }
    const text = readFileSync(file, "utf8");
    expect(text.match(/- \[x\]/g)).toHaveLength(20);
    expect(text.match(/^edit \d+$/gm)).toHaveLength(7);
  });
});

test("a failed write is reported and leaves the file unchanged", async () => {
  const all = written("- [ ] a\n");
  mkdirSync(path.join(directory, `.tasks.md.${process.pid}.tmp`));
  await expect(tick(file, nth(all, 0))).rejects.toMatchObject({
    code: "file_unusable",
    message: expect.stringContaining("cannot be written"),
  });
  expect(readFileSync(file, "utf8")).toBe("- [ ] a\n");
});

test("a file with a second hard link is ticked", async () => {
  const all = written("- [ ] a\n");
  linkSync(file, path.join(directory, "other.md"));
  await tick(file, nth(all, 0));
  expect(readFileSync(file, "utf8")).toBe("- [x] a\n");
});

test("a file that is not text, or is missing, is reported", () => {
  writeFileSync(file, Buffer.from("\ufeff- [ ] a\n", "utf16le"));
  expect(() => readTaskFile(file)).toThrow(/not UTF-8 text/);
  expect(() => readTaskFile(path.join(directory, "nowhere.md"))).toThrow(/there is no such file/);
  expect(() => readTaskFile(directory)).toThrow(/EISDIR/);
});

test("an item is found by its text if it is the only one left", () => {
  const all = scan("- [ ] a\n- [ ] a\n").items;
  expect(findAgain("text\n\n- [x] a\n", nth(all, 1), "f").line).toBe(3);
});
