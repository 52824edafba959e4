import type { Session } from "@holdfast/contract/session/session";
import { expect, test } from "vitest";
import { byName, inOrder } from "./order.ts";

test("numbers in names are compared as numbers", () => {
  const names = ["fix-10", "fix-2", "fix", "b", "fix-2a", "fix-02", "a10b2", "a10b10", "10", "9"];
  expect(names.sort(byName)).toEqual(["9", "10", "a10b2", "a10b10", "b", "fix", "fix-02", "fix-2", "fix-2a", "fix-10"]);
});

test("waiting sessions come first, then hung and failed ones, then running ones, then ended ones", () => {
  const failure = { what: "ended", why: null, at: "2026-01-02T03:00:00.000Z" };
  const session = (name: string, status: string, more: object = {}) => ({ name, status, hung: false, failure: null, ...more }) as Session;
  const sessions = [
    session("stopped", "stopped"),
    session("done", "done"),
    session("seen", "failed"),
    session("idle", "idle"),
    session("new", "starting"),
    session("busy-10", "working"),
    session("busy-9", "working"),
    session("failed", "failed", { failure }),
    session("turn", "idle", { failure }),
    session("hung", "working", { hung: true }),
    session("waits-2", "waiting"),
    session("waits-1", "waiting"),
  ];
  const wanted = "waits-1 waits-2 hung failed turn busy-9 busy-10 new idle seen done stopped".split(" ");
  expect(inOrder(sessions).map(({ name }) => name)).toEqual(wanted);
});
