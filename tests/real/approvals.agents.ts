import { existsSync } from "node:fs";
import path from "node:path";
import type { Approval, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { type AgentName, IDLE } from "./agents.ts";
import { RealWorld } from "./world.ts";

/** The longest wait for a real agent on a busy machine. */
const PATIENCE_MS = 100_000;

/** Agents whose requests wait in a hook. */
const PARKED = ["claude", "codex", "qwen", "opencode"] as const satisfies AgentName[];

/** An agent with an open request to create a file. */
async function asking(world: RealWorld, agent: AgentName): Promise<{ made: string; approval: Approval }> {
  const { cwd } = await world.spawn(agent);
  await world.shows(agent, IDLE[agent]);
  await world.prompt(agent, "tool shell touch made.txt; say the end");
  return { made: path.join(cwd, "made.txt"), approval: await waiting(world) };
}

/** `about`: an agent may report that it waits before its screen shows the reason. */
async function waiting(world: RealWorld, about = ""): Promise<Approval> {
  const open = () => world.home.json<Approval[]>(["approvals"]);
  return eventually(async () => (await open()).find(({ text }) => text.includes(about)), PATIENCE_MS, 100);
}

function approval(world: RealWorld, { id }: Approval): Promise<Approval> {
  return world.home.json<Approval>(["approvals", "show", id]);
}

function status(world: RealWorld, name: string, wanted: Session["status"]): Promise<Session> {
  return eventually(
    async () => {
      const session = await world.home.session(name);
      return session.status === wanted && session;
    },
    PATIENCE_MS,
    100,
  );
}

/** The tool results that the model got. */
async function results(world: RealWorld): Promise<string> {
  return JSON.stringify((await world.model.asked()).flatMap(({ results }) => results));
}

describe.each(PARKED)("%s", (agent) => {
  test("a command allowed from the inbox runs, and the agent continues (BG-17 agents, NEW-04 agents)", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, agent);
    expect(asked).toMatchObject({ agent, name: agent, for: "approval", status: "open", directory: path.dirname(made) });
    expect(asked.text).toContain("touch made.txt");
    expect((await status(world, agent, "waiting")).attention).toMatchObject({ for: "approval", text: asked.text });
    expect(existsSync(made)).toBe(false);
    await world.home.ok(["approvals", "allow", agent]);
    await eventually(() => existsSync(made), PATIENCE_MS);
    await status(world, agent, "idle");
    expect(await approval(world, asked)).toMatchObject({ status: "allowed", answeredBy: expect.stringMatching(/^user:/) });
    expect(await world.home.json(["approvals"])).toEqual([]);
  });

  test("a denied command does not run, and the model reads the reason", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, agent);
    await world.home.ok(["approvals", "deny", asked.id, "--reason", "not while the build runs"]);
    await eventually(async () => (await results(world)).includes("not while the build runs"), PATIENCE_MS, 100);
    await status(world, agent, "idle");
    expect(existsSync(made)).toBe(false);
    expect(await world.home.ok(["audit"])).toMatch(/denied \w+: .*touch made\.txt.* \(not while the build runs\)/);
  });

  test("a daemon killed during an open approval changes nothing", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, agent);
    await world.home.killDaemon();
    expect(await waiting(world)).toMatchObject({ id: asked.id, status: "open" });
    expect((await world.home.session(agent)).status).toBe("waiting");
    await world.home.ok(["approvals", "allow", asked.id]);
    await eventually(() => existsSync(made), PATIENCE_MS);
    await status(world, agent, "idle");
  });
});

test.each(["claude", "opencode"] as const)("a question of %s is answered from the inbox", async (agent) => {
  await using world = await RealWorld.open();
  await world.spawn(agent);
  await world.shows(agent, IDLE[agent]);
  await world.prompt(agent, "ask Which colour is it? | Red | Blue");
  const asked = await waiting(world);
  expect(asked).toMatchObject({ for: "question", text: expect.stringContaining("Which colour is it?") });
  const allowed = await world.home.cli(["approvals", "allow", asked.id]);
  expect(allowed).toMatchObject({ code: 27, stderr: expect.stringContaining("is a question") });
  await world.home.ok(["approvals", "answer", asked.id, "Blue"]);
  await eventually(async () => (await results(world)).includes("Blue"), PATIENCE_MS, 100);
  await status(world, agent, "idle");
});

test.each([
  ["claude", "--permission-mode"],
  ["qwen", "--approval-mode"],
] as const)(
  "a plan of %s is shown in the inbox, and an answer that its hook does not take is given by keys (truth 1)",
  async (agent, mode) => {
    await using world = await RealWorld.open();
    await world.spawn(agent, agent, ["--", mode, "plan"]);
    await world.shows(agent, IDLE[agent]);
    await world.home.ok(["send", agent, "say hello", "--wait"]);
    const plan = "# The plan\n\n1. Paint the shed green\n";
    // Claude tells its model where to write the plan.
    const file = /[^"\\ `]*\/plans\/[\w-]+\.md/.exec(JSON.stringify(await world.model.bodies()))?.[0];
    const steps = {
      claude: `tool Write ${JSON.stringify({ file_path: file, content: plan })}; tool ExitPlanMode {}`,
      qwen: `tool exit_plan_mode ${JSON.stringify({ plan })}`,
    };
    await world.home.ok(["send", agent, `${steps[agent]}; say the end`]);
    const asked = await waiting(world);
    expect(asked).toMatchObject({ channel: "hook", text: expect.stringContaining("Paint the shed green"), input: { plan } });
    const refused = await world.home.cli(["approvals", "allow", agent]);
    expect(refused).toMatchObject({ code: 27, stderr: expect.stringContaining("did not accept the answer") });
    expect(await waiting(world)).toMatchObject({ id: asked.id, channel: "screen", answers: ["allow", "deny"] });
    expect((await world.home.session(agent)).status).toBe("waiting");
    await world.home.ok(["approvals", "allow", agent]);
    await status(world, agent, "idle");
    expect(await approval(world, asked)).toMatchObject({ status: "allowed" });
    expect((await world.model.asked()).some(({ results }) => results.some((result) => /approved/i.test(result)))).toBe(true);
  },
);

describe("gemini", () => {
  test("its own dialog is in the inbox, and allowed from there by its keys", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, "gemini");
    expect(asked).toMatchObject({ channel: "screen", input: { screen: expect.stringContaining("touch made.txt") } });
    expect(existsSync(made)).toBe(false);
    await world.home.ok(["approvals", "allow", "gemini"]);
    await eventually(() => existsSync(made), PATIENCE_MS);
    await status(world, "gemini", "idle");
    expect(await approval(world, asked)).toMatchObject({ status: "allowed" });
  });

  test("a command denied by its keys does not run", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, "gemini");
    await world.home.ok(["approvals", "deny", asked.id]);
    await status(world, "gemini", "idle");
    expect(existsSync(made)).toBe(false);
  });
});

test.each([
  ["gemini", "write_file", []],
  // With the user's own settings it has none of Holdfast's hooks.
  ["claude", "Write", ["--", "--settings", "{}"]],
] as const)("an edit that %s asks for on its screen is shown completely in the inbox, and answered by keys", async (agent, tool, args) => {
  await using world = await RealWorld.open();
  const { cwd } = await world.spawn(agent, agent, [...args]);
  await world.shows(agent, IDLE[agent]);
  const write = (name: string, lines: number) => {
    const content = Array.from({ length: lines }, (_, i) => `line ${i} of ${name}`).join("\n");
    return `tool ${tool} ${JSON.stringify({ file_path: path.join(cwd, name), content })}; say the end`;
  };
  await world.home.ok(["send", agent, write("short.txt", 3)]);
  const asked = await waiting(world, "short.txt");
  expect(asked).toMatchObject({ channel: "screen", answers: ["allow", "deny"] });
  expect(JSON.stringify(asked.input)).toContain("line 2 of short.txt");
  await world.home.ok(["approvals", "allow", asked.id]);
  await eventually(() => existsSync(path.join(cwd, "short.txt")), PATIENCE_MS);
  await status(world, agent, "idle");
  // A request that does not fit on the screen was not fully seen.
  await world.home.ok(["send", agent, write("long.txt", 100)]);
  await eventually(
    async () => {
      const long = await waiting(world);
      expect(long).toMatchObject({ channel: "screen", answers: [] });
      const { code, stderr } = await world.home.cli(["approvals", "allow", long.id]);
      expect(code).not.toBe(0);
      return code === 27 && stderr.includes("asks for more than its screen shows");
    },
    PATIENCE_MS,
    100,
  );
  expect(existsSync(path.join(cwd, "long.txt"))).toBe(false);
});

describe("qwen", () => {
  test("after a minute it asks on its own screen, nothing has run, and the inbox answers there", async () => {
    await using world = await RealWorld.open();
    const { made, approval: asked } = await asking(world, "qwen");
    await world.shows("qwen", /› 1\. Yes, allow once/);
    expect(existsSync(made)).toBe(false);
    expect(await approval(world, asked)).toMatchObject({ status: "timed_out" });
    const again = await waiting(world);
    expect(again).toMatchObject({ channel: "screen", input: { screen: expect.stringContaining("touch made.txt") } });
    await world.home.ok(["approvals", "allow", again.id]);
    await eventually(() => existsSync(made), PATIENCE_MS);
    await status(world, "qwen", "idle");
  });
});

test.each([
  ["claude", /❯ 1\. Yes/],
  ["opencode", /Allow once +Allow always/],
] as const)("the first answer on the screen of %s counts, and the inbox follows", async (agent, dialog) => {
  await using world = await RealWorld.open();
  const { made, approval: asked } = await asking(world, agent);
  await world.shows(agent, dialog);
  // Claude ignores keys right after its dialog appears.
  await eventually(
    async () => {
      await world.home.ok(["keys", agent, "Enter"]);
      return existsSync(made);
    },
    PATIENCE_MS,
    1000,
  );
  await eventually(async () => (await approval(world, asked)).status === "elsewhere", PATIENCE_MS, 100);
  const refused = await world.home.cli(["approvals", "deny", asked.id]);
  expect(refused).toMatchObject({ code: 27, stderr: expect.stringContaining("own screen") });
});

test.each(["claude", "codex", "qwen"] as const)("Esc on the screen of %s withdraws its request", async (agent) => {
  await using world = await RealWorld.open();
  const { made, approval: asked } = await asking(world, agent);
  if (agent === "claude") await world.shows(agent, /❯ 1\. Yes/);
  // Claude ignores keys right after its dialog appears.
  await eventually(
    async () => {
      await world.home.ok(["keys", agent, "Escape"]);
      return (await approval(world, asked)).status === "withdrawn";
    },
    PATIENCE_MS,
    1000,
  );
  await status(world, agent, "idle");
  expect(existsSync(made)).toBe(false);
  expect(await world.home.json(["approvals"])).toEqual([]);
});
