/** Each real agent's usage from its own records, compared with the scripted model's numbers. */
import type { Session, UsageReport } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { AGENT_NAMES, type AgentName } from "./agents.ts";
import { becomes } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Some agents take half a minute to start on a busy machine, and each starts twice here. */
const SLOW_MS = 300_000;

/** The agent's name for the model. */
const MODEL: Record<AgentName, RegExp> = {
  claude: /^claude-/,
  codex: /^scripted$/,
  gemini: /^gemini-2\.5-pro$/,
  opencode: /^scripted$/,
  qwen: /^scripted$/,
};

/** Claude's model reports cache reads and writes separately; for the others cache reads are part of the input. */
const isApart = (agent: AgentName) => agent === "claude";

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "each turn has the model's token counts, each call once, across a daemon kill and a resume (TURN-06 conversations)",
    async () => {
      await using world = await RealWorld.open();
      await world.spawn(agent);
      await becomes(world, agent, "idle");
      await world.prompt(agent, "usage 1000 50 400 30; talk 2s; say the tide turns at nine");
      await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 1);
      await world.home.killDaemon();
      await world.up();
      await becomes(world, agent, "idle");
      await world.home.ok(["send", agent, "usage 2000 5 0 0; tool shell touch x.txt; usage 3000 7 0 0; say done"]);
      await becomes(world, agent, ({ status, turns }) => status === "waiting" || (status === "idle" && turns === 2));
      if ((await world.home.session(agent)).status === "waiting") await world.home.ok(["approvals", "allow", agent]);
      await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 2);
      await world.home.ok(["stop", agent]);
      await world.home.ok(["resume", agent]);
      await becomes(world, agent, "idle");
      await world.home.ok(["send", agent, "usage 4000 9 100 0; talk 2s; say again"]);
      await becomes(world, agent, ({ status, turns }) => status === "idle" && turns === 3);
      const fresh = (input: number, read: number) => (isApart(agent) ? input : input - read);
      const whole = ({ spent }: Session) => spent !== null && spent.input === fresh(10_000, 500) && spent;
      const spent = await eventually(async () => whole(await world.home.session(agent)), 30_000).catch(async () => {
        throw new Error(`${agent} used ${JSON.stringify(await world.home.json(["usage", agent]))}`);
      });
      expect(spent).toMatchObject({ turns: 3, output: 71, cacheRead: 500, cacheWrite: isApart(agent) ? 30 : 0, unknownTokens: 0 });
      const turns = await world.home.json<UsageReport>(["usage", agent]);
      expect(turns.rows.map(({ label, input, output }) => [label, input, output])).toEqual([
        [`${agent}, turn 1`, fresh(1000, 400), 50],
        [`${agent}, turn 2`, 5000, 12],
        [`${agent}, turn 3`, fresh(4000, 100), 9],
      ]);
      const models = await world.home.json<UsageReport>(["usage", "--by", "model"]);
      expect(models.rows.map(({ key }) => key)).toEqual([expect.stringMatching(MODEL[agent])]);
      expect(models.total.unknownCosts).toBe(MODEL[agent].test("scripted") ? 3 : 0);
    },
    SLOW_MS,
  );
});
