import { expect, it } from "vitest";
import { KeyReader } from "./keys.ts";

it("text, Enter and editing keys are read in order", () => {
  expect(new KeyReader().read("hé\x7f\x15\x03\x04\r")).toEqual([
    { type: "text", text: "hé" },
    { type: "backspace" },
    { type: "clear" },
    { type: "cancel" },
    { type: "end" },
    { type: "enter" },
  ]);
});

it("an escape sequence in two parts is not the Esc key", () => {
  const keys = new KeyReader();
  expect(keys.read("\x1b")).toEqual([]);
  expect(keys.read("[1;5")).toEqual([]);
  expect(keys.read("Ca\x1bOA")).toEqual([{ type: "text", text: "a" }]);
  expect(keys.flush()).toEqual([]);
});

it("Esc is a key if nothing follows, or no sequence", () => {
  const keys = new KeyReader();
  expect(keys.read("\x1bx\x1b")).toEqual([{ type: "escape" }, { type: "text", text: "x" }]);
  expect(keys.flush()).toEqual([{ type: "escape" }]);
});

it("a paste is read as a whole, with its newlines and without special keys", () => {
  const keys = new KeyReader();
  expect(keys.read("\x1b[200~one\r\ntwo\r\x03")).toEqual([]);
  expect(keys.flush()).toEqual([]);
  expect(keys.read("three\x1b[201~\r")).toEqual([{ type: "paste", text: "one\ntwo\n\x03three" }, { type: "enter" }]);
});
