import { expect, test } from "vitest";
import { clientKeysOf } from "../../host/keys.ts";
import { KeyReader } from "./key-reader.ts";

const { detachBytes, nextBytes } = clientKeysOf({ detachKey: "C-\\", nextKey: "C-]" });

function read(...chunks: string[]): string[] {
  const reader = new KeyReader({ detach: detachBytes, next: nextBytes });
  const found = chunks.flatMap((chunk) => reader.push(Buffer.from(chunk, "latin1")));
  const rest = reader.flush();
  return [...found.flatMap(({ bytes, key }) => [bytes.toString("latin1"), key ? `<${key}>` : ""]), rest.toString("latin1")].filter(Boolean);
}

test("an own key is found in every form, and the input around it is passed on (mend 1)", () => {
  for (const form of nextBytes) expect(read(`a${form}b`)).toEqual(["a", "<next>", "b"]);
  for (const form of detachBytes) expect(read(`a${form}b`)).toEqual(["a", "<detach>", "b"]);
  expect(nextBytes).toEqual(["\x1d", "\x1b[93;5u", "\x1b[27;5;93~"]);
});

test("an own key is found wherever frames split it (mend 2)", () => {
  for (const form of nextBytes) {
    expect(read(...`a${form}b`), JSON.stringify(form)).toEqual(["a", "<next>", "b"]);
    for (let cut = 1; cut < form.length; cut++) expect(read(form.slice(0, cut), form.slice(cut))).toEqual(["<next>"]);
  }
});

test("a flood of keys is read in one pass", () => {
  const began = performance.now();
  expect(read("\x1d".repeat(200_000))).toHaveLength(200_000);
  expect(performance.now() - began).toBeLessThan(5000);
});

test("no other input is held back or changed", () => {
  expect(read("\x1b").join("")).toBe("\x1b");
  expect(read("\x1b[", "A", "\x1b[93;", "6u", "\x1b[27;5;9", "2;").join("")).toBe("\x1b[A\x1b[93;6u\x1b[27;5;92;");
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 0x1c && byte !== 0x1d)).toString(
    "latin1",
  );
  expect(read(bytes).join("")).toBe(bytes);
});

test("an own key between paste marks is text", () => {
  expect(read("\x1b[20", "0~a\x1d", "b\x1b[201", "~\x1d").join("|")).toBe("\x1b[200~a\x1d|b|\x1b[201~|<next>");
});
