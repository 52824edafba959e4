import type { Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("CPU, memory and processes of a session are shown, and only its own (NEW-14 hosts)", async () => {
    await using home = new TestHome();
    await home.ok(["run", "--host", host, "--name", "busy", "--", "sh", "-c", "(while :; do :; done) & sleep 60 & wait"]);
    await home.ok(["run", "--host", host, "--name", "calm", "--", "sleep", "60"]);
    const [busy, calm] = await eventually(async () => {
      const sessions = await home.json<Session[]>(["ls", "--wide"]);
      return (sessions[0]?.usage?.cpuMs ?? 0) > 300 && sessions;
    });
    expect(busy?.usage?.processes).toBe(3);
    expect(calm?.usage?.processes).toBe(1);
    expect(calm?.usage?.cpuMs).toBeLessThan(busy?.usage?.cpuMs ?? 0);
    expect(busy?.usage?.memoryBytes).toBeGreaterThan(100_000);
    const table = await home.ok(["ls", "--wide"]);
    expect(table).toMatch(/CPU +MEMORY +PROCESSES/);
    expect(await home.ok(["show", "busy"])).toMatch(/uses .* in 3 processes/);
    expect((await home.json<Session[]>(["ls"]))[0]?.usage).toBeNull();
  });

  test("a session above its memory limit is ended, and the limit is recorded as the cause (NEW-14 hosts)", async () => {
    await using home = new TestHome();
    const hog = "x=$(head -c 150000000 /dev/zero | tr '\\0' x); sleep 60";
    await home.ok(["run", "--host", host, "--memory", "60M", "--name", "hog", "--", "sh", "-c", hog]);
    expect(await home.ended("hog")).toMatchObject({ status: "failed", cause: "out_of_memory", memoryLimitBytes: 60 << 20 });
    expect(await home.ok(["ls", "--all"])).toContain("failed (out of memory)");
    expect(await home.ok(["show", "hog"])).toMatch(/cause +out of memory/);
    const event = JSON.parse(await home.ok(["events", "--session", "hog", "--type", "session.limit_exceeded"])) as {
      data: { used: number };
    };
    expect(event.data.used).toBeGreaterThan(60 << 20);
  });
});

test("an invalid memory limit is refused", async () => {
  await using home = new TestHome();
  const refused = await home.cli(["run", "--memory", "lots", "--", "true"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("500M");
});
