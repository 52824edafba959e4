import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";

test("a session's record keeps its identity, its work and its agent's conversation across every restart (SYM-03 agents)", async () => {
  await using home = new TestHome();
  const flags = ["--name", "api", "--role", "tester", "--objective", "see it green", "--prompt", "say hello"];
  const spawned = await home.json<Session>(["spawn", "demo", ...flags, "--", "--fast"]);
  const idle = await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  expect(idle).toMatchObject({
    agent: "demo",
    kind: "terminal",
    cwd: home.root,
    role: "tester",
    objective: "see it green",
    owner: spawned.owner,
    createdAt: spawned.createdAt,
    conversation: expect.stringMatching(/^[0-9a-f-]{36}$/),
    lastActivityAt: expect.any(String),
  });
  await home.killDaemon();
  const after = await home.session("api");
  const { idleMs: _idle, durationMs: _duration, statusForMs: _for, usage: _usage, lastActivityAt: _last, ...lasting } = idle;
  expect(after).toMatchObject(lasting);
  await home.ok(["down", "--all"]);
  expect(await home.session("api")).toMatchObject({ turns: 1, conversation: idle.conversation, status: "stopped", role: "tester" });
  expect(await home.ok(["show", "api"])).toMatch(/^turns +1$/m);
});

test("a restarted agent resumes its conversation, and starts one if it had none (SYM-03 agents)", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "told", "--restart", "always", "--prompt", "say hello", "--", "--fast"]);
  await home.ok(["spawn", "demo", "--name", "new", "--restart", "always"]);
  const told = await home.until("told", ({ status, turns }) => status === "idle" && turns === 1);
  const fresh = await home.until("new", ({ status }) => status === "idle");
  for (const { pid } of [told, fresh]) process.kill(pid ?? 0, "SIGKILL");
  const again = await home.until("told", ({ status, runs }) => status === "idle" && runs === 2);
  expect([again.conversation, again.turns]).toEqual([told.conversation, 1]);
  const begun = await home.until("new", ({ status, runs }) => status === "idle" && runs === 2);
  expect(begun.conversation).not.toBe(fresh.conversation);
});
