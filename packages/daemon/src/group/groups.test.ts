import { HoldfastError, type SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { GroupBench, ME } from "../../test/groups.ts";

function refused(work: () => unknown): HoldfastError {
  try {
    work();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

test("joining creates the group and its parents; a session may be in several groups, and its peers are the other members (GRP-01 together)", () => {
  const bench = new GroupBench();
  const [a, b, c] = [bench.session("a"), bench.session("b"), bench.session("c")];
  expect(bench.groups.join("team/research", [a, b], { actor: ME })).toMatchObject({
    path: "team/research",
    parent: "team",
    joined: ["a", "b"],
  });
  expect(bench.groups.list().map(({ path, children }) => [path, children])).toEqual([
    ["team", ["team/research"]],
    ["team/research", []],
  ]);
  expect(bench.groups.join("team/research", [a], { actor: ME }).joined).toEqual([]);
  bench.groups.join("other", [a, c], { actor: ME });
  expect(bench.sessions.get(a)?.groups).toEqual(["team/research", "other"]);
  expect(bench.groups.peers(a).map(({ name, groups }) => [name, groups])).toEqual([
    ["c", ["other"]],
    ["b", ["team/research"]],
  ]);
  expect(bench.groups.peers(b).map(({ name }) => name)).toEqual(["a"]);
  bench.groups.leave("other", a, ME);
  expect(bench.groups.peers(a).map(({ name }) => name)).toEqual(["b"]);
  expect(Object.fromEntries(bench.kept), "for a lost journal").toEqual({ [a]: ["team/research"], [b]: ["team/research"], [c]: ["other"] });
  expect(bench.groups.peers(bench.session("d"))).toEqual([]);
});

test("peers are the members of groups above and below, not of sibling groups (GRP-09 together)", () => {
  const bench = new GroupBench();
  const [lead, one, two] = [bench.session("lead"), bench.session("one"), bench.session("two")];
  bench.groups.join("team", [lead], { actor: ME });
  bench.groups.join("team/one", [one], { actor: ME });
  bench.groups.join("team/two", [two], { actor: ME });
  const names = (id: SessionId) => bench.groups.peers(id).map(({ name }) => name);
  expect([names(lead), names(one), names(two)]).toEqual([["one", "two"], ["lead"], ["lead"]]);
  expect(bench.groups.peers(one)).toMatchObject([{ name: "lead", coordinator: false }]);
  expect([bench.queries.arePeers(one, lead), bench.queries.arePeers(one, two)]).toEqual([true, false]);
  expect(bench.queries.membersBelow("team").map(({ name }) => name)).toEqual(["lead", "one", "two"]);
});

test("a group is created once, and an invalid name is refused", () => {
  const bench = new GroupBench();
  bench.groups.create("team", { actor: ME });
  expect(refused(() => bench.groups.create("team", { actor: ME }))).toMatchObject({ code: "group_exists" });
  expect(refused(() => bench.groups.create("a b", { actor: ME })).code).toBe("invalid_name");
  expect(refused(() => bench.groups.get("tean"))).toMatchObject({ code: "group_not_found", candidates: ["team"] });
  expect(refused(() => bench.groups.leave("team", bench.session("a"), ME))).toMatchObject({ code: "not_a_member" });
});

test("a full group refuses all new members, and the error names the limit (GRP-04 together)", () => {
  const bench = new GroupBench();
  const ids = Array.from({ length: 34 }, (_, i) =>
    bench.session(`s${String.fromCharCode(97 + Math.floor(i / 26))}${String.fromCharCode(97 + (i % 26))}`),
  );
  bench.groups.join("team", ids.slice(0, 31), { actor: ME });
  const error = refused(() => bench.groups.join("team", ids.slice(31, 33), { actor: ME }));
  expect(error).toMatchObject({ code: "group_full", message: "the group team has 31 members and a limit of 32: 2 more do not fit" });
  expect(bench.names("team")).toHaveLength(31);
  bench.groups.join("team", ids.slice(31, 32), { actor: ME });
  expect(refused(() => bench.groups.check(["team"])).message).toContain("limit of 32: 1 more does not fit");
  bench.end(ids[3] as SessionId);
  expect(refused(() => bench.groups.join("team", ids.slice(32, 33), { actor: ME })).hint).toContain("holdfast group leave team sad");
  expect(bench.groups.setLimit("team", 64, ME).limit).toBe(64);
  expect(bench.groups.join("team", ids.slice(32), { actor: ME }).members).toHaveLength(34);
});

test("the limit is the group's own, else the configured one", () => {
  const bench = new GroupBench({ limit: 2 });
  const [a, b, c] = [bench.session("a"), bench.session("b"), bench.session("c")];
  expect(bench.groups.create("large", { limit: 3, actor: ME }).limit).toBe(3);
  expect(bench.groups.join("large", [a, b, c], { actor: ME }).members).toHaveLength(3);
  expect(refused(() => bench.groups.join("small", [a, b, c], { actor: ME }))).toMatchObject({
    code: "group_full",
    message: "the group small has a limit of 2: 3 more do not fit",
    hint: "raise the limit: holdfast group create small --limit 4",
  });
  expect(bench.queries.has("small")).toBe(false);
  bench.groups.create("small", { limit: 2, actor: ME });
  expect(refused(() => bench.groups.join("small", [a, b, c], { actor: ME })).hint).toBe("raise the limit: holdfast group limit small 4");
});

test("the first member coordinates; the role moves on request, and automatically when the coordinator leaves (GRP-03 together)", () => {
  const bench = new GroupBench();
  const [a, b, c] = [bench.session("a"), bench.session("b"), bench.session("c")];
  const leader = () => bench.groups.get("team").coordinator?.name ?? null;
  bench.groups.join("team", [a, b, c], { actor: ME });
  expect(leader()).toBe("a");
  bench.groups.setCoordinator("team", c, ME);
  expect(leader()).toBe("c");
  expect(bench.groups.get("team").members.map(({ name, coordinator }) => [name, coordinator])).toEqual([
    ["a", false],
    ["b", false],
    ["c", true],
  ]);
  bench.groups.leave("team", c, ME);
  expect(leader()).toBe("a");
  expect(refused(() => bench.groups.setCoordinator("team", c, ME)).code).toBe("not_a_member");
  bench.groups.leave("team", b, ME);
  bench.groups.leave("team", a, ME);
  expect(leader()).toBeNull();
  bench.groups.join("team", [b], { actor: ME });
  expect(leader()).toBe("b");
  expect(bench.events("group.coordinator_changed").map(({ why }) => why)).toEqual(["first", "asked", "left", "left", "first"]);
});

test("when the coordinator ends, the longest-standing live member takes over (GRP-03 together)", () => {
  const bench = new GroupBench();
  const [a, b, c] = [bench.session("a"), bench.session("b"), bench.session("c")];
  const leader = () => bench.groups.get("team").coordinator?.name ?? null;
  bench.groups.join("team", [a, b, c], { actor: ME });
  bench.end(b);
  bench.coordination.look();
  expect(leader()).toBe("a");
  bench.end(a, { restart: true });
  bench.coordination.look();
  expect(leader(), "its next run is due").toBe("a");
  bench.journal.append({ type: "session.restart_abandoned", actor: ME, session: a, data: { why: "stopped", quickEnds: 0 } });
  expect(leader()).toBeNull();
  bench.coordination.look();
  expect(leader()).toBe("c");
  expect(refused(() => bench.groups.setCoordinator("team", a, ME)).code).toBe("session_ended");
  bench.remove(a);
  bench.end(c);
  bench.coordination.look();
  expect(leader()).toBeNull();
  expect(bench.groups.get("team").members.map(({ name, ended }) => [name, ended])).toEqual([
    ["b", true],
    ["c", true],
  ]);
  bench.resume(c);
  bench.coordination.look();
  expect(leader()).toBe("c");
  const { seq } = bench.journal.cursor;
  bench.coordination.look();
  expect(bench.journal.cursor.seq, "nothing is left to do").toBe(seq);
});

test("the role moves as soon as the journal records the coordinator's end", async () => {
  const bench = new GroupBench();
  const [a, b] = [bench.session("a"), bench.session("b")];
  bench.groups.join("team", [a, b], { actor: ME });
  using coordination = bench.coordination;
  coordination.begin();
  bench.end(a);
  const { signal } = new AbortController();
  for (const { seq } = bench.journal.cursor; bench.queries.coordinator("team") === null; ) await bench.journal.changed(seq, signal);
  expect(bench.groups.get("team").coordinator?.name).toBe("b");
});

test("a group in use is removed only by force, with its subgroups, and its sessions keep running", () => {
  const bench = new GroupBench();
  const [a] = [bench.session("a")];
  bench.groups.join("team/research", [a], { actor: ME });
  expect(refused(() => bench.groups.remove("team", { force: false, actor: ME })).message).toContain("team/research is in it");
  expect(refused(() => bench.groups.remove("team/research", { force: false, actor: ME })).message).toContain("a is in it and alive");
  expect(bench.groups.remove("team", { force: true, actor: ME })).toEqual(["team/research", "team"]);
  expect([bench.groups.list(), bench.sessions.get(a)?.groups, bench.kept.get(a)]).toEqual([[], [], []]);
  bench.groups.join("team", [a], { actor: ME });
  bench.end(a);
  expect(bench.groups.remove("team", { force: false, actor: ME })).toEqual(["team"]);
});

test("a session started in groups joins them in the same transaction, and its parent is the first member of new groups (GRP-01 together)", () => {
  const bench = new GroupBench();
  const parent = bench.session("parent");
  const paths = bench.groups.check(["team/x", "team/y", "team/x"]);
  expect(paths).toEqual(["team/x", "team/y"]);
  const child = "childxxxxx" as SessionId;
  const drafts = bench.groups.joining(child, paths, { actor: ME, maker: parent });
  bench.session("child");
  bench.journal.append(...drafts);
  expect([bench.names("team"), bench.names("team/x"), bench.names("team/y")]).toEqual([[], ["parent", "child"], ["parent", "child"]]);
  expect(bench.groups.get("team/x").coordinator?.name).toBe("parent");
  expect(drafts.filter(({ type }) => type === "group.created")).toHaveLength(3);
});
