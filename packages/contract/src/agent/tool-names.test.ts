import { expect, test } from "vitest";
import { isNamed, meansServer, toolWord } from "./tool-names.ts";

test.each([
  ["read_file", "read_file", true],
  ["read_file", "*_file", true],
  ["read_file", "*", true],
  ["read_file", "read", false],
  ["mcp__tides__high", "mcp__tides__high", true],
  ["mcp__tides__high", "mcp__tides", true],
  ["mcp__tides__high", "mcp__tides__*", true],
  ["mcp__tides__high", "mcp__*", true],
  ["mcp__tides__high", "*", true],
  ["mcp__tides__high", "*high", false],
  ["mcp__tidesmore__high", "mcp__tides", false],
  ["mcp__my_tides__high", "mcp__my.tides__high", true],
  ["run_command", "run_command(git log:*)", false],
  ["run_command", "run.command", true],
  ["run_command", "run+command|.*", false],
])("tool %s matches the name %s: %s", (tool, name, isMeant) => {
  expect(isNamed(tool, name)).toBe(isMeant);
});

test.each([
  [null, true],
  [[], false],
  [["read_file", "*_file"], false],
  [["read_file", "*"], true],
  [["mcp__tides"], true],
  [["mcp__tides__high"], true],
  [["mcp__ti*"], true],
  [["mcp__*high"], true],
  [["mcp__tickets__*"], false],
  [["mcp__tidesmore"], false],
])("a server tides is needed for the tools %j: %s", (names, isOfUse) => {
  expect(meansServer(names, "tides")).toBe(isOfUse);
});

test("a tool name uses only characters that every model accepts", () => {
  expect(toolWord("a.b c/ü-1_")).toBe("a_b_c__-1_");
});
