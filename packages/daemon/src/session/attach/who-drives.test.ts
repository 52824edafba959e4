import { expect, test } from "vitest";
import { type Present, whoDrives } from "./who-drives.ts";

function present(name: string, what: Partial<Present> = {}): Present & { name: string } {
  return { name, takes: false, recorded: false, drives: false, readOnly: false, mayType: true, ...what };
}

test("the driver in the journal drives, whatever the host says", () => {
  expect(whoDrives([present("a", { drives: true }), present("b", { recorded: true })])?.name).toBe("b");
});

test("an attachment that takes control replaces the driver; of two, the later wins", () => {
  const here = [present("a", { recorded: true }), present("b", { takes: true }), present("c", { takes: true }), present("d")];
  expect(whoDrives(here)?.name).toBe("c");
});

test("the first of two simultaneous arrivals drives a session without a driver", () => {
  expect(whoDrives([present("a", { drives: true }), present("b", { drives: true })])?.name).toBe("a");
});

test("without a driver the first that wanted to drive does; an observer never becomes the driver on its own", () => {
  expect(whoDrives([present("a", { readOnly: true }), present("b"), present("c")])?.name).toBe("b");
  expect(whoDrives([present("a", { readOnly: true })])).toBeUndefined();
});

test("an attachment that may not type never drives, whatever was requested or recorded (mend 1)", () => {
  const wants = { takes: true, recorded: true, drives: true };
  expect(whoDrives([present("eve", { ...wants, mayType: false }), present("b")])?.name).toBe("b");
  expect(whoDrives([present("eve", { ...wants, mayType: false })])).toBeUndefined();
});
