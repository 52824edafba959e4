import { expect, test } from "vitest";
import { parseExit } from "./exit.ts";

test.each([
  ["0", "", { code: 0, signal: null }],
  ["255", "", { code: 255, signal: null }],
  ["", "15", { code: null, signal: "SIGTERM" }],
  ["", "9", { code: null, signal: "SIGKILL" }],
  ["", "SIGHUP", { code: null, signal: "SIGHUP" }],
  ["", "HUP", { code: null, signal: "SIGHUP" }],
  ["", "64", { code: null, signal: "SIG64" }],
  ["", "", { code: null, signal: null }],
  ["0", "11", { code: null, signal: "SIGSEGV" }],
])("status %j and signal %j", (status, signal, exit) => {
  expect(parseExit(status, signal)).toEqual(exit);
});
