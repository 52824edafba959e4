import { expect, test } from "vitest";
import { atAGlance } from "./glance.ts";

test("a long text is cut between characters", () => {
  for (const before of [0, 1]) {
    const cut = atAGlance("x".repeat(before) + "🦭".repeat(300));
    expect(cut).toMatch(/^x?(🦭)+…$/u);
    expect(cut.length).toBeGreaterThan(197);
    expect(cut.isWellFormed()).toBe(true);
  }
  expect(atAGlance(` ${" \n".repeat(990)}${"🦭".repeat(20)}`).isWellFormed()).toBe(true);
});

test("a short text is kept and joined into one line", () => {
  expect(atAGlance(" rm -rf \\\n  build\n")).toBe("rm -rf \\ build");
});
