import { expect, test } from "vitest";
import { exceeds } from "./json-shape.ts";

const LIMITS = { deepest: 3, most: 10 };
const look = (text: string) => exceeds(Buffer.from(text), LIMITS);

test.each(["{}", "[[[]]]", '{"a":[{}]}', '"[[[[[["', '{"a":"\\"[[[[[","b":1}', '"\\\\"', "", "nonsense", "]]]][[[", '"never closed'])(
  "%j is within its limits (mend 4)",
  (text) => {
    expect(look(text)).toBeUndefined();
  },
);

test.each(["[[[[", '{"a":{"b":{"c":{}}}}', '"\\\\"[[[['])("%j is too deep (mend 4)", (text) => {
  expect(look(text)).toBe("depth");
});

test.each(["[0,0,0,0,0,0,0,0,0,0,0]", "[],[],[],[],[],[],", '{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}'])(
  "%j has too many values (mend 4)",
  (text) => {
    expect(look(text)).toBe("values");
  },
);

test("thirty megabytes of quotes and backslashes are scanned once (mend 4)", () => {
  for (const unit of ['"', "\\", '\\"', '"\\\\"']) {
    expect(exceeds(Buffer.from(unit.repeat(30_000_000 / unit.length)), { deepest: 64, most: 1e9 })).toBeUndefined();
  }
});
