import { expect, test } from "vitest";
import { daemonSocketIn, homeIn, shortHash, socketDirectoryOf } from "./home-place.ts";

test("a home is where HOLDFAST_HOME says, else in the state directory, else below HOME", () => {
  expect(homeIn({ HOLDFAST_HOME: "/h", XDG_STATE_HOME: "/s", HOME: "/u" })).toBe("/h");
  expect(homeIn({ HOLDFAST_HOME: "", XDG_STATE_HOME: "/s", HOME: "/u" })).toBe("/s/holdfast");
  expect(homeIn({ XDG_STATE_HOME: "relative", HOME: "/u" })).toBe("/u/.local/state/holdfast");
  expect(() => homeIn({})).toThrow("neither HOLDFAST_HOME nor HOME is set");
});

test("where a daemon listens never changes: older clients look there", () => {
  expect(shortHash("/home/someone/.local/state/holdfast")).toBe("aafc7e70a0085516");
  expect(daemonSocketIn(socketDirectoryOf("/h", 1000))).toBe(`/tmp/holdfast-1000/${shortHash("/h")}/daemon.sock`);
  expect(shortHash("ü漢")).toMatch(/^[0-9a-f]{16}$/);
});
