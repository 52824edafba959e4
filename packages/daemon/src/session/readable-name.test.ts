import { checkName } from "@holdfast/contract";
import { expect, test } from "vitest";
import { readableName } from "./readable-name.ts";

test("a name is two words that are allowed as a name", () => {
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

test("a name that is taken is not given", () => {
  const taken = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const name = readableName((each) => taken.has(each));
    expect(taken).not.toContain(name);
    taken.add(name);
  }
});

test("when the words are used up there is a number", () => {
  expect(readableName((name) => !/\d$/.test(name))).toMatch(/^[a-z]+-[a-z]+-2$/);
  expect(readableName((name) => !name.endsWith("-7"))).toMatch(/^[a-z]+-[a-z]+-7$/);
});
