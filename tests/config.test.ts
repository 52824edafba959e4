import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import type { ConfigurationProblem, ConfiguredValue } from "@holdfast/contract/configuration/configured";
import { expect, test } from "vitest";
import { TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

function own(home: TestHome) {
  const file = path.join(home.root, "own/holdfast/config.toml");
  return { file, options: { env: { XDG_CONFIG_HOME: path.join(home.root, "own") } }, read: () => readFileSync(file, "utf8") };
}

function put(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test("config show names every value and its source, and needs no daemon", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { file, options } = own(home);
  put(file, 'keep_awake = true\n\n[prune]\nage = "7d"\n\n[agents.mine]\ncommand = ["x"]\n');
  const project = path.join(repository.path, ".holdfast/config.toml");
  put(project, "[workspace]\nports = 20\n");
  const values = await home.json<ConfiguredValue[]>(["config", "show"], { ...options, cwd: repository.path });
  const of = (key: string) => values.find((each) => each.key === key);
  expect(of("prune.age")).toEqual({ key: "prune.age", value: "7d", source: "user", file, line: 4 });
  expect(of("prune.size")).toEqual({ key: "prune.size", value: "10G", source: "default", file: null, line: null });
  expect(of("agents.mine.command")).toEqual({ key: "agents.mine.command", value: ["x"], source: "user", file, line: 7 });
  expect(of("workspace.ports")).toEqual({ key: "workspace.ports", value: 20, source: "project", file: project, line: 2 });
  expect(of("budget.turns")).toMatchObject({ value: null, source: "default" });
  expect(await home.ok(["config"], options)).toMatch(/^prune\.age +"7d" +user, .*config\.toml:4$/m);
  expect(await home.ok(["config", "path"], options)).toBe(`${file}\n`);
  expect(await home.ok(["config", "path", "--project"], { ...options, cwd: repository.path })).toBe(`${project}\n`);
  expect(readdirSync(home.path)).not.toContain("daemon.json");
});

test("config get prints a value or a table, and fails for an unset or unknown key", async () => {
  await using home = new TestHome();
  const { options } = own(home);
  expect(await home.ok(["config", "get", "prune.age"], options)).toBe("30d\n");
  expect(await home.ok(["config", "get", "prune"], options)).toContain('prune.size = "10G"\n');
  expect(await home.cli(["config", "get", "budget.turns"], options)).toMatchObject({ code: 1, stdout: "" });
  expect(await home.cli(["config", "get", "agents.mine.command"], options)).toMatchObject({ code: 1, stdout: "" });
  expect(await home.cli(["config", "get", "prunes.age"], options)).toMatchObject({ code: 2, stderr: expect.stringContaining("prune.age") });
});

test("config set keeps comments, writes a private file, follows a link and validates before it writes", async () => {
  await using home = new TestHome();
  const { file, options, read } = own(home);
  await home.ok(["config", "set", "prune.age", "7d"], options);
  expect(read()).toBe('[prune]\nage = "7d"\n');
  expect([statSync(file).mode & 0o777, statSync(path.dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);

  const elsewhere = path.join(home.root, "dotfiles.toml");
  writeFileSync(elsewhere, '# mine\ndetach_key = "F12" # easier\n\n# old ones\n[prune]\nage = "7d" # a week\n');
  rmSync(file);
  symlinkSync(elsewhere, file);
  await home.ok(["config", "set", "keep_awake", "true"], options);
  await home.ok(["config", "set", "prune.age", "9d"], options);
  await home.ok(["config", "set", "groups.limit", "16"], options);
  await home.ok(["config", "set", "agents.mine.command", '["a", "-b"]'], options);
  await home.ok(["config", "set", "agents.mine.description", "5"], options);
  expect(readFileSync(elsewhere, "utf8")).toBe(
    '# mine\ndetach_key = "F12" # easier\nkeep_awake = true\n\n# old ones\n[prune]\nage = "9d" # a week\n\n[groups]\nlimit = 16\n\n' +
      '[agents.mine]\ncommand = [ "a", "-b" ]\ndescription = "5"\n',
  );
  const before = read();
  for (const [key, value, what] of [
    ["prune.size", "big", 'prune.size "big" is not a size; nothing was written'],
    ["prune.agee", "7d", "prune.agee is not a setting\n  choose from: prune.age"],
    ["workspace.ports", "20", "add --project"],
    ["approvals.rules", "[]", "holdfast config edit"],
  ] as const) {
    const { code, stderr } = await home.cli(["config", "set", key, value], options);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(what) });
  }
  expect(read()).toBe(before);
});

test("config set --project writes the project's file at the top of its repository", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const below = path.join(repository.path, "src");
  mkdirSync(below);
  const { options } = own(home);
  await home.ok(["config", "set", "workspace.ports", "20", "--project"], { ...options, cwd: below });
  expect(readFileSync(path.join(repository.path, ".holdfast/config.toml"), "utf8")).toBe("[workspace]\nports = 20\n");
  expect((await home.cli(["config", "set", "prune.age", "7d", "--project"], { ...options, cwd: below })).stderr).toContain(
    "omit --project",
  );
});

test("config check reports every problem with file, line, key and fix", async () => {
  await using home = new TestHome();
  const { file, options } = own(home);
  expect(await home.ok(["config", "check"], options)).toContain("No problems");
  put(
    file,
    'detach_key = "a"\nrecordng_limit = "1G"\n[prune]\nage = "old"\nsize = 3\n[agents.mine]\ncommand = "x"\n[[agents.mine.screen]]\nline = "x"\nturn = "idle"\n' +
      '[[agents.mine.screen]]\nline = "("\nturn = "wrong"\n[mcp.x]\ncommand = 3\n[prices."my.model"]\ninput = "a"\n[[approvals.rules]]\ntool = "x"\n[[approvals.rules]]\ndecision = "allow"\n[machines.a]\nssh = 3\n',
  );
  const { code, stdout } = await home.cli(["config", "check", "--json"], options);
  const problems = JSON.parse(stdout) as ConfigurationProblem[];
  expect(code).toBe(1);
  expect(problems.map(({ line, key, level }) => [line, key, level])).toEqual([
    [1, "detach_key", "problem"],
    [2, "recordng_limit", "warning"],
    [4, "prune.age", "problem"],
    [5, "prune.size", "problem"],
    [7, "agents.mine.command", "problem"],
    [12, "agents.mine.screen[1].line", "problem"],
    [13, "agents.mine.screen[1].turn", "problem"],
    [15, "mcp.x.command", "problem"],
    [17, 'prices."my.model".input', "problem"],
    [18, "approvals.rules[0]", "problem"],
    [20, "approvals.rules[1]", "problem"],
    [23, "machines.a.ssh", "problem"],
  ]);
  expect(problems.every((each) => each.file === file && each.fix !== "")).toBe(true);
  put(file, "a = 1\nb = ?\n");
  expect(await home.cli(["config", "check"], options)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/config\.toml:2:5: is not valid TOML/),
  });
});

test("config edit replaces the file only with a valid text, and keeps the old one otherwise", async () => {
  await using home = new TestHome();
  const { file, options, read } = own(home);
  const edit = (text: string) => home.cli(["config", "edit"], { env: { ...options.env, EDITOR: `printf '${text}' >`, VISUAL: "" } });
  expect(await edit("keep_awake = true\\n")).toMatchObject({ code: 0, stdout: expect.stringContaining("Saved") });
  expect(read()).toBe("keep_awake = true\n");
  expect(readdirSync(path.dirname(file))).toEqual(["config.toml"]);
  const refused = await edit("keep_awake = 3\\n");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/:1: keep_awake 3 is not true or false[\s\S]*your text is in (.*)\n/);
  expect(read()).toBe("keep_awake = true\n");
  const copy = /your text is in (.*)\n/.exec(refused.stderr)?.[1] ?? "";
  expect(readFileSync(copy, "utf8")).toBe("keep_awake = 3\n");
});

test("a session cannot change the user's configuration, and can change its project's", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { file, options, read } = own(home);
  put(file, "keep_awake = true\n");
  const inside = { cwd: repository.path, env: { ...options.env, HOLDFAST_RUN: "k3v7q2m4xa-1", VISUAL: "", EDITOR: "printf '' >" } };
  for (const words of [["set", "agents.mine.command", '["x"]'], ["set", "approvals.parents", "true"], ["edit"]])
    expect(await home.cli(["config", ...words], inside)).toMatchObject({ stdout: "", stderr: expect.stringContaining("a session cannot") });
  expect(read()).toBe("keep_awake = true\n");
  await home.ok(["config", "set", "workspace.ports", "20", "--project"], inside);
  await home.ok(["config", "set", "prune.age", "7d"], { ...inside, env: { ...inside.env, HOLDFAST_AS: "owner" } });
});

test("parallel changes of different settings are all kept", async () => {
  await using home = new TestHome();
  const { file, options, read } = own(home);
  const names = ["a", "b", "c", "d", "e", "f"];
  put(`${file}.lock`, "");
  // Left by a process that was killed.
  utimesSync(`${file}.lock`, 0, 0);
  await Promise.all(names.map((name) => home.ok(["config", "set", `agents.${name}.command`, '["x"]'], options)));
  expect(names.filter((name) => read().includes(`[agents.${name}]`))).toEqual(names);
  expect(readdirSync(path.dirname(file))).toEqual(["config.toml"]);
});

test("config set writes through a link to a file that does not exist yet, and keeps the mode of one that does", async () => {
  await using home = new TestHome();
  const { file, options } = own(home);
  const elsewhere = path.join(home.root, "dotfiles/holdfast.toml");
  mkdirSync(path.dirname(file), { recursive: true });
  symlinkSync(elsewhere, file);
  await home.ok(["config", "set", "keep_awake", "true"], options);
  chmodSync(elsewhere, 0o666);
  await home.ok(["config", "set", "keep_awake", "false"], options);
  expect(readFileSync(elsewhere, "utf8")).toBe("keep_awake = false\n");
  expect([statSync(elsewhere).mode & 0o777, lstatSync(file).isSymbolicLink()]).toEqual([0o666, true]);
});

test("a project's file is not written through a link out of the project, and a pipe in its place is refused", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { options } = own(home);
  const here = { ...options, cwd: repository.path };
  const outside = path.join(home.root, "outside");
  const link = path.join(repository.path, ".holdfast");
  const refused = { code: expect.any(Number), stdout: "", stderr: expect.stringContaining("is a link out of the project") };
  put(path.join(outside, "config.toml"), "");
  symlinkSync(outside, link);
  expect(await home.cli(["config", "set", "workspace.ports", "20", "--project"], here)).toMatchObject(refused);
  expect(await home.cli(["config", "edit", "--project"], { ...here, env: { ...here.env, VISUAL: "true" } })).toMatchObject(refused);
  rmSync(link);
  mkdirSync(link);
  symlinkSync(path.join(outside, "config.toml"), path.join(link, "config.toml"));
  expect(await home.cli(["config", "set", "workspace.ports", "20", "--project"], here)).toMatchObject(refused);
  expect([readdirSync(outside), readFileSync(path.join(outside, "config.toml"), "utf8")]).toEqual([["config.toml"], ""]);
  rmSync(path.join(link, "config.toml"));
  execFileSync("mkfifo", [path.join(link, "config.toml")]);
  expect((await home.cli(["config", "show"], here)).stderr).toContain("it is not a regular file");
});

test("an editor that removes its copy changes nothing", async () => {
  await using home = new TestHome();
  const { file, options, read } = own(home);
  put(file, "keep_awake = true\n");
  const { code, stderr } = await home.cli(["config", "edit"], { env: { ...options.env, VISUAL: "rm" } });
  expect([code, stderr]).toEqual([2, expect.stringContaining("the editor removed its copy")]);
  expect(read()).toBe("keep_awake = true\n");
});

test("no value leaves its text: quotes, line breaks and control characters are kept and shown harmlessly", async () => {
  await using home = new TestHome();
  const { options, read } = own(home);
  await home.ok(["config", "set", "agents.mine.command", '["x"]'], options);
  for (const value of [
    'a"\n[approvals]\nparents = false',
    "\u001b]0;title\u0007",
    '"""',
    "'''",
    "a\\nb",
    "\u202e",
    "1\nkeep_awake = true",
  ]) {
    await home.ok(["config", "set", "agents.mine.description", value], options);
    const got = await home.json<ConfiguredValue>(["config", "get", "agents.mine.description"], options);
    expect(got.value).toBe(value);
    expect((await home.ok(["config", "get", "agents.mine.description"], options)).trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(read()).not.toMatch(/^(\[approvals\]|keep_awake)/m);
  }
});
