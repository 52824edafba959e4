import { appendFileSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Titles } from "./titles.ts";

test("each title is returned once, even if split between two writes or segments (truth 6)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  using titles = new Titles();
  const [first, second] = [join(directory.path, "output.000000"), join(directory.path, "output.000001")];
  const before = "\x1b]0;before\x07";
  writeFileSync(first, before);
  expect(titles.read(first, { from: before.length }).titles).toEqual([]);
  appendFileSync(first, "words \x1b]0;◇ Ready\x07 more \x1b]2;✦ Working\x1b\\ and \x1b]0;◇ Re");
  expect(titles.read(first).titles).toEqual(["◇ Ready", "✦ Working"]);
  appendFileSync(first, "ady again\x07\x1b");
  expect(titles.read(first).titles).toEqual(["◇ Ready again"]);
  appendFileSync(first, "]0;one more\x07");
  writeFileSync(second, "\x1b]0;the next\x07");
  expect(titles.read(second).titles).toEqual(["one more", "the next"]);
  expect(titles.read(second).titles).toEqual([]);
});

test("a flood returns its last titles (truth 6)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  using titles = new Titles();
  const path = join(directory.path, "output.000000");
  writeFileSync(path, "");
  titles.read(path);
  appendFileSync(path, `\x1b]0;first\x07${"x".repeat(1 << 20)}\x1b]0;last\x07`);
  expect(titles.read(path).titles).toEqual(["last"]);
});

test("words are found in the output since the last call (truth 9)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  using titles = new Titles();
  const path = join(directory.path, "output.000000");
  writeFileSync(path, "429 before");
  expect(titles.read(path, { from: 10, words: /429/ }).hasWords).toBe(false);
  appendFileSync(path, "all is well");
  expect(titles.read(path, { words: /429/ }).hasWords).toBe(false);
  appendFileSync(path, "error 429");
  expect(titles.read(path, { words: /429/ }).hasWords).toBe(true);
  expect(titles.read(path, { words: /429/ }).hasWords).toBe(false);
});

test("output before the first reading counts from the given offset (truth 6)", () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  using titles = new Titles();
  const path = join(directory.path, "output.000000");
  writeFileSync(path, "\x1b]0;old\x07\x1b]0;busy\x07\x1b]0;ready\x07");
  expect(titles.read(path, { from: "\x1b]0;old\x07".length }).titles).toEqual(["busy", "ready"]);
});
