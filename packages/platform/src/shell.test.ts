import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell.ts";

test("any word is quoted as a shell needs it", () => {
  expect(shellWord("a/b.c")).toBe("a/b.c");
  expect(shellWord("it's two words")).toBe("'it'\\''s two words'");
  expect(shellWord("it's\ntwo\tlines \\n")).toBe("$'it\\'s\\ntwo\\tlines \\\\n'");
  expect(shellWord("")).toBe("''");
});

test("bash reads a quoted word back unchanged", () => {
  for (const word of ["it's\ntwo \\ lines\r", "\x1b[31mred\x07 5", "\u0085 \u2028 \u202e \u{e0001}f", "plain"])
    expect(execFileSync("bash", ["-c", `printf %s ${shellWord(word)}`], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } })).toBe(word);
});
