import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { History, MOST_KEPT } from "./history.ts";

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "hf-history-"));
  file = path.join(directory, "chat-history");
});

afterEach(() => rmSync(directory, { recursive: true }));

test("the history is stored for the next chat, readable only by its owner", () => {
  const history = new History(file);
  history.add("one");
  history.add("two\nlines");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(new History(file).texts).toEqual(["one", "two\nlines"]);
});

test("two concurrent chats keep the messages of both", () => {
  const [a, b] = [new History(file), new History(file)];
  a.add("of a");
  b.add("of b");
  expect(new History(file).texts).toEqual(["of a", "of b"]);
});

test("empty, repeated and very long texts, and texts that begin with a space, are not stored", () => {
  const history = new History(file);
  for (const text of ["one", "one", "  ", "", " secret", "x".repeat(30_000)]) history.add(text);
  expect(new History(file).texts).toEqual(["one"]);
});

test("going back and forth returns to the draft", () => {
  const history = new History(undefined);
  history.add("one");
  history.add("two");
  expect(history.older("draft")).toBe("two");
  expect(history.older("two")).toBe("one");
  expect(history.older("one")).toBeUndefined();
  expect(history.newer()).toBe("two");
  expect(history.newer()).toBe("draft");
  expect(history.newer()).toBeUndefined();
});

test("a long file is shortened, and invalid lines are ignored", () => {
  writeFileSync(file, `broken\n5\n${Array.from({ length: MOST_KEPT * 2 + 1 }, (_, i) => `${JSON.stringify(`t${i}`)}\n`).join("")}`);
  const history = new History(file);
  expect(history.texts.length).toBe(MOST_KEPT);
  expect(readFileSync(file, "utf8").trim().split("\n").length).toBe(MOST_KEPT);
  expect(history.texts.at(-1)).toBe(`t${MOST_KEPT * 2}`);
});

test("an unwritable file is not an error", () => {
  const history = new History(path.join(directory, "not", "there"));
  history.add("one");
  expect(history.texts).toEqual(["one"]);
});

test("a search finds the newest match first, then earlier ones", () => {
  const history = new History(undefined);
  for (const text of ["fix login", "add tests", "fix logout"]) history.add(text);
  expect(history.search("fix", 3)).toBe(2);
  expect(history.search("fix", 2)).toBe(0);
  expect(history.search("fix", 0)).toBe(-1);
});
