import { expect, test } from "vitest";
import { checkGroup, checkKey, isBelow, lineOf, parentOf, treeOf } from "./path.ts";

test("a group path consists of session names joined by slashes, at most eight levels deep", () => {
  expect(checkGroup("team/research")).toBe("team/research");
  expect(checkGroup("e\u0301quipe")).toBe("équipe");
  expect(checkGroup("a/b/c/d/e/f/g/h")).toBe("a/b/c/d/e/f/g/h");
  for (const wrong of ["", "/", "team/", "/team", "team//x", "a b", "..", "team/..", "a\nb", "-x"])
    expect(() => checkGroup(wrong), wrong).toThrow(expect.objectContaining({ code: "invalid_name" }));
  expect(() => checkGroup("a/b/c/d/e/f/g/h/i")).toThrow("at most 8 deep");
});

test("a group's path determines the groups above and below it", () => {
  expect(lineOf("a/b/c")).toEqual(["a/b/c", "a/b", "a"]);
  expect([parentOf("a/b"), parentOf("a"), treeOf("a/b/c"), treeOf("a")]).toEqual(["a", null, "a", "a"]);
  expect([isBelow("team/research", "team"), isBelow("teams", "team"), isBelow("team", "team")]).toEqual([true, false, false]);
});

test("a key is readable in a table, a shell and a URL", () => {
  for (const right of ["goal", "api/schema", "_x", "step:1", "Größe", "a-b.c"]) expect(checkKey(right)).toBe(right);
  for (const wrong of ["", ".", "..", "a b", "/a", "a\u0000b", "x".repeat(201)])
    expect(() => checkKey(wrong), wrong).toThrow(expect.objectContaining({ code: "invalid_name" }));
});
