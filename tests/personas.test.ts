/** Personas as people use them: files in a project, and the command's output about them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Message, Persona, PersonaList, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

function put(directory: string, name: string, text: string): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, name), text);
  return path.join(directory, name);
}

const REVIEWER = "---\nname: reviewer\ndescription: reads what others wrote\nagent: demo\ntools: Read, Grep\n---\nYou review.\nBe kind.\n";

test("personas lists those of the project and the user, the unused ones, and errors in others (TURN-11 conversations)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const options = { cwd: repository.path, env: { HOME: home.root, XDG_CONFIG_HOME: "" } };
  expect(await home.ok(["personas"], options)).toContain("No personas. Create .holdfast/personas/reviewer.md");

  const file = put(path.join(repository.path, ".holdfast/personas"), "reviewer.md", REVIEWER);
  const claude = put(
    path.join(home.root, ".claude/agents"),
    "r.md",
    "---\nname: reviewer\ndescription: Use it: often\ncolor: red\n---\nYou.",
  );
  put(path.join(home.root, ".claude/agents"), "w.md", "---\nname: Test Writer\ndescription: Use it: often\nmodel: haiku\n---\nYou write.");
  const bad = put(path.join(repository.path, ".holdfast/personas"), "bad.md", "---\nname: bad\nmodel: x\n---\n");

  const { personas, problems } = await home.json<PersonaList>(["personas"], options);
  expect(personas.map(({ name, source, shadowedBy }) => [name, source, shadowedBy])).toEqual([
    ["Test Writer", "claude_user", null],
    ["reviewer", "project", null],
    ["reviewer", "claude_user", file],
  ]);
  expect(Object.keys(personas[0] ?? {}).sort()).toEqual(
    "agent description file instructions model name shadowedBy source tools".split(" "),
  );
  expect(problems).toEqual([
    { file: bad, line: 2, what: "description is missing", expected: expect.stringContaining("description:"), usable: false },
  ]);

  const lines = (await home.ok(["personas"], options)).split("\n");
  expect(lines[0]).toMatch(/^NAME +AGENT +MODEL +FROM +DESCRIPTION$/);
  expect(lines[1]).toMatch(/^Test Writer +– +haiku +~\/\.claude +Use it: often$/);
  expect(lines[2]).toMatch(/^reviewer +demo +– +project +reads what others wrote$/);
  const text = lines.join("\n");
  expect(text).toContain(`reviewer: ~${claude.slice(home.root.length)}; `);
  expect(text).toContain("bad.md:2 description is missing; expected description:");
});

test("personas show prints one with its instructions, also from a subdirectory, and lists the available ones instead of an unknown one", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  put(path.join(repository.path, ".holdfast/personas"), "reviewer.md", REVIEWER);
  const below = path.join(repository.path, "src");
  mkdirSync(below);
  const options = { cwd: below, env: { HOME: home.root, XDG_CONFIG_HOME: "" } };
  const shown = await home.ok(["personas", "show", "reviewer"], options);
  expect(shown.split("\n").slice(0, 2)).toEqual(["reviewer", "reads what others wrote"]);
  for (const words of ["agent  demo", "tools  Read, Grep", "model  the agent's default", "You review.\nBe kind."])
    expect(shown).toContain(words);
  expect(await home.json<Persona>(["personas", "show", "reviewer"], options)).toMatchObject({ instructions: "You review.\nBe kind." });

  const missing = await home.cli(["personas", "show", "rewiever", "--json"], options);
  expect(missing.code).toBe(3);
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: "persona_not_found", candidates: ["reviewer"] } });
  expect((await home.cli(["personas", "show"], options)).code).toBe(2);
});

test("an agent gets its role with its first message, and the agent and model that the role names (TURN-11 conversations)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  put(path.join(repository.path, ".holdfast/personas"), "r.md", REVIEWER.replace("agent: demo", "agent: demo\nmodel: demo-large"));
  put(path.join(repository.path, ".holdfast/personas"), "any.md", "---\nname: anybody\ndescription: x\n---\nYou are anybody.\n");
  const options = { cwd: repository.path };
  const session = await home.json<Session>(["spawn", "--persona", "reviewer", "--chat", "--name", "talk"], options);
  expect(session).toMatchObject({ agent: "demo", role: "reviewer" });
  expect(await home.ok(["send", "talk", "about; blocks", "--wait"])).toContain("model demo-large");
  const [message] = await home.json<Message[]>(["messages", "talk"]);
  expect(message?.addition).toContain(
    "[Your role in this conversation, from now on:]\nYou review.\nBe kind.\n\nUse only these tools: Read, Grep.",
  );
  await home.ok(["send", "talk", "say once", "--wait"]);
  expect((await home.json<Message[]>(["messages", "talk"])).at(-1)?.addition).toBeNull();

  // A cleared conversation has forgotten the role, and gets it again.
  using client = home.client();
  await client.call("clearConversation", { params: { ref: "talk" }, body: {} });
  await home.until("talk", ({ conversations }) => conversations.length === 2);
  expect((await home.json<Message[]>(["messages", "talk"])).at(-1)?.addition).toBeNull();
  for (const addition of [
    "[Your role in this conversation, from now on:]\nYou review.\nBe kind.\n\nUse only these tools: Read, Grep.",
    null,
  ]) {
    await home.ok(["send", "talk", "say again", "--wait"]);
    expect((await home.json<Message[]>(["messages", "talk"])).at(-1)?.addition).toBe(addition);
  }

  const nobody = await home.cli(["spawn", "--persona", "anybody", "--chat"], options);
  expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining("the persona anybody is for any agent: say which")]);
  expect((await home.cli(["spawn", "--persona", "nobody", "--chat"], options)).code).toBe(3);
  const log = path.join(home.root, "prompts");
  await home.ok(["spawn", "demo", "--persona", "anybody", "--prompt", "say hello", "--no-context", "--", "--log", log], options);
  const prompt = await eventually(() => existsSync(log) && readFileSync(log, "utf8"));
  expect(JSON.parse(prompt)).toMatchObject({
    prompt: "say hello\n\n[Your role in this conversation, from now on:]\nYou are anybody.",
  });
});
