import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Finding } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

async function levels(home: TestHome, ...flags: string[]): Promise<Record<string, string>> {
  const { stdout } = await home.cli(["doctor", "--json", ...flags]);
  return Object.fromEntries((JSON.parse(stdout) as Finding[]).map(({ id, level, fixed }) => [id, fixed ? "fixed" : level]));
}

test("a healthy home has no problem, and doctor names the kind of process that stop cannot find (CAVE-06 hosts)", async () => {
  await using home = new TestHome();
  const { code, stdout } = await home.cli(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toContain("removed HOLDFAST_RUN from its environment");
  expect(await levels(home)).toMatchObject({
    versions: "ok",
    tmux: "ok",
    recorder: "ok",
    permissions: "ok",
    holders: "ok",
    orphans: "ok",
    escapes: "note",
  });
});

test("doctor finds problems with their remedies, and fixes them on request", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  chmodSync(path.join(home.path, "sessions"), 0o755);
  writeFileSync(path.join(home.path, "holders", "aaaaaaaaaa-1.json"), '{"pid":1,"start":"never","program":1,"socket":"x"}');
  const before = await home.cli(["doctor"]);
  expect(before.code).toBe(1);
  expect(before.stdout).toContain("others can read");
  expect(before.stdout).toContain("holdfast doctor --fix");
  expect(await levels(home)).toMatchObject({ permissions: "problem", holders: "note" });
  expect(await levels(home, "--fix")).toMatchObject({ permissions: "fixed", holders: "fixed" });
  expect(statSync(path.join(home.path, "sessions")).mode & 0o777).toBe(0o700);
  expect(await levels(home)).toMatchObject({ permissions: "ok", holders: "ok" });
});

function configure(home: TestHome, text: string): string {
  const file = path.join(home.env.HOME ?? "", ".config", "holdfast", "config.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test("an invalid configuration is reported with its line, and all other checks still run", async () => {
  await using home = new TestHome();
  const file = configure(home, 'detach_key = "F12"\nrecording_limit = "64\n');
  const { code, stdout } = await home.cli(["doctor", "--json"]);
  expect(code).toBe(1);
  const findings = JSON.parse(stdout) as Finding[];
  const wrong = findings.filter(({ id }) => id === "configuration" || id === "daemon");
  expect(wrong).toMatchObject([{ level: "problem" }, { level: "problem" }]);
  for (const { what } of wrong) expect(what).toContain(`${file} is not valid TOML, line 2, column `);
  expect(findings.map(({ id }) => id)).toEqual(expect.arrayContaining(["versions", "tmux", "disk", "login", "permissions"]));
  // Every command that needs a daemon prints the same cause and remedy in two lines.
  const { stderr } = await home.cli(["run", "--", "true"]);
  expect(stderr).toMatch(/^holdfast: the daemon did not start: .*line 2, column .*\n {2}correct it.*\n$/);
  configure(home, 'detach_key = "F12"\n');
  expect(await levels(home)).toMatchObject({ configuration: "ok", orphans: "ok" });
  expect(await levels(home)).not.toHaveProperty("daemon");
});

test("with an invalid configuration, running sessions can be listed, shown and stopped, and nothing else works", async () => {
  await using home = new TestHome();
  configure(home, 'detach_key = "F12"\nrecording_limit = "off"\n[prune]\nage = "off"\n');
  for (const name of ["one", "two"]) await home.ok(["run", "--name", name, "--", "sh", "-c", "echo hello; exec sleep 600"]);
  await home.ok(["wait", "one", "--for", "output=hello"]);
  await home.ok(["down"]);
  const file = configure(home, '[[approvals.rules]]\ntool = "Bash"\n');
  const wrong = `the daemon did not start: ${file}, line 1: approvals rule 1 has no decision: allow, deny or ask`;
  for (const args of [["ls"], ["show", "one"], ["logs", "one"]]) {
    const { code, stdout, stderr } = await home.cli(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `holdfast: ${wrong}; showing the last recorded state\n` });
    expect(stdout).toMatch(/one|hello/);
  }
  expect(await home.cli(["stop", "one"])).toMatchObject({
    code: 0,
    stdout: "one stopped (1 process)\n",
    stderr: expect.stringContaining(wrong),
  });
  // The user's own detach key still applies.
  expect(JSON.parse((await home.cli(["attach", "--json", "two"])).stdout)).toMatchObject({ detachKey: "F12" });
  for (const args of [
    ["run", "--", "true"],
    ["send", "two", "x"],
    ["rename", "two", "three"],
  ])
    expect(await home.cli(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(wrong) });
  await eventually(() => !existsSync(path.join(home.path, "daemon.json")));
  expect(await home.cli(["down", "--all"])).toMatchObject({ code: 0, stdout: expect.stringContaining("1 session stopped") });
  configure(home, "");
  expect(await home.json(["ls", "--all"])).toMatchObject([
    { name: "one", status: "stopped" },
    { name: "two", status: "stopped" },
  ]);
});

test("after the configuration is corrected, the next command replaces the daemon that ran without one", async () => {
  await using home = new TestHome();
  await home.ok(["run", "--name", "it", "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"]);
  await home.ok(["wait", "it", "--for", "output=ready"]);
  await home.ok(["down"]);
  configure(home, "wrong");
  const stopping = home.cli(["stop", "it", "--grace", "1m"]);
  await eventually(() => existsSync(path.join(home.path, "daemon.json")));
  configure(home, "");
  await home.ok(["run", "--name", "more", "--", "true"]);
  await home.ok(["stop", "it", "--grace", "0s"]);
  expect(await home.session("it")).toMatchObject({ status: "stopped" });
  await stopping;
});

test("an unknown key is reported at first use, by up and by doctor, with the most likely key", async () => {
  await using home = new TestHome();
  const file = configure(home, 'recordng_limit = "64M"\n');
  const said = `${file}, line 1: there is no setting recordng_limit; it is ignored; did you mean recording_limit?`;
  expect((await home.cli(["ls"])).stderr).toBe(`holdfast: ${said}\n`);
  expect((await home.cli(["ls"])).stderr).toBe("");
  expect((await home.cli(["up"])).stderr).toContain(`holdfast: ${said}\n`);
  expect(await home.json(["status"])).toMatchObject({ warnings: [said] });
  const findings = await home.json<Finding[]>(["doctor"]);
  expect(findings.filter(({ id }) => id === "configuration")).toMatchObject([{ level: "warning", what: said }]);
  // Doctor reads the current file, not the daemon's copy.
  configure(home, 'recording_limit = "64M"\n');
  expect(await levels(home)).toMatchObject({ configuration: "ok" });
  await home.ok(["down"]);
  expect((await home.cli(["up"])).stderr).not.toContain("there is no setting");
});

/** A program from npm that prints nothing and keeps running. */
function installed(home: TestHome, version: string): string {
  const folder = path.join(home.root, "npm", "node_modules", "codex");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "codex", version, bin: { codex: "codex.js" } }));
  writeFileSync(path.join(folder, "codex.js"), "#!/usr/bin/env node\nsetInterval(() => {}, 1000);\n", { mode: 0o755 });
  symlinkSync(path.join(folder, "codex.js"), path.join(home.root, "npm", "codex"));
  return [path.dirname(process.execPath), path.join(home.root, "npm"), home.env.PATH].join(path.delimiter);
}

test("doctor and explain report an agent newer than its status rules, and how to record it", async () => {
  await using home = new TestHome();
  const PATH = installed(home, "99.1.0");
  const { stdout } = await home.cli(["doctor", "--json"], { env: { PATH } });
  const finding = (JSON.parse(stdout) as Finding[]).find(({ id }) => id === "agents");
  expect(finding).toMatchObject({
    level: "warning",
    what: expect.stringMatching(/^status rules may be outdated, .*codex 99\.1\.0 \(rules: [\d.]+\)/),
  });
  expect(finding?.remedy).toContain("npm run record:agents -- codex --version 99.1.0");
  await home.ok(["spawn", "codex", "--name", "api"], { env: { PATH } });
  await home.until("api", ({ pid }) => pid !== null);
  // The launch script has become the program by then.
  const said = await eventually(async () => /^rules +.*$/m.exec(await home.ok(["explain", "api"]))?.[0]);
  expect(said).toMatch(
    /may be outdated: codex 99\.1\.0 is newer than [\d.]+, the version they were made for; .*npm run record:agents -- codex --version 99\.1\.0$/,
  );
});

test("doctor does not report an agent that is not newer", async () => {
  await using home = new TestHome();
  const { stdout } = await home.cli(["doctor", "--json"], { env: { PATH: installed(home, "0.1.0") } });
  expect((JSON.parse(stdout) as Finding[]).find(({ id }) => id === "agents")).toMatchObject({ level: "ok", remedy: null });
});

test("doctor names each agent's missing parts and the command that fixes them; a hanging agent counts as unresponsive", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  const put = (name: string, body: string) => writeFileSync(path.join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  put("claude", "echo 2.1.3");
  put("codex", "echo 0.9.1");
  put("codex-acp", "");
  put("gemini", "exec sleep 100");
  mkdirSync(path.join(home.env.HOME ?? "", ".codex"), { recursive: true });
  writeFileSync(path.join(home.env.HOME ?? "", ".codex/auth.json"), "{}");
  const options = { env: { PATH: `${bin}:/usr/bin:/bin` } };
  const findings = await home.json<Finding[]>(["doctor"], options);
  const of = (id: string) => findings.find((each) => each.id === id);
  expect(of("agent-claude")).toMatchObject({
    level: "note",
    what: `claude 2.1.3 (${bin}/claude): chat needs its ACP adapter, which is not installed; its files show no login; an API key in the environment works too`,
    remedy: "npm install -g @agentclientprotocol/claude-agent-acp; log in: claude auth login",
  });
  expect(of("agent-codex")).toMatchObject({ level: "ok", what: `codex 0.9.1 (${bin}/codex), ACP adapter installed, logged in` });
  expect(of("agent-gemini")).toMatchObject({ level: "warning", what: expect.stringContaining("did not answer") });
  expect(of("agents-missing")).toMatchObject({ level: "note", remedy: expect.stringContaining("npm install -g @qwen-code/qwen-code") });
  const began = performance.now();
  expect(await home.ok(["agents"], options)).toMatch(/^gemini +no answer yet .*gemini$/m);
  expect(performance.now() - began).toBeLessThan(9_000);
});
