/** Personas as people use them: files in a project, and the command's output about them. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
    "agent description disallowedTools file instructions model name permissionMode shadowedBy source tools toolsEnforcedIn".split(" "),
  );
  expect(problems).toEqual([
    { file: bad, line: 2, what: "description is missing", expected: expect.stringContaining("description:"), usable: false },
  ]);

  const lines = (await home.ok(["personas"], options)).split("\n");
  expect(lines[0]).toMatch(/^NAME +AGENT +MODEL +FROM +DESCRIPTION$/);
  expect(lines[1]).toMatch(/^Test Writer +claude +haiku +~\/\.claude +Use it: often$/);
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
  for (const words of [
    "agent  demo",
    "tools  Read, Grep\n       demo does not enforce this",
    "model  the agent's default",
    "You review.\nBe kind.",
  ])
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
  expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining("the persona anybody does not name an agent")]);
  expect((await home.cli(["spawn", "--persona", "nobody", "--chat"], options)).code).toBe(3);
  const log = path.join(home.root, "prompts");
  await home.ok(["spawn", "demo", "--persona", "anybody", "--prompt", "say hello", "--no-context", "--", "--log", log], options);
  const prompt = await eventually(() => existsSync(log) && readFileSync(log, "utf8"));
  expect(JSON.parse(prompt)).toMatchObject({
    prompt: "say hello\n\n[Your role in this conversation, from now on:]\nYou are anybody.",
  });
});

test("an agent that does not enforce the tools of its role is reported at the start and by show (TURN-11 conversations)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  put(path.join(repository.path, ".holdfast/personas"), "reviewer.md", REVIEWER);
  const note = "demo does not enforce the tools of its role (only Read, Grep); approvals decide what it may do";
  for (const [name, kind] of Object.entries({ chat: ["--chat"], screen: [] })) {
    const args = ["spawn", "--persona", "reviewer", "--name", name, ...kind];
    expect((await home.cli(args, { cwd: repository.path })).stderr).toContain(`note: ${note}`);
    expect(await home.json<Session>(["show", name])).toMatchObject({
      tools: { allowed: ["Read", "Grep"], denied: [], enforced: false },
    });
    expect(await home.ok(["show", name])).toMatch(/tools +only Read, Grep\n +demo does not enforce this; approvals decide what it may do/);
  }
  const { stderr } = await home.cli(["chat", "--persona", "reviewer", "-p", "say hello"], { cwd: repository.path });
  expect(stderr).toContain(note);
  put(repository.path, "TASKS.md", "- [ ] say hello <!-- agent: reviewer -->\n");
  expect((await home.cli(["task", "run", "TASKS.md"], { cwd: repository.path })).stderr).toContain(`note: ${note}`);
  put(repository.path, "fleet.toml", '[sessions.planned]\npersona = "reviewer"\nchat = true\n');
  expect((await home.cli(["apply", "fleet.toml"], { cwd: repository.path })).stderr).toContain(`note: planned: ${note}`);
});

test("a fork keeps the tools of its original's role", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  put(path.join(repository.path, ".holdfast/personas"), "r.md", REVIEWER.replace("tools:", "disallowedTools: Bash\ntools:"));
  await home.ok(["spawn", "--persona", "reviewer", "--name", "one", "--prompt", "say tides", "--", "--fast"], { cwd: repository.path });
  await home.until("one", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["fork", "one", "--name", "two"]);
  expect(await home.json<Session>(["show", "two"])).toMatchObject({ tools: { allowed: ["Read", "Grep"], denied: ["Bash"] } });
});

/** The machine may have Claude Code. */
function withoutClaude(folders = ""): string[] {
  return folders
    .split(path.delimiter)
    .filter((folder) => !["claude", "claude-agent-acp"].some((name) => existsSync(path.join(folder, name))));
}

test("an agent file of Claude Code starts Claude Code with its model, mode and tools (TURN-11 conversations)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const fields = "name: reviewer\ndescription: Use it: often\ntools: Read\nmodel: haiku\npermissionMode: plan\ncolor: red";
  put(path.join(repository.path, ".claude/agents"), "r.md", `---\n${fields}\n---\nYou.`);
  const [bin, log] = [path.join(home.root, "bin"), path.join(home.root, "words")];
  const options = { cwd: repository.path, env: { PATH: [bin, ...withoutClaude(home.env.PATH)].join(path.delimiter) } };

  const word = await home.cli(["spawn", "--persona", "reviewer", "hello"], options);
  expect([word.code, word.stderr]).toEqual([
    7,
    expect.stringContaining("to pass it as the prompt: holdfast spawn --persona reviewer -p hello"),
  ]);
  const missing = await home.cli(["spawn", "--persona", "reviewer"], options);
  expect([missing.code, missing.stderr]).toEqual([7, expect.stringContaining("Claude Code is not installed")]);
  expect(missing.stderr).toContain("install it: npm install -g @anthropic-ai/claude-code; or choose another agent: --agent NAME");
  const unadapted = await home.cli(["spawn", "--chat", "--persona", "reviewer"], options);
  expect(unadapted.stderr).toContain("&& npm install -g @agentclientprotocol/claude-agent-acp");

  put(bin, "claude", `#!/bin/sh\nprintf '%s\\n' "$@" > ${log}.part; mv ${log}.part ${log}; exec sleep 1000\n`);
  chmodSync(path.join(bin, "claude"), 0o755);
  expect((await home.cli(["spawn", "--persona", "reviewer", "--name", "r"], options)).stderr).not.toContain("note:");
  const words = (await eventually(() => existsSync(log) && readFileSync(log, "utf8"))).split("\n");
  const after = (flag: string) => words[words.indexOf(flag) + 1] ?? "";
  expect([after("--model"), after("--permission-mode"), after("--agent")]).toEqual(["haiku", "plan", "holdfast-role"]);
  expect(JSON.parse(after("--agents"))).toMatchObject({ "holdfast-role": { tools: ["Read"] } });
  expect(await home.json<Session>(["show", "r"])).toMatchObject({ agent: "claude", role: "reviewer", tools: { enforced: true } });

  const other = await home.json<Session>(["spawn", "demo", "--persona", "reviewer"], options);
  expect(other.command.join(" ")).not.toMatch(/haiku|plan/);
});
