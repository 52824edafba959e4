import { join } from "node:path";
import { expect, test } from "vitest";
import { textOfResult } from "./result.ts";
import { Servers } from "./servers.ts";

const never = new AbortController().signal;

function scripted(how: string) {
  const command = [process.execPath, join(import.meta.dirname, "scripted-server.mjs"), "/dev/null", how];
  return { name: how, command, env: {}, cwd: "/" };
}

test("a late MCP server is waited for only until the time limit and reported once, and the tools of other servers are available", async () => {
  await using servers = new Servers([scripted("mute"), scripted("well")], { waitMs: 0 });
  servers.start();
  await expect
    .poll(async () => {
      await servers.ready(never);
      return servers.tools().length;
    })
    .toBe(8);
  expect(servers.takeNotices()).toMatchObject([{ about: "tools", title: "the MCP server mute is not ready yet" }]);
  expect(servers.takeNotices()).toEqual([]);
});

test("tools with the same name on two servers get different names", async () => {
  const [one, two] = [scripted("well"), { ...scripted("well"), name: "we.ll" }];
  await using servers = new Servers([one, two, { ...two, name: "we_ll" }]);
  servers.start();
  await servers.ready(never);
  const names = servers.tools().map(({ name }) => name);
  expect(names.filter((name) => name.includes("__echo"))).toEqual([
    "mcp__well__echo",
    "mcp__we_ll__echo",
    expect.stringMatching(/^mcp__we_ll__echo_[0-9a-f]{6}$/),
  ]);
});

test("a tool result becomes text for the model, and the middle of a long result is omitted", () => {
  const text = (words: string) => ({ type: "text" as const, text: words });
  const image = { type: "image" as const, data: "AA==", mimeType: "image/png" };
  const file = { type: "resource" as const, resource: { uri: "file:///a", text: "of a file" } };
  expect(textOfResult({ content: [text("one"), image, file] })).toEqual({
    text: "one\n[image, image/png: the agent accepts only text]\nof a file",
    ok: true,
  });
  expect(textOfResult({ content: [], structuredContent: { a: 1 }, isError: true })).toEqual({ text: '{"a":1}', ok: false });
  expect(textOfResult({ content: [] }).text).toBe("[The server returned an empty result.]");
  const long = textOfResult({ content: [text(`begin ${"ü".repeat(50_000)} end`)] }).text;
  expect(long).toMatch(/^begin ü+\n\[60010 bytes are omitted here\.\]\nü+ end$/);
});
