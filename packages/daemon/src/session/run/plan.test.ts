import { SpawnRequest } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Profiles } from "../../agent/profiles/index.ts";
import { checkPlan, planOf } from "./plan.ts";

const configured = { profiles: new Profiles(), programs: "/programs" };
const requested = (more: object) => SpawnRequest.parse({ agent: "shell", cwd: "/nowhere", env: { PATH: "/usr/bin:/bin" }, ...more });

test("a plan decides without looking at a directory; its check looks", () => {
  const request = requested({ command: ["true"] });
  const plan = planOf(request, configured);
  expect(plan).toMatchObject({ kind: "shell", program: ["true"], isBackground: false, agent: undefined });
  expect(planOf(request, configured)).toEqual(plan);
  expect(() => checkPlan(plan, request)).toThrow(expect.objectContaining({ code: "cwd_unusable" }));
  expect(() => checkPlan(plan, { cwd: "/" })).not.toThrow();
});

test.each([
  ["agent_unknown", { agent: "no-such-agent" }],
  ["usage", { mode: "plan" }],
  ["usage", { command: ["true"], prompt: "hello" }],
  ["usage", { command: ["true"], budget: { turns: 3 } }],
  ["not_offered", { chat: true }],
])("a plan refuses with %s what no directory can make possible: %j", (code, more) => {
  expect(() => planOf(requested(more), configured)).toThrow(expect.objectContaining({ code }));
});
