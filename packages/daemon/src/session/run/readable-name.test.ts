import { checkName } from "@holdfast/contract";
import { expect, test } from "vitest";
import { readableName } from "./readable-name.ts";

test("a generated name is two words and a valid name", () => {
  for (let i = 0; i < 100; i++) {
    const name = readableName(() => false);
    expect(name).toMatch(/^[a-z]+-[a-z]+$/);
    expect(checkName(name)).toBe(name);
  }
  expect(
    readableName(
      () => false,
      () => 0,
    ),
  ).not.toBe(
    readableName(
      () => false,
      () => 0.999999,
    ),
  );
});

test("a generated name is never one that is taken", () => {
  const taken = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const name = readableName((each) => taken.has(each));
    expect(taken).not.toContain(name);
    taken.add(name);
  }
});

test("a generated name gets a number when the words are used up", () => {
  expect(readableName((name) => !/\d$/.test(name))).toMatch(/^[a-z]+-[a-z]+-2$/);
  expect(readableName((name) => !name.endsWith("-7"))).toMatch(/^[a-z]+-[a-z]+-7$/);
});
