/** Sessions that are created first and started later. */
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

for (const host of ["tmux", "native"] as const) {
  test(`a session is created without being started, and started later: ${host} (CAVE-10 mend)`, async () => {
    await using home = new TestHome();
    const flags = ["--name", "later", "--host", host, "--prompt", "say hello", "--env", "KEY=value"];
    const created = await home.json<Session>(["create", "demo", ...flags, "--", "--fast"]);
    expect(created).toMatchObject({ name: "later", status: "created", runs: 0, pid: null, startedAt: null, endedAt: null });
    expect(existsSync(path.join(home.path, "sessions", created.id, "runs", "1"))).toBe(false);

    // The next daemon knows the created session after a kill, and starts nothing.
    await home.killDaemon();
    expect(await home.json<Session[]>(["ls"])).toMatchObject([{ name: "later", status: "created" }]);
    for (const verb of ["attach --json", "stop", "keys"]) {
      const words = verb.split(" ");
      const { code, stderr } = await home.cli([...words, "later", ...(verb === "keys" ? ["Enter"] : [])]);
      expect({ verb, code, stderr }).toMatchObject({ code: 6, stderr: expect.stringContaining("has not been started") });
    }
    expect(await home.ok(["stop", "--all"])).toContain("Nothing to stop");
    expect(await home.ok(["explain", "later"])).toMatch(/process +not started \(start it: holdfast start later\)/);

    await home.ok(["send", "later", "say second"]);
    expect((await home.json<Session>(["start", "later"])).runs).toBe(1);
    const again = await home.cli(["start", "later"]);
    expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining("is running") });
    await home.until("later", ({ turns, status }) => turns === 2 && status === "idle");
    const said = await home.ok(["logs", "later"]);
    expect(said.match(/^hello$/gm)?.length).toBe(1);
    await home.ok(["stop", "later", "--grace", "1s"]);
    expect(await home.cli(["start", "later"])).toMatchObject({ code: 6, stderr: expect.stringContaining("holdfast resume later") });
  });
}

test("a created conversation is started by the SDK, and gets its first prompt once (CAVE-10 mend)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  using holdfast = home.sdk();
  const session = await holdfast.sessions.create({ agent: "demo", chat: true, name: "talk", prompt: "say hello", start: false });
  expect(session.status).toBe("created");
  await session.start();
  await session.waitFor(({ record }) => record.turns === 1 && record.status === "idle");
  expect(new TextDecoder().decode(await session.getOutput())).toBe("hello\n");
});

test("a created command keeps its workspace, and is removed without ever having run (CAVE-10 mend)", async () => {
  await using home = new TestHome();
  const repo = new TestRepository(home);
  const created = await home.json<Session>([
    "create",
    "--name",
    "job",
    "--cwd",
    repo.path,
    "--worktree",
    "--",
    "sh",
    "-c",
    "echo ran; pwd",
  ]);
  expect(created).toMatchObject({ status: "created", workspace: { name: "job" } });
  expect(await home.cli(["workspace", "rm", "job"])).not.toMatchObject({ code: 0 });
  await home.ok(["start", "job"]);
  await home.ended("job");
  expect(await home.ok(["logs", "job"])).toContain("ran");
  await home.ok(["create", "--name", "never", "--", "true"]);
  await home.ok(["rm", "never"]);
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name)).toEqual(["job"]);
  expect(await home.cli(["create", "--name", "none"])).toMatchObject({ code: 2, stderr: expect.stringContaining("expected an agent") });
});

test("a created session is rebuilt from its files when the journal is lost (CAVE-10 mend)", async () => {
  await using home = new TestHome();
  await home.ok(["create", "--name", "later", "--", "sh", "-c", "echo ran"]);
  await home.ok(["down"]);
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "backups"])
    rmSync(path.join(home.path, name), { recursive: true, force: true });
  expect(await home.session("later")).toMatchObject({ status: "created", runs: 0 });
  await home.ok(["start", "later"]);
  await home.ended("later");
  await eventually(async () => (await home.ok(["logs", "later"])).includes("ran"));
});
