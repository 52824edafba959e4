import { expect, test } from "vitest";
import { compareVersions, VERSION } from "./version.ts";

test("versions sort by number, with a pre-release before its release", () => {
  const ascending = [
    "0.0.1",
    "0.1.0-alpha",
    "0.1.0-alpha.1",
    "0.1.0-alpha.2",
    "0.1.0-alpha.10",
    "0.1.0-beta",
    "0.1.0",
    "0.1.1",
    "0.2.0",
    "0.10.0",
    "1.0.0-rc.1",
    "1.0.0",
    "10.0.0",
  ];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) expect(Math.sign(compareVersions(a, b)), `${a} and ${b}`).toBe(Math.sign(i - j));
  }
});

test("the current version is valid and equals itself", () => {
  expect(compareVersions(VERSION, VERSION)).toBe(0);
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
});

test.each(["", "garbage", "1", "1.2.3.4", "-1", "v1.0.0"])("an invalid version (%j) sorts consistently and never throws", (text) => {
  expect(Math.sign(compareVersions(text, VERSION))).toBe(-Math.sign(compareVersions(VERSION, text)));
});
