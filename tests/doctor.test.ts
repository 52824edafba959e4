import { chmodSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Finding } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";

async function levels(home: TestHome, ...flags: string[]): Promise<Record<string, string>> {
  const { stdout } = await home.cli(["doctor", "--json", ...flags]);
  return Object.fromEntries((JSON.parse(stdout) as Finding[]).map(({ id, level, fixed }) => [id, fixed ? "fixed" : level]));
}

test("a healthy home has no problem, and what stop cannot find is said (CAVE-06 hosts)", async () => {
  await using home = new TestHome();
  const { code, stdout } = await home.cli(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toContain("scrubbed HOLDFAST_RUN from its environment");
  expect(await levels(home)).toMatchObject({
    versions: "ok",
    tmux: "ok",
    recorder: "ok",
    permissions: "ok",
    holders: "ok",
    orphans: "ok",
    escapes: "note",
  });
});

test("what is wrong is found with its remedy, and mended when asked", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  chmodSync(path.join(home.path, "sessions"), 0o755);
  writeFileSync(path.join(home.path, "holders", "aaaaaaaaaa-1.json"), '{"pid":1,"start":"never","program":1,"socket":"x"}');
  const before = await home.cli(["doctor"]);
  expect(before.code).toBe(1);
  expect(before.stdout).toContain("others can read");
  expect(before.stdout).toContain("holdfast doctor --fix");
  expect(await levels(home)).toMatchObject({ permissions: "problem", holders: "note" });
  expect(await levels(home, "--fix")).toMatchObject({ permissions: "fixed", holders: "fixed" });
  expect(statSync(path.join(home.path, "sessions")).mode & 0o777).toBe(0o700);
  expect(await levels(home)).toMatchObject({ permissions: "ok", holders: "ok" });
});
