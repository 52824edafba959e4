/** What a call answers when it is cut short: by the daemon's death, its time, its caller, or a mistake. */
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { McpClient, sessionWithToken } from "./mcp-client.ts";

test("who waits for messages gets them over the daemon's death", async () => {
  await using home = new TestHome();
  const parent = await sessionWithToken(home, "parent");
  await using mcp = await McpClient.stdio(home, parent);
  await using other = await McpClient.stdio(home, parent);
  const child = await other.ok("run_shell", { name: "child", command: 'echo "$HOLDFAST_TOKEN"; exec sleep 1000' });
  const token = await eventually(async () => /hfs_\S+/.exec(await home.ok(["logs", "child", "--raw"]))?.[0]);
  await using childs = await McpClient.stdio(home, { token });
  const heard: string[] = [];
  const reading = mcp.ok("read_messages", { wait_ms: 60_000 });
  reading.catch((error: unknown) => heard.push(String(error)));
  // It has to be waiting when the daemon dies.
  await other.ok("list_agents");
  await home.killDaemon();
  expect(await childs.ok("send_message", { to: "parent", text: "after all" })).toMatchObject({ to: "parent" });
  expect((await reading).messages).toMatchObject([{ from: "child", text: expect.stringContaining("after all") }]);
  expect([child.name, heard]).toEqual(["child", []]);
});
