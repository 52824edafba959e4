import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { pieceOf } from "./transcript-piece.ts";

const directory = mkdtempSync(join(tmpdir(), "hf-piece-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

test("an agent's own record is read in complete lines, over all its files, to the end (mend own-transcript) (BG-18 mend)", () => {
  const files = [file("a", "one\ntwo\nthree\n"), join(directory, "none"), file("b", "four\nfive")];
  const pieces: string[] = [];
  for (let from = 0; ; ) {
    const piece = pieceOf(files, { from, limit: 9 });
    if (piece.next === from) break;
    pieces.push(piece.text);
    from = piece.next;
  }
  expect(pieces).toEqual(["one\ntwo\n", "three\n", "four\nfive"]);
  expect(pieceOf(files, { from: 99, limit: 9 })).toEqual({ text: "", from: 23, next: 23, bytes: 23 });
});

test("a line that is too long is cut between characters, and only ordinary files are read (mend own-transcript) (BG-18 mend)", () => {
  const long = [file("long", "ééééé\n")];
  expect(pieceOf(long, { from: 0, limit: 5 })).toMatchObject({ text: "éé", next: 4 });
  symlinkSync(join(directory, "long"), join(directory, "link"));
  expect(pieceOf([join(directory, "link"), "/dev/zero"], { from: 0, limit: 5 })).toMatchObject({ text: "", bytes: 0 });
});
