import type { Persona, SpawnRequest } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type ChoiceWords, inRole } from "./in-role.ts";
import type { Personas } from "./personas.ts";

const PERSONA: Persona = {
  name: "reviewer",
  description: "reads",
  agent: "claude",
  model: "opus",
  tools: null,
  disallowedTools: [],
  toolsEnforcedIn: [],
  permissionMode: null,
  instructions: "You review.",
  source: "project",
  file: "/p/r.md",
  shadowedBy: null,
};
const REQUEST = { agent: "", args: [], cwd: "/p", env: { HOME: "/home/me" }, chat: true, persona: "reviewer" } as unknown as SpawnRequest;

const choiceWords: ChoiceWords = (agent, { args, ...choice }) => [agent, ...Object.values(choice), ...args.map((word) => `not ${word}`)];

function applied(persona: Partial<Persona>, request: Partial<SpawnRequest> = {}): Promise<SpawnRequest> {
  const find = async (name: string, where: unknown) => {
    expect([name, where]).toEqual(["reviewer", { cwd: "/p", home: "/home/me" }]);
    return { ...PERSONA, ...persona };
  };
  return inRole({ find } as unknown as Personas, { ...REQUEST, ...request }, choiceWords);
}

test("a persona fills in what the request omits", async () => {
  expect(await applied({})).toMatchObject({ agent: "claude", model: "opus", role: "reviewer", instructions: "You review." });
  const own = { agent: "codex", model: "small", role: "mine", instructions: "Be me." };
  expect(await applied({}, own)).toMatchObject(own);
});

test("a persona's model and mode are only for the persona's agent", async () => {
  const persona = { permissionMode: "plan" };
  const codex = await applied(persona, { agent: "codex" });
  for (const field of ["model", "mode"]) expect(codex).not.toHaveProperty(field);
  expect(await applied({ ...persona, agent: null }, { agent: "codex" })).toMatchObject({ model: "opus", mode: "plan" });
});

test("on a terminal the model and the mode are arguments of the agent, and empty instructions are omitted", async () => {
  const started = await applied({ instructions: "", permissionMode: "plan" }, { chat: false, args: ["-v"] });
  expect(started.args).toEqual(["claude", "opus", "plan", "not -v", "-v"]);
  for (const field of ["model", "mode", "instructions"]) expect(started).not.toHaveProperty(field);
});

test("the tools apply to every agent, on a terminal too", async () => {
  for (const chat of [true, false]) {
    const started = await applied({ tools: ["Read"], disallowedTools: ["Bash"] }, { chat, agent: "codex" });
    expect(started).toMatchObject({ tools: ["Read"], disallowedTools: ["Bash"] });
  }
  const own = { tools: ["Grep"], disallowedTools: ["Write"] };
  expect(await applied({ tools: ["Read"], disallowedTools: ["Bash"] }, own)).toMatchObject(own);
});

test("the instructions name the tools", async () => {
  expect((await applied({ tools: ["Read", "Grep"] })).instructions).toBe("You review.\n\nUse only these tools: Read, Grep.");
  expect((await applied({ disallowedTools: ["Bash"] })).instructions).toBe("You review.\n\nDo not use these tools: Bash.");
  expect((await applied({ tools: [] })).instructions).toBe("You review.\n\nUse only these tools: none.");
});

test("a persona for any agent needs an agent in the request", async () => {
  await expect(applied({ agent: null })).rejects.toMatchObject({
    code: "usage",
    message: expect.stringContaining("does not name an agent"),
  });
  expect((await applied({ agent: null }, { agent: "demo" })).agent).toBe("demo");
});

test("a request without a persona stays unchanged", async () => {
  const request = { ...REQUEST, persona: undefined };
  expect(await inRole({} as Personas, request, choiceWords)).toBe(request);
});
