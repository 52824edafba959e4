import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { structuredCommandOf } from "../../packages/daemon/src/agent/profile.ts";
import { Profiles } from "../../packages/daemon/src/agent/profiles/index.ts";
import { RealWorld } from "./world.ts";

test.each(["qwen", "gemini", "opencode"] as const)("%s speaks the Agent Client Protocol when started by its profile", async (agent) => {
  await using world = await RealWorld.open();
  const { env, project } = await world.agent(agent);
  const [program = "", ...args] = [
    ...world.model.prefix,
    ...(structuredCommandOf(new Profiles().get(agent), { env: {}, node: "", programs: "" }) ?? []),
  ];
  const child = spawn(program, args, {
    cwd: project,
    env: { ...world.home.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  try {
    const request = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } };
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    expect(JSON.parse(line)).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
  } finally {
    // Launchers leave children behind.
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await once(child, "close");
  }
});
