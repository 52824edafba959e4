import type { SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { branchesOf, inTree } from "./tree.ts";

const one = (id: string, parent: string | null = null) => ({ id: id as SessionId, parent: parent as SessionId | null });

const family = [one("b"), one("c", "a"), one("a"), one("e", "d"), one("d", "a"), one("f", "c")];

const drawn = (sessions: ReturnType<typeof one>[]) => {
  const { sessions: ordered, branches } = inTree(sessions);
  return ordered.map(({ id }) => `${branches.get(id)}${id}`);
};

test("each session is listed below its parent, in the order in which they started", () => {
  expect(drawn(family)).toEqual(["b", "a", "├─ c", "│  └─ f", "└─ d", "   └─ e"]);
});

test("a session whose parent is not shown is a root", () => {
  expect(drawn([one("c", "a"), one("f", "c")])).toEqual(["c", "└─ f"]);
  expect(drawn([])).toEqual([]);
});

test("selected sessions come with their ancestors, named sessions with their descendants", () => {
  const ids = (wanted: string[], named: boolean) =>
    branchesOf(family, new Set(wanted), { named })
      .map(({ id }) => id)
      .join("");
  expect(ids(["f"], false)).toBe("caf");
  expect(ids(["d"], true)).toBe("ed");
  expect(ids(["a"], true)).toBe("caedf");
  expect(ids([], false)).toBe("");
});
