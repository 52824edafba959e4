import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AgentInfo, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

const NAMES = ["claude", "codex", "gemini", "qwen", "opencode", "q", "aider", "model", "demo", "shell"];

test("agents are listed with their state on the caller's PATH", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "qwen"), '#!/bin/sh\n[ "$1" = --version ] && echo "Qwen Code 9.8.7 (x)"\n', { mode: 0o755 });
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const agents = JSON.parse(await home.ok(["agents", "--json"], { env })) as AgentInfo[];
  expect(agents.map(({ name }) => name)).toEqual(NAMES);
  expect(agents.find(({ name }) => name === "qwen")).toMatchObject({
    path: path.join(bin, "qwen"),
    version: "9.8.7",
    tested: true,
    takesPrompt: true,
    structured: path.join(bin, "qwen"),
  });
  expect(agents.find(({ name }) => name === "q")).toMatchObject({ path: null, version: null, tested: false });
  const text = await home.ok(["agents"], { env });
  expect(text).toMatch(/^qwen +9\.8\.7 +Qwen Code +\/.*\/bin\/qwen$/m);
  expect(text).toMatch(/^aider +– +aider \(untested\) +not found$/m);
  expect((await home.ok(["__complete", "spawn", "op"])).trim()).toBe("opencode");
});

test("an npm-installed agent reports its version without being started; a slow one is reported once it has answered", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  const folder = path.join(home.root, "lib", "codex");
  mkdirSync(bin);
  mkdirSync(path.join(folder, "bin"), { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "codex", version: "1.2.3", bin: { codex: "./bin/codex.js" } }));
  writeFileSync(path.join(folder, "bin", "codex.js"), "#!/bin/sh\ntouch started\n", { mode: 0o755 });
  symlinkSync(path.join(folder, "bin", "codex.js"), path.join(bin, "codex"));
  // Another program in that directory does not belong to the package.
  writeFileSync(path.join(folder, "bin", "gemini"), "#!/bin/sh\necho 7.7.7\n", { mode: 0o755 });
  symlinkSync(path.join(folder, "bin", "gemini"), path.join(bin, "gemini"));
  writeFileSync(path.join(bin, "qwen"), '#!/bin/sh\nuntil [ -e "$HOME/go" ]; do sleep 0.1; done; echo 9.8.7\n', { mode: 0o755 });
  const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
  await home.ok(["up"]);
  using terminal = new Terminal({ env });
  await terminal.command(`${HOLDFAST} agents`);
  await terminal.shows("asking qwen for its version …");
  const shown = await terminal.shows(/qwen +no answer yet/);
  expect(shown).toMatch(/codex +1\.2\.3/);
  expect(shown).toMatch(/gemini +7\.7\.7/);
  writeFileSync(path.join(home.env.HOME ?? "", "go"), "");
  await eventually(async () => /^qwen +9\.8\.7/m.test(await home.ok(["agents"], { env })));
});

test("a user's own agent is one table in config.toml, and starts with its first prompt (CAVE-05 agents)", async () => {
  await using home = new TestHome();
  const configuration = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(configuration, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), `[agents.echoer]\ncommand = ["printf", "%s|"]\nprompt = ["-i", "{prompt}"]\n`);
  const prompt = "two words\nand a 'second' line";
  const session = await home.json<Session>(["spawn", "echoer", "--prompt", "-", "--name", "mine"], { input: `${prompt}\n` });
  expect(session).toMatchObject({ agent: "echoer", kind: "terminal", objective: "two words" });
  await home.ended("mine");
  expect(await home.ok(["logs", "--raw", "mine"])).toBe(`-i|${prompt.replace("\n", "\r\n")}|`);
  expect(await home.ok(["agents"])).toMatch(/^echoer .*\(yours\)/m);
});

test("the demo agent starts with its first prompt; a shell refuses any prompt, and an empty prompt is refused", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--prompt", "fix the bug", "--name", "demo", "--", "--fast"]);
  await home.ok(["wait", "demo", "--for", "output=fix the bug", "--timeout", "60s"]);
  const refused = await home.cli(["spawn", "shell", "--prompt", "hello"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("holdfast send")]);
  expect((await home.cli(["spawn", "demo", "--prompt", ""])).code).toBe(2);
  const unknown = await home.cli(["spawn", "clod"]);
  expect(unknown.stderr).toContain("holdfast agents");
});

test("a first prompt longer than one program argument is refused before anything starts", async () => {
  await using home = new TestHome();
  const spawn = (input: string) => home.cli(["spawn", "demo", "--prompt", "-", "--", "--fast"], { input });
  expect(await spawn("漢".repeat(40_000))).toMatchObject({ code: 0 });
  const refused = { code: 2, stderr: expect.stringContaining("a first prompt has at most 120,000 bytes") };
  expect(await spawn("漢".repeat(41_000))).toMatchObject(refused);
  expect(await spawn("x".repeat(121_000))).toMatchObject(refused);
  expect(await spawn(" \n ")).toMatchObject({ code: 2, stderr: expect.stringContaining("the first prompt is empty") });
  const [session, ...more] = await home.json<Session[]>(["ls"]);
  expect(more).toEqual([]);
  expect(await home.until(session?.id ?? "", ({ turns }) => (turns ?? 0) > 0)).toMatchObject({ agent: "demo" });
});
