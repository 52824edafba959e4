import type { Group, GroupMember } from "@holdfast/contract/group/group";
import type { SessionId } from "@holdfast/contract/ids";
import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { given, ifRevision, sessionsOr } from "./arguments.ts";
import { groupTable, membersText, memberTable } from "./text.ts";

const member = (name: string, more: Partial<GroupMember> = {}): GroupMember => ({
  session: name as SessionId,
  name,
  agent: "demo",
  status: "idle",
  ended: false,
  joinedAt: "2026-11-15T12:00:00.000Z",
  coordinator: false,
  ...more,
});

const group = (path: string, members: GroupMember[]): Group => ({
  path,
  parent: null,
  children: [],
  members,
  goal: null,
  coordinator: null,
  state: null,
  limit: 32,
  keys: 2,
  revision: 3,
  createdAt: "2026-11-15T12:00:00.000Z",
  createdBy: "user:me" as Group["createdBy"],
});

test("the size of a group is shown with its limit and the number of ended members", () => {
  expect(membersText(group("team", []))).toBe("0 of 32");
  expect(membersText(group("team", [member("a"), member("b", { ended: true })]))).toBe("2 of 32, 1 ended");
});

test("names of other sessions cannot move the cursor", () => {
  const odd = "a\u001b[2J";
  const text = [
    groupTable([{ ...group("team", []), coordinator: { session: "x" as SessionId, name: odd } }]),
    memberTable([member(odd)]),
  ].join("\n");
  expect(text).not.toContain("\u001b[2J");
  expect(text).toContain("a\ufffd[2J");
});

function context(args: string[], flags: Record<string, string> = {}): Context {
  return { args, flags: { text: (name: string) => flags[name], list: () => [], has: () => false } } as unknown as Context;
}

test("missing and extra arguments of a verb are reported", () => {
  expect(given(context(["team", "goal"]), "get", "GROUP KEY")).toEqual(["team", "goal"]);
  expect(() => given(context(["team"]), "get", "GROUP KEY")).toThrow("expected GROUP KEY");
  expect(() => given(context(["team", "goal", "x"]), "get", "GROUP KEY")).toThrow('unexpected argument "x"');
});

test("a command inside a run applies to its own session if none is named", () => {
  expect([sessionsOr(["a", "b"], "own"), sessionsOr([], "own")]).toEqual([["a", "b"], ["own"]]);
  for (const none of ["", undefined]) expect(() => sessionsOr([], none ?? "")).toThrow("expected at least one session");
});

test("a revision is a whole number", () => {
  expect([ifRevision(context([])), ifRevision(context([], { "if-revision": "0" }))]).toEqual([undefined, 0]);
  for (const wrong of ["-1", "x", "1.5", ""])
    expect(() => ifRevision(context([], { "if-revision": wrong })), wrong).toThrow("--if-revision takes a whole number");
});
