import { expect, test } from "vitest";
import { parseExactly } from "./exact-json.ts";

test("a number that JavaScript would change is reported", () => {
  for (const odd of ["9007199254740993", "-9007199254740993", "1e400", "12345678901234567890", "3.14159265358979323846", "1e-400"])
    expect(parseExactly(`{"a": [1, ${odd}]}`).altered, odd).toBe(odd);
});

test("all other values are parsed as written", () => {
  const text =
    '[0, -0, 0.0, 0e5, 1.50, 1e2, 100, 1E+20, 9007199254740992, -0.001, 1.5e-7, 0.1, 123456789012345680000, "9007199254740993", null, true]';
  expect(parseExactly(text)).toEqual({ value: JSON.parse(text), altered: undefined });
});
