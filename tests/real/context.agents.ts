/** A Working Context shared by agents of different vendors: the next agent is pointed to it and reads it with its own tool. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { installAgent } from "../../script/real-agents.mjs";
import { type AgentName, setUp } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Gemini's own tool reads no ignored files, so it uses the shell, which it may. */
const READS = {
  gemini: (file: string) => `tool shell cat ${file}`,
  claude: (file: string) => `tool Read ${JSON.stringify({ file_path: file })}`,
};

test.each(["gemini", "claude"] as const)(
  "%s is pointed in its first prompt to the Working Context that qwen wrote, and reads it (CAVE-03 workspaces)",
  async (second) => {
    await using world = await RealWorld.open();
    const project = path.join(world.home.root, "project");
    const log = path.join(project, ".holdfast/context/working-log.md");
    const spawn = async (agent: AgentName, prompt: string) => {
      await installAgent(agent);
      const { env } = setUp(agent, { home: path.join(world.home.root, `home-${agent}`), project, url: world.model.url });
      await world.home.ok(["spawn", agent, "--name", agent, "--prompt", prompt], { cwd: project, env });
    };
    execFileSync("git", ["init", "--quiet", project]);
    await world.home.ok(["context", "edit"], { cwd: project, env: { EDITOR: "true" } });

    await spawn("qwen", `tool shell echo the tide turns at noon >> ${log}; say I wrote it down`);
    await becomes(world, "qwen", "waiting");
    await world.home.ok(["approvals", "allow", "qwen"]);
    await becomes(world, "qwen", ({ status, turns }) => status === "idle" && turns === 1);
    expect(readFileSync(log, "utf8")).toContain("the tide turns at noon");
    await world.home.ok(["stop", "qwen"]);

    await spawn(second, `${READS[second](log)}; say I carry on`);
    await becomes(world, second, ({ status, turns }) => status === "idle" && turns === 1);
    const asked = await world.model.asked();
    for (const words of ["I wrote it down", "I carry on"]) {
      expect(asked.find(({ prompt }) => prompt.includes(words))?.prompt).toMatch(
        /; say I \w.*\n\n\[Working Context: \.holdfast\/context\/ /,
      );
    }
    const read = asked.filter(({ prompt }) => prompt.includes("I carry on")).flatMap(({ results }) => results);
    expect(read.join("\n")).toContain("the tide turns at noon");
  },
);
