import { chmodSync, existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HoldfastError, type Principal, SpawnRequest } from "@holdfast/contract";
import { type Home, openHome } from "@holdfast/platform";
import { expect, test } from "vitest";
import { Profiles } from "../../agent/profiles/index.ts";
import { checkPlan, planOf } from "./plan.ts";
import { prepare } from "./prepare.ts";
import { readSpec } from "./run-files.ts";

class TestHome implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly root = this.#directory.path;
  readonly home: Home = openHome({ HOLDFAST_HOME: join(this.root, "home") });

  prepare(request: Record<string, unknown>, taken: string[] = []) {
    const whole = SpawnRequest.parse({ agent: "shell", cwd: this.root, env: { PATH: "/usr/bin:/bin" }, command: ["true"], ...request });
    return prepare(whole, {
      home: this.home,
      plan: planOf(whole, { profiles: new Profiles(), programs: "/programs" }),
      host: "tmux",
      parent: null,
      owner: "user:tester" as Principal,
      isTaken: (name) => taken.includes(name),
    });
  }

  [Symbol.dispose](): void {
    this.#directory.remove();
  }
}

test("a request becomes the files of a first run, which only the user can read", () => {
  using t = new TestHome();
  const secret = "a secret of the caller";
  const { id, directory } = t.prepare({
    name: "build",
    command: ["true", "it's"],
    env: { PATH: "/usr/bin", SECRET: secret },
    umask: 0o077,
    role: "builder",
  });
  const session = join(t.home.sessions, id);
  expect(directory).toBe(join(session, "runs", "1"));
  expect(JSON.parse(readFileSync(join(session, "spec.json"), "utf8"))).toMatchObject({
    id,
    name: "build",
    agent: "shell",
    role: "builder",
    objective: null,
    command: ["true", "it's"],
    cwd: t.root,
    umask: 0o077,
  });
  expect(JSON.parse(readFileSync(join(session, "env"), "utf8"))).toEqual({ PATH: "/usr/bin", SECRET: secret });
  for (const file of [join(session, "env"), join(session, "spec.json"), join(directory, "launch")])
    expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const each of [session, directory]) expect(statSync(each).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory).sort()).toEqual(["launch", "token"]);
});

test.each([
  ["agent_unknown", { agent: "nobody" }],
  ["agent_unknown", { agent: "constructor" }],
  ["invalid_name", { name: "" }],
  ["invalid_name", { name: "a/b" }],
  ["invalid_name", { name: "x".repeat(65) }],
  ["name_taken", { name: "taken" }],
  ["cwd_unusable", { cwd: "relative" }],
  ["cwd_unusable", { cwd: "/nowhere/at/all" }],
  ["cwd_unusable", { cwd: "/etc/passwd" }],
  ["cwd_unusable", { cwd: "/etc/passwd/below" }],
  ["cwd_unusable", { cwd: `/${"x".repeat(300)}` }],
  ["cwd_unusable", { cwd: "/nul\0byte" }],
  ["program_not_found", { command: ["no-such-program"] }],
  ["program_not_found", { command: ["/etc/passwd"] }],
  ["program_not_found", { command: ["/etc"] }],
  ["program_not_found", { command: [""] }],
  ["program_not_found", { command: ["true"], env: { PATH: "/nowhere" } }],
  ["usage", { command: ["true", "a\0b"] }],
])("a request refused with %s leaves no file: %j", (code, request) => {
  using t = new TestHome();
  expect(() => t.prepare(request, ["taken"])).toThrow(expect.objectContaining({ code, message: expect.any(String) }));
  expect(existsSync(t.home.sessions) ? readdirSync(t.home.sessions) : []).toEqual([]);
});

test("an unwritable home is reported, and nothing is left half-written", () => {
  using t = new TestHome();
  writeFileSync(t.home.sessions, "not a directory");
  expect(() => t.prepare({})).toThrow(expect.objectContaining<Partial<HoldfastError>>({ code: "home_unusable" }));
});

test("the program is looked up where the run will be: in its PATH and its directory", () => {
  using t = new TestHome();
  mkdirSync(join(t.root, "bin"));
  const program = join(t.root, "bin", "mine");
  writeFileSync(program, "#!/bin/sh\n");
  expect(() => t.prepare({ command: ["mine"], env: { PATH: "bin" } })).toThrow(expect.objectContaining({ code: "program_not_found" }));
  chmodSync(program, 0o755);
  expect(t.prepare({ command: ["mine"], env: { PATH: "bin" } }).attributes.command).toEqual(["mine"]);
  expect(t.prepare({ command: ["bin/mine"] }).attributes.command).toEqual(["bin/mine"]);
  expect(t.prepare({ command: ["./mine"], cwd: join(t.root, "bin") }).attributes.command).toEqual(["./mine"]);
});

test("an agent too old to enforce the tools of a role is refused before anything is written", () => {
  using t = new TestHome();
  const install = (name: string, version: string, owner = name) => {
    const folder = join(t.root, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: owner, version, bin: { [owner]: name } }));
    writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  };
  install("claude", "2.1.280");
  install("claude-agent-acp", "0.82.0");
  const env = { PATH: `${join(t.root, "claude")}:${join(t.root, "claude-agent-acp")}:/usr/bin:/bin` };
  const request = { agent: "claude", command: undefined, env, tools: ["Read"] as string[] | undefined };
  const hint = "update Node to 22 or newer, then run: npm install -g";
  expect(() => t.prepare(request)).toThrow(
    expect.objectContaining({ code: "agent_too_old", hint: `${hint} @anthropic-ai/claude-code@latest` }),
  );
  expect(() => t.prepare({ ...request, chat: true })).toThrow(
    expect.objectContaining({ code: "agent_too_old", hint: `${hint} @agentclientprotocol/claude-agent-acp@latest` }),
  );
  expect(existsSync(t.home.sessions) ? readdirSync(t.home.sessions) : []).toEqual([]);
  const whole = SpawnRequest.parse({ cwd: t.root, ...request });
  const plan = planOf(whole, { profiles: new Profiles(), programs: "/programs" });
  expect(() => checkPlan(plan, whole)).toThrow(expect.objectContaining({ code: "agent_too_old" }));

  const ruleOf = (asked: typeof request & { chat?: boolean; args?: string[]; disallowedTools?: string[] }) =>
    readSpec(t.home, t.prepare(asked).id)?.tools;
  expect(ruleOf({ ...request, tools: undefined, disallowedTools: ["Bash"] })).toMatchObject({ allowed: null });
  expect(ruleOf({ ...request, args: ["--agent", "mine"] })).toMatchObject({ allowed: ["Read"] });
  install("claude", "2.1.281");
  install("claude-agent-acp", "0.83.0");
  expect(ruleOf(request)).toMatchObject({ allowed: ["Read"] });
  expect(ruleOf({ ...request, chat: true })).toMatchObject({ allowed: ["Read"] });
  // A program of another package, which starts the agent.
  install("claude", "1.0.73", "router");
  expect(ruleOf(request)).toMatchObject({ allowed: ["Read"] });
});

test("an agent's own command comes from its profile, with the caller's arguments after it", () => {
  using t = new TestHome();
  const request = { command: undefined, args: ["-x"], env: { PATH: "/usr/bin:/bin", SHELL: "/bin/sh" } };
  expect(t.prepare(request).attributes.command).toEqual(["/bin/sh", "-x"]);
  expect(t.prepare({ ...request, agent: "demo" }).attributes.command).toEqual([process.execPath, "/programs/demo.mjs", "-x"]);
});
