import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readFixtures } from "./fixtures/fixtures.ts";
import { newerThanRecorded, RECORDED } from "./recorded.ts";

test("versions are compared by number, and an unrecorded agent is never newer", () => {
  const [, minor = ""] = /^\d+\.(\d+)/.exec(RECORDED.codex ?? "") ?? [];
  const next = `0.${Number(minor) + 1}.0`;
  expect(newerThanRecorded("codex", next)).toEqual({ version: next, recorded: RECORDED.codex });
  expect(newerThanRecorded("codex", "1.0.0-alpha.1")).toMatchObject({ version: "1.0.0-alpha.1" });
  for (const version of [RECORDED.codex ?? "", "0.9.99", `0.${minor}`, null]) expect(newerThanRecorded("codex", version)).toBeNull();
  expect(newerThanRecorded("aider", "99.0.0")).toBeNull();
});

test("a version that is not a single plain word is ignored", () => {
  for (const version of ["99.0.0-$(id)", "99.0.0-a; id", "99.0.0-a\nid", "99.x"]) expect(newerThanRecorded("codex", version)).toBeNull();
});

test("the recorded versions match those that the tests install and the recordings name", () => {
  const file = path.join(import.meta.dirname, "../../../../tests/real/versions.json");
  const installed = JSON.parse(readFileSync(file, "utf8")) as Record<string, { version: string }>;
  const fixtures = readFixtures();
  for (const [agent, version] of Object.entries(RECORDED)) {
    expect([agent, installed[agent]?.version]).toEqual([agent, version]);
    expect([agent, fixtures.some((fixture) => fixture.agent === agent && fixture.version === version)]).toEqual([agent, true]);
  }
});
