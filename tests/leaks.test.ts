import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { residentBytes } from "./proc.ts";

const MEGABYTE = 1 << 20;

/** Starts short sessions over one connection, and returns when all have ended. */
async function through(home: TestHome, options: { host: "tmux" | "native"; count: number; atOnce: number }): Promise<void> {
  using client = home.client();
  for (let done = 0; done < options.count; done += options.atOnce) {
    const body = { agent: "shell", command: ["true"], cwd: home.root, env: { PATH: home.env.PATH ?? "" }, host: options.host };
    await Promise.all(Array.from({ length: options.atOnce }, () => client.call("spawn", { body })));
    await eventually(async () => (await client.call("status", {})).sessions.running === 0, 60_000);
  }
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

test("file descriptors and memory of daemon and tmux server stay flat over 1,000 sessions", { timeout: 300_000 }, async () => {
  await using home = new TestHome();
  const daemon = await home.daemonPid();
  // The heap first grows to its working size, and then stays flat.
  await through(home, { host: "tmux", count: 1000, atOnce: 20 });
  await through(home, { host: "native", count: 40, atOnce: 4 });
  const { pid: server } = (await home.json<{ tmux: { pid: number } }>(["status"])).tmux;
  const before = [daemon, server].map((pid) => ({ fds: descriptors(pid), memory: residentBytes(pid) }));
  await through(home, { host: "tmux", count: 960, atOnce: 20 });
  await through(home, { host: "native", count: 40, atOnce: 4 });
  for (const [index, pid] of [daemon, server].entries()) {
    const { fds = 0, memory = 0 } = before[index] ?? {};
    // Connections of commands that have just ended may still be closing.
    await eventually(() => descriptors(pid) <= fds + 3);
    // Allows a thousand records and uncollected garbage; a leaked buffer or pane per session would be far more.
    expect(residentBytes(pid) - memory).toBeLessThan(64 * MEGABYTE);
  }
  expect(await home.json(["status"])).toMatchObject({ pid: daemon, sessions: { running: 0, ended: 2040 } });
});
