import { HoldfastError, type Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { GroupBench, ME } from "../../test/groups.ts";

const OTHER = "session:bxxxxxxxxx" as Principal;

function refused(work: () => unknown): HoldfastError {
  try {
    work();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

function open(): GroupBench {
  const bench = new GroupBench();
  bench.groups.create("team", { actor: ME });
  return bench;
}

test("a value has a revision, an author and a time, and can be set, read, listed and unset (GRP-02 together)", () => {
  const { values } = open();
  const at = "2026-01-01T00:00:00.000Z";
  expect(values.share("team", "goal", { value: { ship: true }, actor: ME })).toEqual({
    group: "team",
    key: "goal",
    value: { ship: true },
    revision: 1,
    author: ME,
    at,
  });
  values.share("team", "plan", { value: null, actor: OTHER });
  expect(values.get("team", "plan")).toMatchObject({ value: null, revision: 2, author: OTHER });
  expect(values.share("team", "goal", { value: "Größe", actor: OTHER }).revision).toBe(3);
  expect(values.list("team")).toEqual({
    revision: 3,
    values: [
      { group: "team", key: "goal", revision: 3, author: OTHER, at, bytes: 9, hidden: false },
      { group: "team", key: "plan", revision: 2, author: OTHER, at, bytes: 4, hidden: false },
    ],
  });
  expect(values.unset("team", "goal", { actor: ME })).toMatchObject({ value: "Größe", revision: 4 });
  expect(refused(() => values.get("team", "goal"))).toMatchObject({ code: "value_not_found", candidates: ["plan"] });
  expect(refused(() => values.unset("team", "goal", { actor: ME })).code).toBe("value_not_found");
  expect(values.share("team", "goal", { value: 1, actor: ME }).revision).toBe(5);
});

test("a write to an outdated revision is refused with the current value (GRP-02 together)", () => {
  const { values } = open();
  const first = values.share("team", "n", { value: 1, ifRevision: 0, actor: ME });
  const stale = refused(() => values.share("team", "n", { value: 9, ifRevision: 0, actor: OTHER }));
  expect(stale).toMatchObject({ code: "stale_value", details: { current: first } });
  expect(HoldfastError.fromBody(JSON.parse(JSON.stringify(stale.toBody()))).details).toEqual({ current: first });
  expect(values.share("team", "n", { value: 2, ifRevision: 1, actor: OTHER }).revision).toBe(2);
  expect(refused(() => values.unset("team", "n", { ifRevision: 1, actor: ME })).code).toBe("stale_value");
  values.unset("team", "n", { ifRevision: 2, actor: ME });
  expect(refused(() => values.share("team", "n", { value: 3, ifRevision: 2, actor: ME }))).toMatchObject({ details: { current: null } });
  expect(values.share("team", "n", { value: 3, ifRevision: 0, actor: ME }).revision).toBe(4);
});

test("a group inherits values of its parents, the nearest wins, and parents inherit nothing (GRP-09 together)", () => {
  const bench = open();
  const { values } = bench;
  bench.groups.create("team/research/deep", { actor: ME });
  values.share("team", "goal", { value: "ship", actor: ME });
  expect(values.get("team/research/deep", "goal")).toMatchObject({ group: "team", value: "ship", revision: 1 });
  values.share("team/research", "goal", { value: "find out", actor: ME });
  values.share("team/research/deep", "note", { value: "mine", actor: ME });
  expect(values.get("team/research/deep", "goal")).toMatchObject({ group: "team/research", value: "find out", revision: 2 });
  expect(values.get("team", "goal").value).toBe("ship");
  expect(refused(() => values.get("team", "note")).code).toBe("value_not_found");
  expect(refused(() => values.unset("team/research/deep", "goal", { actor: ME }))).toMatchObject({
    code: "value_not_found",
    message: 'team/research/deep has no value "goal" of its own: it reads the value of team/research',
    hint: "remove that one: holdfast group unset team/research goal",
  });
  expect(values.list("team/research/deep").values.map(({ key, group, hidden }) => [key, group, hidden])).toEqual([
    ["goal", "team/research", false],
    ["goal", "team", true],
    ["note", "team/research/deep", false],
  ]);
  expect(refused(() => values.share("team/research/deep", "goal", { value: 1, ifRevision: 2, actor: ME })).message).toContain(
    "the value of team/research is another one",
  );
  values.unset("team/research", "goal", { actor: ME });
  expect(values.get("team/research/deep", "goal").group).toBe("team");
});

test("a value has at most 64 KB and a group at most 1,000 keys, and the error names the limit", () => {
  const { values } = open();
  values.share("team", "full", { value: "x".repeat(65_534), actor: ME });
  expect(refused(() => values.share("team", "full", { value: "x".repeat(65_535), actor: ME }))).toMatchObject({
    code: "value_too_large",
    message: "a shared value has at most 65,536 bytes as JSON, this one has 65,537",
  });
  expect(refused(() => values.share("team", "full", { value: "ü".repeat(32_768), actor: ME })).code).toBe("value_too_large");
  const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  for (const depth of [502, 1100, 30_000])
    expect(refused(() => values.share("team", "deep", { value: nested(depth), actor: ME })).message).toContain("nests at most 500 deep");
  expect(values.share("team", "deep", { value: nested(500), actor: ME }).value).toEqual(nested(500));
  values.unset("team", "deep", { actor: ME });
  expect(refused(() => values.share("team", "none", { value: undefined, actor: ME })).code).toBe("usage");
  for (let i = 1; i < 1000; i++) values.share("team", `k${i}`, { value: i, actor: ME });
  expect(refused(() => values.share("team", "more", { value: 1, actor: ME }))).toMatchObject({ code: "too_many_keys" });
  values.share("team", "k1", { value: 2, actor: ME });
  values.unset("team", "k1", { actor: ME });
  values.share("team", "more", { value: 1, actor: ME });
});

test("a watcher gets each change of the group and the groups above it after a revision, and no others", async () => {
  const bench = open();
  const { values } = bench;
  bench.groups.create("team/research", { actor: ME });
  values.share("team", "goal", { value: 1, actor: ME });
  values.share("team/research", "note", { value: "a", actor: ME });
  values.share("team/research", "note", { value: "b", actor: ME });
  const never = new AbortController();
  const news = await values.watch("team/research", { after: 0, signal: never.signal });
  expect(news).toMatchObject({
    revision: 3,
    changes: [
      { key: "goal", group: "team" },
      { key: "note", value: "b", unset: false },
    ],
  });
  let heard = 0;
  const waiting = values.watch("team/research", { after: 3, signal: never.signal }).finally(() => heard++);
  const above = values.watch("team", { signal: never.signal }).finally(() => heard++);
  bench.groups.create("team/other", { actor: ME });
  values.share("team/other", "note", { value: "elsewhere", actor: ME });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  expect(heard).toBe(0);
  values.unset("team/research", "note", { actor: ME });
  expect(await waiting).toMatchObject({ revision: 5, changes: [{ key: "note", value: null, unset: true, revision: 5 }] });
  values.share("team", "goal", { value: 2, actor: ME });
  expect(await above).toMatchObject({ revision: 6, changes: [{ group: "team", key: "goal", value: 2 }] });
  expect(await values.watch("team", { after: 6, signal: AbortSignal.abort() })).toEqual({ revision: 6, changes: [] });
  await expect(values.watch("team", { after: 7, signal: never.signal })).rejects.toMatchObject({ code: "cursor_gone" });
  const gone = values.watch("team/research", { signal: never.signal });
  bench.groups.remove("team/research", { force: true, actor: ME });
  await expect(gone).rejects.toMatchObject({ code: "group_not_found" });
});

test("a group created again under its old name continues the revisions of the old one", () => {
  const bench = open();
  bench.values.share("team", "goal", { value: 1, actor: ME });
  bench.groups.remove("team", { force: false, actor: ME });
  bench.groups.create("team", { actor: ME });
  expect(refused(() => bench.values.get("team", "goal")).code).toBe("value_not_found");
  expect(bench.values.share("team", "goal", { value: 2, actor: ME }).revision).toBe(2);
});
