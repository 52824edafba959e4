import { readFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { HoldfastClient, unixTransport } from "@holdfast/sdk";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

/** A shell that writes its token where the test finds it, and stays. */
async function holder(home: TestHome, name: string, ...flags: string[]): Promise<{ session: Session; client: HoldfastClient }> {
  const file = path.join(home.root, `${name}.token`);
  const session = await home.run(
    `printf %s "$HOLDFAST_TOKEN" > ${file}.new && mv ${file}.new ${file}; exec sleep 1000`,
    "--name",
    name,
    ...flags,
  );
  const token = await eventually(() => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return undefined;
    }
  });
  return { session, client: new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token })) };
}

test("a session's own token reaches its groups and no others (NEW-05 together)", async () => {
  await using home = new TestHome();
  const { client: one } = await holder(home, "one");
  const { client: two } = await holder(home, "two");
  using me = home.client();
  using mine = one;
  using theirs = two;
  const group = "team/research";
  await mine.call("createGroup", { body: { path: group } });
  expect(await mine.call("getGroup", { params: { group } })).toMatchObject({ members: [{ name: "one", coordinator: true }] });
  await mine.call("shareValue", { params: { group, key: "api/schema" }, body: { value: { v: 1 } } });
  expect(await me.call("getValue", { params: { group, key: "api/schema" } })).toMatchObject({ value: { v: 1 }, revision: 1 });

  expect((await theirs.call("listGroups", {})).groups).toEqual([]);
  const forbidden = [
    theirs.call("getGroup", { params: { group } }),
    theirs.call("getValue", { params: { group, key: "api/schema" } }),
    theirs.call("shareValue", { params: { group, key: "api/schema" }, body: { value: 2 } }),
    theirs.call("joinGroup", { params: { group }, body: { sessions: ["two"] } }),
    theirs.call("setCoordinator", { params: { group }, body: { session: "two" } }),
    mine.call("joinGroup", { params: { group }, body: { sessions: ["two"] } }),
    theirs.call("removeGroup", { params: { group } }),
  ];
  for (const each of await Promise.allSettled(forbidden)) expect(each).toMatchObject({ reason: { code: "forbidden" } });

  await me.call("joinGroup", { params: { group }, body: { sessions: ["two"] } });
  expect((await theirs.call("listPeers", { params: { ref: "two" } })).peers).toMatchObject([
    { name: "one", coordinator: true, groups: [group] },
  ]);
  expect(await theirs.call("shareValue", { params: { group, key: "n" }, body: { value: 2 } })).toMatchObject({
    author: expect.stringMatching(/^session:/),
  });
});
