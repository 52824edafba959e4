/** The MCP inspector's own CLI, from npm, on Holdfast's server. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { installAgent } from "../../script/real-agents.mjs";
import { HOLDFAST, TestHome } from "../home.ts";
import { sessionWithToken } from "../mcp-client.ts";

interface Result {
  structuredContent: Record<string, unknown>;
}

async function inspect(home: TestHome, target: string[], args: string[]): Promise<unknown> {
  const program = await installAgent("mcp-inspector");
  const { stdout } = await promisify(execFile)(program, ["--cli", ...target, ...args], {
    cwd: home.root,
    env: home.env,
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout);
}

test("the MCP inspector finds every tool, and calls them over stdio and HTTP", async () => {
  await using home = new TestHome();
  const { listen } = await home.json<{ listen: { url: string } }>(["up", "--listen", "127.0.0.1:0"]);
  const { token } = await sessionWithToken(home, "parent");
  const identity = { HOLDFAST_HOME: home.path, HOLDFAST_TOKEN: token };
  const stdio = [HOLDFAST, "mcp", ...Object.entries(identity).flatMap(([name, value]) => ["-e", `${name}=${value}`])];
  const http = [`${listen.url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
  const listed = await Promise.all([stdio, http].map((target) => inspect(home, target, ["--method", "tools/list"])));
  const names = listed.map((each) => (each as { tools: { name: string }[] }).tools.map(({ name }) => name));
  expect(names[0]).toContain("spawn_agent");
  expect(names[1]).toEqual(names[0]);
  const run = ["--method", "tools/call", "--tool-name", "run_shell", "--tool-arg", "command=echo inspected", "--tool-arg", "wait_ms=20000"];
  for (const target of [stdio, http]) {
    const { structuredContent } = (await inspect(home, target, run)) as Result;
    expect(structuredContent).toMatchObject({ output: "inspected\n", ended: true });
  }
  const templates = (await inspect(home, stdio, ["--method", "resources/templates/list"])) as { resourceTemplates: unknown[] };
  expect(templates.resourceTemplates).toHaveLength(3);
  const read = await inspect(home, http, ["--method", "resources/read", "--uri", "holdfast://sessions/parent/output"]);
  expect(read).toMatchObject({ contents: [{ text: expect.stringContaining(token) }] });
});
