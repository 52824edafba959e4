import { expect, test } from "vitest";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { grants, SCOPES } from "./scopes.ts";

test("an owner may do everything, drivers and approvers also look, observers only that", () => {
  const granted = Object.fromEntries(SCOPES.map((has) => [has, SCOPES.filter((needs) => grants(has, needs))]));
  expect(granted).toEqual({
    owner: ["owner", "driver", "approver", "observer"],
    driver: ["driver", "observer"],
    approver: ["approver", "observer"],
    observer: ["observer"],
  });
});

test("a session may do nothing that only an owner may, and what names a session is narrowed to its own", () => {
  for (const [name, { scope, reach, path }] of Object.entries(ENDPOINTS) as [string, Endpoint][]) {
    if (reach === undefined) continue;
    expect(scope, name).not.toBe("owner");
    if (/session/i.test(path) || /event/i.test(path)) expect(["own", "children"], name).toContain(reach);
  }
});

test("who only looks changes nothing but that somebody has looked, looks on, or has read what is for them", () => {
  const observed = Object.entries(ENDPOINTS as Record<string, Endpoint>).filter(([, { scope }]) => scope === "observer");
  expect(observed.filter(([, { method }]) => method !== "GET").map(([name]) => name)).toEqual([
    "attachSession",
    "readMessages",
    "viewSession",
    "lookAtSession",
  ]);
});
