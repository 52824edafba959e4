import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const PACKAGES = join(import.meta.dirname, "../../..");

/** Matches code that starts git directly or through a shell. */
const STARTS = /["'`]git["'`](?!\s*\))|["'`]git (?:-|[a-z]+ )|exec git /;

const DOOR = "platform/src/git/run.ts";

test("only one module starts git (mend 3)", () => {
  const sources = globSync("*/src/**/*.ts", { cwd: PACKAGES }).filter((file) => !/\.test\.ts$|\/scratch-repository\.ts$/.test(file));
  expect(sources.length).toBeGreaterThan(500);
  const starts = sources.filter((file) => {
    const text = readFileSync(join(PACKAGES, file), "utf8");
    return /node:child_process|\bstart\(/.test(text) && STARTS.test(text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, ""));
  });
  expect(starts).toEqual([DOOR]);
  const through = sources.filter((file) => /from "[^"]*\/git\/run|from "\.\/run\.ts"/.test(readFileSync(join(PACKAGES, file), "utf8")));
  expect(through).toEqual(["platform/src/git/command.ts"]);
});
