/** The SDK without Node: as a bundle, and in a real browser. */
import path from "node:path";
import type { DaemonStatus } from "@holdfast/contract";
import { type BuildOptions, build } from "esbuild";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { ROOT, TestHome } from "./home.ts";

/** Bundles the code as a user's bundler does for a page. */
async function bundled(code: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: path.join(ROOT, "tests"), loader: "ts" },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    logLevel: "silent",
    ...options,
  });
  return outputFiles?.[0]?.text ?? "";
}

const size = (text: string) => Buffer.byteLength(text);

test("a page's bundle has nothing of Node, no schemas, and only what it uses", async () => {
  const whole = await bundled('export { connect } from "@holdfast/sdk/browser";');
  expect(whole).toContain("/sessions/:ref");
  expect(whole).not.toMatch(/node:|require\(|process\.(env|cwd)/);
  expect(whole).not.toMatch(/ZodMini|_zod/);
  expect(size(whole)).toBeLessThan(70_000);

  // One class pulls in only itself and the table of errors.
  const one = await bundled('export { Timeout } from "@holdfast/sdk/browser";');
  expect(one).not.toContain("/sessions/:ref");
  expect(size(one)).toBeLessThan(size(whole) / 2);
  expect(await bundled('import "@holdfast/sdk/browser";')).toBe("");
  expect(await bundled('import type { QueryResult } from "@holdfast/sdk"; export const x: QueryResult | 1 = 1;')).not.toContain("Error");

  // A page cannot import the Node entry by mistake: the build fails, not the page.
  await expect(bundled('export { connect } from "@holdfast/sdk";')).rejects.toThrow(/node:/);
});

declare const window: { sdk: typeof import("@holdfast/sdk/browser") };

test("a page in a real browser queries an agent, follows events, and is refused like any client", async () => {
  await using home = new TestHome();
  const { listen } = await home.json<DaemonStatus>(["up", "--listen", "127.0.0.1:0"]);
  const tokenOf = async (scope: string) =>
    (await home.json<{ token: string }>(["token", "create", "--scope", scope, "--name", scope])).token;
  const tokens = { owner: await tokenOf("owner"), observer: await tokenOf("observer") };
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    // Any response of the daemon makes a page of its origin, like its own pages.
    await page.goto(`${listen?.url}/status`);
    await page.evaluate(await bundled('import * as sdk from "@holdfast/sdk/browser"; window.sdk = sdk;', { format: "iife" }));
    const told = await page.evaluate(
      async ({ url, token, observer, cwd, env }) => {
        const { sdk } = window;
        const holdfast = await sdk.connect({ url, token });
        const cursor = await holdfast.cursor();
        const types: string[] = [];
        const asked = holdfast.query({ agent: "demo", prompt: "say hello from a page\nask edit", cwd, env, onApproval: () => "allow" });
        for await (const event of asked) types.push(event.type);
        const { text, stopReason } = await asked.result;
        const seen: string[] = [];
        for await (const event of holdfast.events({ after: cursor, types: ["session.created", "session.removed"] })) {
          seen.push(event.type);
          if (seen.length === 2) break;
        }
        const over = new AbortController();
        const cancelled = holdfast.query({ agent: "demo", prompt: "say begun\nsleep 60000", cwd, env, signal: over.signal });
        for await (const { type } of cancelled) if (type === "text") break;
        const aborted = await cancelled.result.catch((error: Error) => error.name);
        const left = (await holdfast.sessions.list({ all: true })).length;
        const looker = await sdk.connect({ url, token: observer });
        const refused = await looker.sessions
          .create({ agent: "demo", cwd, env })
          .catch((error: unknown) => error instanceof sdk.PermissionRefused);
        const unknown = await sdk.connect({ url, token: "hft_none" }).catch((error: unknown) => error instanceof sdk.Unauthenticated);
        const nowhere = await sdk.connect({ url: "http://127.0.0.1:9" }).catch((error: unknown) => error instanceof sdk.DaemonUnreachable);
        const placeless = await holdfast.sessions.create({ agent: "demo" }).catch(({ code }: { code: string }) => code);
        return { text, stopReason, types: [...new Set(types)], seen, aborted, left, refused, unknown, nowhere, placeless };
      },
      { url: listen?.url ?? "", token: tokens.owner, observer: tokens.observer, cwd: home.root, env: home.env },
    );
    expect(told).toEqual({
      text: expect.stringContaining("hello from a page"),
      stopReason: "completed",
      types: expect.arrayContaining(["started", "text", "approval_asked", "approval_answered", "turn_ended", "result"]),
      seen: ["session.created", "session.removed"],
      aborted: "AbortError",
      left: 0,
      refused: true,
      unknown: true,
      nowhere: true,
      placeless: "usage",
    });
  } finally {
    await browser.close();
  }
});
