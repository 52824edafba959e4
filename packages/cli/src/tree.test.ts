import type { SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { branchesOf, inTree } from "./tree.ts";

const one = (id: string, parent: string | null = null) => ({ id: id as SessionId, parent: parent as SessionId | null });

const family = [one("b"), one("c", "a"), one("a"), one("e", "d"), one("d", "a"), one("f", "c")];

const drawn = (sessions: ReturnType<typeof one>[]) => {
  const { sessions: ordered, branches } = inTree(sessions);
  return ordered.map(({ id }) => `${branches.get(id)}${id}`);
};

test("each session stands under the one that started it, in the order in which they began", () => {
  expect(drawn(family)).toEqual(["b", "a", "├─ c", "│  └─ f", "└─ d", "   └─ e"]);
});

test("what was started by a session that is not shown is a root", () => {
  expect(drawn([one("c", "a"), one("f", "c")])).toEqual(["c", "└─ f"]);
  expect(drawn([])).toEqual([]);
});

test("those that are wanted come with what they descend from; those that are named, with what descends from them", () => {
  const ids = (wanted: string[], named: boolean) =>
    branchesOf(family, new Set(wanted), { named })
      .map(({ id }) => id)
      .join("");
  expect(ids(["f"], false)).toBe("caf");
  expect(ids(["d"], true)).toBe("ed");
  expect(ids(["a"], true)).toBe("caedf");
  expect(ids([], false)).toBe("");
});
