import { expect, test } from "vitest";
import { type Present, whoDrives } from "./who-drives.ts";

function present(name: string, what: Partial<Present> = {}): Present & { name: string } {
  return { name, takes: false, recorded: false, drives: false, readOnly: false, mayType: true, ...what };
}

test("whom the journal names drives, whatever the host says", () => {
  expect(whoDrives([present("a", { drives: true }), present("b", { recorded: true })])?.name).toBe("b");
});

test("who comes to take it drives in place of whoever did; of two, the later", () => {
  const here = [present("a", { recorded: true }), present("b", { takes: true }), present("c", { takes: true }), present("d")];
  expect(whoDrives(here)?.name).toBe("c");
});

test("of two who came at the same time, while nobody drove, the first drives", () => {
  expect(whoDrives([present("a", { drives: true }), present("b", { drives: true })])?.name).toBe("a");
});

test("with nobody driving, whoever wanted to first does; who only looks never does by itself", () => {
  expect(whoDrives([present("a", { readOnly: true }), present("b"), present("c")])?.name).toBe("b");
  expect(whoDrives([present("a", { readOnly: true })])).toBeUndefined();
});

test("whoever may not type never drives, whatever was asked for or written down (mend 1)", () => {
  const wants = { takes: true, recorded: true, drives: true };
  expect(whoDrives([present("eve", { ...wants, mayType: false }), present("b")])?.name).toBe("b");
  expect(whoDrives([present("eve", { ...wants, mayType: false })])).toBeUndefined();
});
