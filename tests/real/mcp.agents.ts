import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../home.ts";
import type { AgentName } from "./agents.ts";
import { inRootsPlace } from "./roots.ts";
import { RealWorld } from "./world.ts";

test.each(["claude", "codex", "qwen", "opencode"] as const)("%s asks a server from config.toml for its tools", asksForTools);

test("gemini asks it too, if it accepts Holdfast's settings", async () => {
  if (inRootsPlace()) await asksForTools("gemini");
});

async function asksForTools(agent: AgentName): Promise<void> {
  await using world = await RealWorld.open();
  const log = path.join(world.home.root, "called");
  const directory = path.join(world.home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  const command = JSON.stringify([process.execPath, path.join(import.meta.dirname, "mcp-server.mjs"), log]);
  writeFileSync(path.join(directory, "config.toml"), `[mcp.tides]\ncommand = ${command}\nenv = { TIDES = "it's high" }\n`);
  // The daemon reads its configuration at its start.
  await world.restart();
  await world.spawn(agent);
  await eventually(() => existsSync(log) && readFileSync(log, "utf8").includes("tools/list"), 60_000);
  expect(readFileSync(log, "utf8")).toMatch(/^initialize it's high$/m);
}
