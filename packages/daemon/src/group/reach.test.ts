import type { HoldfastError, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { GroupBench, ME } from "../../test/groups.ts";

/** `inside` is in team/research and has a child, `child`; `outside` is in other. */
function open() {
  const bench = new GroupBench();
  const inside = bench.session("inside");
  const child = bench.session("child", { parent: inside });
  const outside = bench.session("outside");
  bench.groups.join("team/research/deep", [child], { actor: ME });
  bench.groups.join("team/research", [inside], { actor: ME });
  bench.groups.create("team/dev", { actor: ME });
  bench.groups.join("other", [outside], { actor: ME });
  const { reach } = bench;
  const may = (work: () => void) => {
    try {
      work();
      return true;
    } catch (error) {
      expect(["forbidden", "group_not_found"]).toContain((error as HoldfastError).code);
      return false;
    }
  };
  const rights = (who: SessionId, path: string) =>
    [
      may(() => reach.checkRead(who, path, "x")) ? "r" : "-",
      may(() => reach.checkWrite(who, path, "x")) ? "w" : "-",
      may(() => reach.checkJoin(who, path, "x")) ? "j" : "-",
    ].join("");
  return { bench, inside, child, outside, rights };
}

test("a session may change groups that it or a child is in, may read those above and below, and reaches no others (NEW-05 together)", () => {
  const { inside, child, outside, rights, bench } = open();
  const all = ["team", "team/research", "team/research/deep", "team/dev", "other"];
  expect(all.map((path) => rights(inside, path))).toEqual(["r--", "rwj", "rwj", "---", "---"]);
  expect(all.map((path) => rights(child, path))).toEqual(["r--", "r--", "rwj", "---", "---"]);
  expect(all.map((path) => rights(outside, path))).toEqual(["---", "---", "---", "---", "rwj"]);
  expect(bench.events("access.refused").length).toBeGreaterThan(0);
});

test("a session may create groups, also inside its own, but not inside those of others", () => {
  const { inside, outside, rights } = open();
  expect(["new", "team/research/new", "other/new", "team/new"].map((path) => rights(inside, path))).toEqual(["--j", "--j", "---", "---"]);
  expect(rights(outside, "team/research/new")).toBe("---");
});

test("a session learns of a foreign group only that it exists", () => {
  const { outside, bench } = open();
  const asked = (path: string) => () => bench.reach.checkRead(outside, path, "x");
  expect(asked("team")).toThrow(expect.objectContaining({ code: "forbidden" }));
  expect(asked("team")).not.toThrow(expect.objectContaining({ candidates: expect.anything() }));
  expect(asked("teams")).toThrow(expect.objectContaining({ code: "group_not_found", candidates: ["other"] }));
});

test("a session may not remove a group that has other members", () => {
  const { inside, bench } = open();
  bench.reach.checkAlone(inside, "team/research", "x");
  bench.groups.join("team/research/deep", [bench.session("stranger")], { actor: ME });
  expect(() => bench.reach.checkAlone(inside, "team/research", "x")).toThrow("team/research has other members: stranger");
});
