/** A Working Context in the hands of agents of different makers: what one writes down, the next is pointed to, and reads with a tool of its own. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { installAgent } from "../../script/real-agents.mjs";
import { type AgentName, setUp } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Gemini's own tool reads nothing that git ignores: it is told to use the shell, which it may for that. */
const READS = {
  gemini: (file: string) => `tool shell cat ${file}`,
  claude: (file: string) => `tool Read ${JSON.stringify({ file_path: file })}`,
};

test.each(["gemini", "claude"] as const)(
  "what qwen writes into the Working Context, %s is pointed to in its first prompt, and reads (CAVE-03 workspaces)",
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
