import { expect, test } from "vitest";
import { formatBytes } from "./bytes.ts";

test.each([
  [0, "0 KB"],
  [1024, "1 KB"],
  [5 * 1024 * 1024, "5 MB"],
  [1536 * 1024 * 1024, "1.5 GB"],
  [40 * 1024 ** 3, "40.0 GB"],
])("%d bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
