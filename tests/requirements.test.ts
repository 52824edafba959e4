import { expect, test } from "vitest";
import { proofsIn, unproven } from "./proofs.ts";
import { ISSUES, LANDED, REQUIREMENTS, type Requirement } from "./requirements.ts";

test("each part of a requirement is listed once", () => {
  const parts = REQUIREMENTS.map(({ id, issue }) => `${id} ${issue}`);
  expect(parts.filter((part, i) => parts.indexOf(part) !== i)).toEqual([]);
});

test("requirements name known issues, have well-formed ids without gaps, and are sentences", () => {
  const numbers = new Map<string, Set<number>>();
  for (const { id, issue, text } of REQUIREMENTS) {
    expect(ISSUES, id).toContain(issue);
    expect(id).toMatch(/^(SYM|CAVE|GRP|BG|TURN|NEW|MEND|TRUTH)-\d\d$/);
    expect(text, id).toMatch(/^\S.*\.$/);
    const [area = "", number] = id.split("-");
    numbers.set(area, (numbers.get(area) ?? new Set()).add(Number(number)));
  }
  for (const [area, seen] of numbers) expect([...seen], area).toEqual(Array.from(seen, (_, i) => i + 1));
  expect(LANDED.every((issue) => ISSUES.includes(issue) && issue !== "later")).toBe(true);
});

test("a title names its proofs at its end", () => {
  expect(proofsIn("detach leaves the agent running (SYM-02 spine)")).toEqual(["SYM-02 spine"]);
  expect(proofsIn("one vocabulary (SYM-02 spine, BG-03 spine)")).toEqual(["SYM-02 spine", "BG-03 spine"]);
  expect(proofsIn("it resumes (SYM-18 mend, mend 25)")).toEqual(["SYM-18 mend", "MEND-25 mend"]);
  expect(proofsIn("keys (mend 1)")).toEqual(["MEND-01 mend"]);
  expect(proofsIn("limits (truth 9)")).toEqual(["TRUTH-09 truth"]);
  expect(proofsIn("(SYM-02 spine) comes first here")).toEqual([]);
  expect(proofsIn("no proof (on tmux)")).toEqual([]);
});

test("a landed part without a passed test is missing, and a mark without a part is unknown", () => {
  const requirements: Requirement[] = [
    { id: "SYM-01", issue: "spine", text: "One." },
    { id: "SYM-02", issue: "spine", text: "Two." },
    { id: "SYM-02", issue: "hosts", text: "Two, more." },
  ];
  const found = unproven({ requirements, landed: ["spine"], passedTitles: ["it works (SYM-01 spine)", "a slip (SYM-01 hosts)"] });
  expect(found.missing.map(({ id }) => id)).toEqual(["SYM-02"]);
  expect(found.unknown).toEqual(["SYM-01 hosts"]);
  const agents: Requirement[] = [{ id: "SYM-05", issue: "agents", text: "Ten.", suite: "agents" }];
  expect(unproven({ requirements: agents, landed: ["agents"], passedTitles: [] }).missing).toEqual([]);
  expect(unproven({ requirements: agents, landed: ["agents"], passedTitles: [], suites: ["agents"] }).missing).toEqual(agents);
});
