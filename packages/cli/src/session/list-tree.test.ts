import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { listTree } from "./list-tree.ts";

function one(name: string, status: Session["status"], parent: string | null = null): Session {
  return { id: name, name, parent, status, hung: false, failure: null } as unknown as Session;
}

const FAMILY = [
  one("lead-10", "working"),
  one("lead-10/b", "idle", "lead-10"),
  one("lead-2", "working"),
  one("lead-10/a", "waiting", "lead-10"),
  one("asks", "waiting"),
  one("lead-2/x", "done", "lead-2"),
];

async function listed(json: boolean): Promise<string[]> {
  const client = { call: () => Promise.resolve({ sessions: FAMILY, cursor: "e:1" }) } as unknown as Context["client"];
  const { sessions } = await listTree({ client, json }, { usage: false } as Parameters<typeof listTree>[1]);
  return sessions.map(({ name }) => name);
}

test("siblings of a tree are in the order of ls, and a parent ranks by its own status", async () => {
  expect(await listed(false)).toEqual(["asks", "lead-2", "lead-2/x", "lead-10", "lead-10/a", "lead-10/b"]);
});

test("a tree in JSON keeps the order in which siblings began, as ls does", async () => {
  expect(await listed(true)).toEqual(["lead-10", "lead-10/b", "lead-10/a", "lead-2", "lead-2/x", "asks"]);
});
