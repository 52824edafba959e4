/** With systemd: scopes that outlive a login, memory limits by the kernel, and warnings where a logout ends everything. */
import { readFileSync } from "node:fs";
import type { Session } from "@holdfast/contract";
import { allProcesses, argumentsOf, scopeOf } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { eventually } from "./home.ts";
import { lives } from "./proc.ts";
import { SystemdHome } from "./systemd.ts";

test("for a lingering user the daemon, the tmux server and the holder each have their own scope", async () => {
  await using home = await SystemdHome.open({ lingering: true });
  await home.ok(["run", "--host", "tmux", "--name", "in-tmux", "--", "sleep", "1000"]);
  const native = await home.json<Session>(["run", "--host", "native", "--name", "in-holder", "--", "sleep", "1000"]);
  const { pid, tmux } = await home.json<{ pid: number; tmux: { pid: number } }>(["status"]);
  const holder = allProcesses().get(native.pid ?? 0)?.parent ?? 0;
  expect(argumentsOf(holder).join(" ")).toContain("holder.mjs");
  expect(scopeOf(pid)).toMatch(/^holdfast-daemon-/);
  expect(scopeOf(tmux.pid)).toMatch(/^holdfast-tmux-/);
  expect(scopeOf(holder)).toBe(`holdfast-holder-${native.id}-1`);
  const up = await home.cli(["up"]);
  expect([up.code, up.stderr]).toEqual([0, ""]);
});

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("the kernel enforces a memory limit, show says so, and an exceeding run has ended out of memory (NEW-14 hosts)", async () => {
    await using home = await SystemdHome.open({ lingering: true });
    const go = `${home.root}/go`;
    const hog = `until [ -e '${go}' ]; do sleep 0.02; done; x=$(head -c 150000000 /dev/zero | tr '\\0' x); sleep 1000`;
    const session = await home.json<Session>(["run", "--host", host, "--memory", "60M", "--name", "hog", "--", "sh", "-c", hog]);
    // For the first few milliseconds the daemon watches the limit, until the kernel does.
    expect(await home.until("hog", ({ memoryLimitBy }) => memoryLimitBy === "cgroup")).toMatchObject({ memoryLimitBytes: 60 << 20 });
    expect(scopeOf(session.pid ?? 0)).toBe(`holdfast-run-${session.id}-1`);
    expect(await home.ok(["show", "hog"])).toMatch(/limit +60 MB of memory, by the kernel \(cgroup\)/);
    const environment = readFileSync(`/proc/${session.pid}/environ`, "utf8");
    expect(environment).not.toMatch(/HOLDFAST_IN_SCOPE|XDG_RUNTIME_DIR/);

    await home.ok(["run", "--name", "bystander", "--", "touch", go]);
    expect(await home.ended("hog")).toMatchObject({
      status: "failed",
      cause: "out_of_memory",
      exit: { signal: "SIGKILL" },
      memoryLimitBy: null,
    });
    expect(await home.ok(["ls", "--all"])).toContain("failed (out of memory)");
  });

  test("stop finds a process in the run's cgroup that left its session, its terminal and its environment (CAVE-06 hosts)", async () => {
    await using home = await SystemdHome.open({ lingering: true });
    const file = `${home.root}/escaped`;
    const leaving = `env -i setsid sh -c 'sh -c "echo \\$\\$ > ${file}; exec sleep 1000" &'; sleep 1000`;
    await home.ok(["run", "--host", host, "--memory", "500M", "--name", "leaky", "--", "sh", "-c", leaving]);
    const escaped = await eventually(() => {
      try {
        return Number(readFileSync(file, "utf8"));
      } catch {
        return undefined;
      }
    });
    await eventually(() => allProcesses().get(escaped)?.name === "sleep");
    expect(allProcesses().get(escaped)?.parent).toBe(1);
    await home.ok(["stop", "leaky"]);
    expect(lives(escaped)).toBe(false);
  });
});

test("sessions start even if the user manager creates no scopes", async () => {
  await using home = await SystemdHome.open({ lingering: true });
  await home.stopManager();
  const session = await home.json<Session>(["run", "--memory", "500M", "--host", "native", "--", "sleep", "1000"]);
  expect(session).toMatchObject({ status: "working", memoryLimitBy: "watching" });
  expect(await home.json<Session>(["run", "--memory", "500M", "--host", "tmux", "--", "sleep", "1000"])).toMatchObject({
    status: "working",
  });
});

test("up and doctor warn that a logout may end everything, and name the remedy", async () => {
  await using home = await SystemdHome.open({ lingering: false });
  const up = await home.cli(["up"]);
  expect(up.code).toBe(0);
  expect(up.stderr).toContain("loginctl enable-linger");
  expect((await home.cli(["doctor"])).stdout).toContain("loginctl enable-linger");
  const session = await home.json<Session>(["run", "--memory", "500M", "--", "sleep", "1000"]);
  expect(session.memoryLimitBy).toBe("watching");
  expect(scopeOf(await home.daemonPid())).toBeUndefined();
});

test("the unit of boot install starts the daemon with this home, and stopping it ends the daemon but no session", async () => {
  await using home = await SystemdHome.open({ lingering: true });
  const env = { XDG_RUNTIME_DIR: `/run/user/${process.getuid?.()}`, PATH: `${home.env.PATH}:${home.root}/a$b %c "d"` };
  const { todo } = await home.json<{ todo: string[] }>(["boot", "install"], { env });
  expect(todo).toEqual([]);
  expect(await home.ok(["boot"], { env })).toContain("The daemon starts at boot");
  expect(home.systemctl("is-enabled", "holdfast.service")).toBe("enabled\n");
  home.systemctl("start", "holdfast.service");
  const daemon = (JSON.parse(readFileSync(`${home.path}/daemon.json`, "utf8")) as { pid: number }).pid;
  expect(lives(daemon)).toBe(true);
  expect(home.systemctl("show", "--property=Environment", "holdfast.service")).toMatch(/\/a\\?\$b %c/);
  for (const host of ["tmux", "native"]) await home.ok(["run", "--host", host, "--name", host, "--", "sleep", "1000"]);
  const kept = await home.json<Session[]>(["ls"]);
  home.systemctl("stop", "holdfast.service");
  await eventually(() => !lives(daemon));
  expect(kept.map(({ pid }) => lives(pid ?? 0))).toEqual([true, true]);
  home.systemctl("start", "holdfast.service");
  expect((await home.json<Session[]>(["ls"])).map(({ pid }) => pid)).toEqual(kept.map(({ pid }) => pid));
});
