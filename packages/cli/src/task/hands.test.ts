import type { HoldfastClient } from "@holdfast/sdk/client";
import { expect, test } from "vitest";
import { checkHands, findHands, type Hands, handsFor } from "./hands.ts";
import { parseTaskFile } from "./parse.ts";

const items = (text: string) => parseTaskFile("tasks.md", text);
const hands = (more: Partial<Hands> = {}): Hands => ({
  agents: ["demo", "claude"],
  personas: new Map([
    ["reviewer", "claude"],
    ["anybody", null],
    ["lost", "codex"],
    ["demo", "claude"],
  ]),
  usual: undefined,
  ...more,
});
const who = (text: string, more: Partial<Hands> = {}) => items(text).map((item) => handsFor(item, hands(more)));
const faults = (text: string, more: Partial<Hands> = {}): string => {
  try {
    checkHands("tasks.md", items(text), hands(more));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

function client(
  agents: { name: string; structured: string | null }[],
  personas: { name: string; agent: string | null; source?: string; shadowedBy: string | null }[] = [],
) {
  const call = async (name: string) => (name === "listAgents" ? { agents } : { personas, problems: [] });
  return { call } as unknown as HoldfastClient;
}

test("an item is done by its agent, by its persona and that persona's agent, or by the default", () => {
  const text = "- [ ] a <!-- agent: demo -->\n- [ ] b <!-- agent: reviewer -->\n- [ ] c <!-- agent: anybody -->\n- [ ] d\n";
  expect(who(text, { usual: "claude" })).toEqual([
    { agent: "demo" },
    { agent: "claude", persona: "reviewer" },
    { agent: "claude", persona: "anybody" },
    { agent: "claude" },
  ]);
  expect(who("- [ ] a\n", { usual: "reviewer" })).toEqual([{ agent: "claude", persona: "reviewer" }]);
});

test("every item without a usable agent is reported with its line before anything starts", () => {
  expect(faults("- [ ] a\n- [ ] b <!-- agent: clawed -->\n")).toBe(
    "tasks.md:1: the item has no agent; expected <!-- agent: NAME -->, or --agent NAME\n" +
      "tasks.md:2: clawed is not an agent that supports conversations here; expected one of demo, claude, reviewer, anybody, lost, demo",
  );
  expect(faults("- [ ] a <!-- agent: anybody -->\n")).toBe(
    "tasks.md:1: the persona anybody does not name an agent; expected agent: in its file, or --agent NAME",
  );
  expect(faults("- [ ] a\n", { usual: "anybody" })).toContain("does not name an agent");
  expect(faults("- [ ] a <!-- agent: lost -->\n")).toContain("tasks.md:1: codex, of the persona lost, is not an agent");
  expect(faults("- [ ] a\n", { usual: "demo" })).toBe("");
});

test("the default is --agent, else the only installed agent besides the built-in ones", async () => {
  const one = [
    { name: "demo", structured: "/d" },
    { name: "model", structured: "/m" },
    { name: "claude", structured: "/c" },
    { name: "codex", structured: null },
  ];
  const found = await findHands(
    client(one, [
      { name: "r", agent: null, shadowedBy: null },
      { name: "r", agent: "x", shadowedBy: "/f" },
    ]),
    {
      cwd: "/",
      agent: undefined,
    },
  );
  expect([found.usual, found.agents, [...found.personas]]).toEqual(["claude", ["demo", "model", "claude"], [["r", null]]]);
  expect((await findHands(client(one), { cwd: "/", agent: "demo" })).usual).toBe("demo");
  expect((await findHands(client([...one, { name: "qwen", structured: "/q" }]), { cwd: "/", agent: undefined })).usual).toBeUndefined();
});

test.each([
  ["/c", "claude"],
  [null, null],
])("with the adapter %s an agent file of Claude Code is for the agent %s", async (structured, agent) => {
  const personas = [{ name: "r", agent: "claude", source: "claude_project", shadowedBy: null }];
  const found = await findHands(client([{ name: "claude", structured }], personas), { cwd: "/", agent: "demo" });
  expect([...found.personas]).toEqual([["r", agent]]);
});
