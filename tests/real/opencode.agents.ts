import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Approval } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually } from "../home.ts";
import { IDLE } from "./agents.ts";
import { RealWorld } from "./world.ts";

/** The longest wait for a real agent on a busy machine. */
const PATIENCE_MS = 100_000;

/** The agent starts twice, or gets three prompts. */
const SLOW = { timeout: 300_000 };

test("a path rule decides what opencode may edit, with a pattern from the directory; other edits need approval", SLOW, async () => {
  await using world = await RealWorld.open();
  const directory = path.join(world.home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  const rules = [
    '[[approvals.rules]]\nname = "notes"\nagent = "opencode"\ntool = "edit"\npattern = "notes/.*"\ndecision = "allow"\n',
    '[[approvals.rules]]\ntool = "edit"\npattern = "\\\\.env$"\ndecision = "deny"\nreason = "secrets are for people"\n',
  ];
  writeFileSync(path.join(directory, "config.toml"), rules.join(""));
  await world.restart();
  const { cwd } = await world.spawn("opencode");
  await world.shows("opencode", IDLE.opencode);
  const write = (file: string) => `tool write ${JSON.stringify({ filePath: path.join(cwd, file), content: "x" })}`;
  await world.home.ok(["send", "opencode", `${write("notes/a.md")}; ${write(".env")}; ${write("src/a.ts")}; say the end`]);
  const [asked] = await eventually(
    async () => {
      const waiting = await world.home.json<Approval[]>(["approvals"]);
      return waiting.length > 0 && waiting;
    },
    PATIENCE_MS,
    100,
  );
  expect(asked).toMatchObject({ tool: "edit", text: expect.stringMatching(/^edit: .*\/src\/a\.ts · diff: /) });
  expect(existsSync(path.join(cwd, "notes/a.md"))).toBe(true);
  expect(existsSync(path.join(cwd, ".env"))).toBe(false);
  expect(await world.home.ok(["audit"])).toMatch(/rule:notes {2}allowed opencode: edit: .*notes\/a\.md .*\n.*rule:2 {2}denied .*\.env/);
});

test("an opencode started as a tool by another one changes nothing of the session", SLOW, async () => {
  await using world = await RealWorld.open();
  const { cwd } = await world.spawn("opencode");
  await world.shows("opencode", IDLE.opencode);
  const { command } = await world.agent("opencode");
  await world.prompt("opencode", `tool shell ${command[0]} run say inner > inner.txt; wait 1s; say outer`);
  const [asked] = await eventually(
    async () => {
      const waiting = await world.home.json<Approval[]>(["approvals"]);
      return waiting.length > 0 && waiting;
    },
    PATIENCE_MS,
    100,
  );
  const { conversation } = await world.home.session("opencode");
  await world.home.ok(["approvals", "allow", asked?.id ?? ""]);
  await world.shows("opencode", "outer");
  await eventually(async () => (await world.home.session("opencode")).status === "idle", PATIENCE_MS, 100);
  expect(existsSync(path.join(cwd, "inner.txt"))).toBe(true);
  const changes = (await world.home.ok(["events", "--type", "session.conversation_changed"])).trim().split("\n");
  expect(changes).toHaveLength(1);
  expect(await world.home.session("opencode")).toMatchObject({ conversation, turns: 1 });
});
