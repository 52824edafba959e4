import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Persona, SpawnRequest } from "@holdfast/contract";
import { expect, test } from "vitest";
import { inRole } from "./in-role.ts";
import type { Personas } from "./personas.ts";

const PERSONA: Persona = {
  name: "reviewer",
  description: "reads",
  agent: "claude",
  model: "opus",
  tools: null,
  instructions: "You review.",
  source: "project",
  file: "/p/r.md",
  shadowedBy: null,
};
const REQUEST = { agent: "", cwd: "/p", env: { HOME: "/home/me" }, chat: true, persona: "reviewer" } as unknown as SpawnRequest;

function applied(persona: Partial<Persona>, request: Partial<SpawnRequest> = {}): Promise<SpawnRequest> {
  const find = async (name: string, where: unknown) => {
    expect([name, where]).toEqual(["reviewer", { cwd: "/p", home: "/home/me" }]);
    return { ...PERSONA, ...persona };
  };
  return inRole({ find } as unknown as Personas, { ...REQUEST, ...request });
}

test("a persona fills in what the request omits", async () => {
  expect(await applied({})).toMatchObject({ agent: "claude", model: "opus", role: "reviewer", instructions: "You review." });
  const own = { agent: "codex", model: "small", role: "mine", instructions: "Be me." };
  expect(await applied({}, own)).toMatchObject(own);
});

test("a persona's model is only for the persona's agent", async () => {
  expect(await applied({}, { agent: "codex" })).not.toHaveProperty("model");
  expect(await applied({ agent: null }, { agent: "codex" })).toMatchObject({ model: "opus" });
});

test("a model is only for conversations, and empty instructions are omitted", async () => {
  const started = await applied({ instructions: "", model: "opus" }, { chat: false });
  expect(started).not.toHaveProperty("model");
  expect(started).not.toHaveProperty("instructions");
});

test("the instructions name the tools", async () => {
  expect((await applied({ tools: ["Read", "Grep"] })).instructions).toBe("You review.\n\nUse only these tools: Read, Grep.");
  expect((await applied({ tools: [] })).instructions).toBe("You review.\n\nUse only these tools: none.");
});

test("a persona for any agent needs an agent in the request", async () => {
  await expect(applied({ agent: null })).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("say which") });
  expect((await applied({ agent: null }, { agent: "demo" })).agent).toBe("demo");
});

test("a request without a persona stays unchanged", async () => {
  const request = { ...REQUEST, persona: undefined };
  expect(await inRole({} as Personas, request)).toBe(request);
});

test("a persona of Claude Code starts Claude Code if it is installed, and otherwise needs an agent", async () => {
  using bin = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const env = { HOME: "/home/me", PATH: bin.path };
  for (const source of ["claude_project", "claude_user"] as const) {
    await expect(applied({ agent: null, source }, { env })).rejects.toMatchObject({ code: "usage" });
  }
  writeFileSync(join(bin.path, "claude"), "", { mode: 0o755 });
  for (const source of ["claude_project", "claude_user"] as const) {
    expect((await applied({ agent: null, source }, { env })).agent).toBe("claude");
    expect((await applied({ agent: null, source }, { env, agent: "demo" })).agent).toBe("demo");
  }
  await expect(applied({ agent: null, source: "project" }, { env })).rejects.toMatchObject({ code: "usage" });
});
