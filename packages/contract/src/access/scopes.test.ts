import { expect, test } from "vitest";
import type { Endpoint } from "../endpoint.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { grants, SCOPES } from "./scopes.ts";

test("owners may do everything, drivers and approvers may also read, observers may only read", () => {
  const granted = Object.fromEntries(SCOPES.map((has) => [has, SCOPES.filter((needs) => grants(has, needs))]));
  expect(granted).toEqual({
    owner: ["owner", "driver", "approver", "observer"],
    driver: ["driver", "observer"],
    approver: ["approver", "observer"],
    observer: ["observer"],
  });
});

test("a session has no owner's rights, and reaches only its own sessions", () => {
  for (const [name, { scope, reach, path }] of Object.entries(ENDPOINTS) as [string, Endpoint][]) {
    if (reach === undefined) continue;
    expect(scope, name).not.toBe("owner");
    if (/session/i.test(path) || /event/i.test(path)) expect(["own", "children"], name).toContain(reach);
  }
});

test("an observer changes nothing but its own views, attachments and read messages", () => {
  const observed = Object.entries(ENDPOINTS as Record<string, Endpoint>).filter(([, { scope }]) => scope === "observer");
  expect(observed.filter(([, { method }]) => method !== "GET").map(([name]) => name)).toEqual([
    "attachSession",
    "readMessages",
    "viewSession",
    "lookAtSession",
  ]);
});
