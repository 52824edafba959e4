/** The result of `npm run pack`, installed as a user would: no checkout, no compiler, a clean prefix. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import path from "node:path";
import { MINIMUM_NODE, VERSION } from "@holdfast/contract";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { ROOT, TestHome } from "./home.ts";
import { Installed, packed } from "./installed.ts";
import { oldNode } from "./old-node.ts";

/** A first session must run within this time after the installation. */
const FIRST_SESSION_MS = 10_000;

describe("installed globally", () => {
  let installed: Installed;
  beforeAll(async () => {
    installed = await Installed.of(VERSION);
    return () => installed[Symbol.dispose]();
  });

  test("the first session runs within ten seconds, on either host, without a compiler", async () => {
    for (const compiler of ["cc", "gcc", "c++", "make", "python3", "node-gyp"]) {
      expect(existsSync(path.join(installed.tools, compiler))).toBe(false);
    }
    for (const host of ["tmux", "native"]) {
      await using home = new TestHome();
      const began = performance.now();
      const session = await installed.json(home, ["run", "--host", host, "--", "echo", "hi"]);
      const { stdout } = await installed.cli(home, ["logs", "-f", session.name]);
      expect({ host, stdout }).toEqual({ host, stdout: "hi\n" });
      expect(performance.now() - began).toBeLessThan(FIRST_SESSION_MS);
    }
  });

  test("the demo agent starts, and its daemon runs from the package", async () => {
    await using home = new TestHome();
    const demo = await installed.json(home, ["spawn", "demo", "--name", "demo"]);
    expect(demo).toMatchObject({ name: "demo", agent: "demo" });
    const { code } = await installed.cli(home, ["wait", "demo", "--for", "output=demo agent", "--timeout", "60s"]);
    expect(code).toBe(0);
    const daemon = JSON.parse(readFileSync(path.join(home.path, "daemon.json"), "utf8")) as { pid: number };
    expect(readFileSync(`/proc/${daemon.pid}/cmdline`, "utf8")).toContain(path.join(installed.prefix, "lib/node_modules/holdfast/dist"));
  });

  test("holdfast runs through any link: npm's own, a relative one, one with another name in a directory with spaces", async () => {
    await using home = new TestHome();
    expect(readlinkSync(installed.program)).toMatch(/^\.\./);
    const odd = path.join(installed.root, "a place; with $odd 'names'");
    mkdirSync(odd, { recursive: true });
    symlinkSync(path.relative(odd, installed.program), path.join(odd, "hf"));
    for (const program of [installed.program, path.join(installed.prefix, "bin/hold"), path.join(odd, "hf")]) {
      expect(await installed.cli(home, ["version"], { program })).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
    }
  });

  test("every shell that may be a machine's sh can parse the launcher", () => {
    for (const shell of ["dash", "bash --posix", "busybox sh", "zsh", "ksh"]) {
      const [name = "", ...args] = shell.split(" ");
      if (!onPath(name)) continue;
      execFileSync(name, [...args, "-n", installed.program]);
    }
  });

  test("with a Node that is too old holdfast prints the required version in one line, and HOLDFAST_NODE names a better one", async () => {
    await using home = new TestHome();
    const old = path.join(installed.root, "old");
    const { path: node, version } = oldNode(old);
    const PATH = `${old}:${installed.tools}`;
    const refused = await installed.cli(home, ["run", "--", "echo", "hi"], { env: { PATH } });
    expect(refused).toEqual({
      code: 12,
      stdout: "",
      stderr: expect.stringMatching(
        new RegExp(`^holdfast: needs Node ${MINIMUM_NODE} or newer, this is ${version} \\([^\\n]*\\); .*HOLDFAST_NODE\\n$`),
      ),
    });
    expect(node).toContain(old);
    const named = await installed.cli(home, ["version", "--json"], { env: { PATH, HOLDFAST_NODE: process.execPath } });
    expect(JSON.parse(named.stdout)).toEqual({ version: VERSION, node: process.versions.node });

    // Programs in a session find the same Node.
    const better = path.join(installed.root, "n");
    symlinkSync(process.execPath, better);
    const script = 'echo "it is $HOLDFAST_NODE"; sleep 0.1';
    const { stdout: id } = await installed.cli(home, ["run", "--", "sh", "-c", script], { env: { HOLDFAST_NODE: better } });
    expect((await installed.cli(home, ["logs", "-f", id.trim()])).stdout).toBe(`it is ${better}\n`);
  });

  test("without a usable Node holdfast says so in one line", async () => {
    await using home = new TestHome();
    const bare = path.join(installed.root, "bare");
    mkdirSync(bare);
    for (const name of ["sh", "readlink"]) symlinkSync(path.join(installed.tools, name), path.join(bare, name));
    const none = await installed.cli(home, ["ls"], { env: { PATH: bare } });
    expect(none).toMatchObject({ code: 12, stdout: "" });
    expect(none.stderr).toMatch(/^holdfast: needs Node 24 or newer, and there is no node on PATH.*\n$/);
    const wrong = await installed.cli(home, ["ls"], { env: { HOLDFAST_NODE: "/nowhere/node" } });
    expect(wrong).toMatchObject({ code: 12, stdout: "" });
    expect(wrong.stderr).toMatch(/^holdfast: HOLDFAST_NODE is \/nowhere\/node, which cannot be run.*\n$/);
    for (const env of [{ PATH: bare }, { HOLDFAST_NODE: "/nowhere/node" }] as Record<string, string>[]) {
      const { stderr } = await installed.cli(home, ["ls", "--json"], { env });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "node_too_old", hint: expect.stringContaining("name") } });
    }
  });

  test("man finds the pages of holdfast and hold, without warnings, with every section, command and flag of the help", async () => {
    await using home = new TestHome();
    const page = path.join(installed.prefix, "share/man/man1/holdfast.1");
    if (onPath("man")) {
      const env = { ...home.env, MANPATH: path.dirname(path.dirname(page)) };
      expect(realpathSync(execFileSync("man", ["-w", "holdfast"], { encoding: "utf8", env }).trim())).toBe(realpathSync(page));
      const warnings = execFileSync("sh", ["-c", 'man --warnings -E ascii -l "$1" 2>&1 >/dev/null', "sh", page], { encoding: "utf8", env });
      expect(warnings).toBe("");
      expect(execFileSync("man", ["hold"], { encoding: "utf8", env })).toBe(execFileSync("man", ["holdfast"], { encoding: "utf8", env }));
    }
    const shown = readFileSync(page, "utf8").replaceAll("\\-", "-");
    for (const word of ["holdfast.db", "sessions/ID/", "backups/", "damaged/", "daemon.log"]) expect(shown).toContain(word);
    for (const key of ["detach_key", "recording_limit", "[prune]", "age", "size", "every", "[agents.NAME]"]) expect(shown).toContain(key);
    const { stdout: help } = await installed.cli(home, ["--help"]);
    const [groups = ""] = help.split("\nRemote machines\n");
    const titles = [...groups.matchAll(/^([A-Z][a-z ]+)$/gm)]
      .map(([, title = ""]) => title)
      .filter((title) => title !== "Usage" && title !== "Get started");
    expect(titles.length).toBeGreaterThan(5);
    for (const title of titles) expect(shown).toContain(`.SH "${title.toUpperCase()}"`);
    const names = [...help.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name ?? "");
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      expect(shown).toMatch(new RegExp(`^\\.SS "${name}[ "]`, "m"));
      const { stdout } = await installed.cli(home, [name, "--help"]);
      for (const [, flag] of stdout.matchAll(/^ {2}(?:-\w, | {4})(--[a-z-]+)/gm)) expect(shown).toContain(flag);
    }
  });
});

test("a project can install it as a dependency", async () => {
  await using home = new TestHome();
  using installed = new Installed();
  const project = path.join(installed.root, "project");
  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), "{}\n");
  await installed.npm(["install", packed(VERSION)], project);
  const program = path.join(project, "node_modules/.bin/holdfast");
  const { stdout: id } = await installed.cli(home, ["run", "--host", "native", "--", "echo", "hi"], { program });
  expect(await installed.cli(home, ["logs", "-f", id.trim()], { program })).toMatchObject({ code: 0, stdout: "hi\n" });
});

/** A user's TypeScript program: narrowing here depends on the package's own declarations. */
const PROGRAM = `import { type Approval, connect, type QueryResult, query, Timeout } from "holdfast/sdk";

using holdfast = await connect();
const asked = holdfast.query({ agent: "demo", prompt: "say hello\\nwrite a.txt b", budget: { turns: 2 }, timeoutMs: 60_000 });
for await (const event of asked) {
  if (event.type === "tool_started") console.log(event.title satisfies string);
  // @ts-expect-error: no event has that.
  if (event.type === "text") event.title;
}
const { text, files, usage }: QueryResult = await asked.result;
console.log(text.split("\\n")[0], files satisfies string[], usage?.input ?? null);
const waiting: Approval[] = await holdfast.approvals.list();
// @ts-expect-error: there is no such endpoint.
const wrong = () => holdfast.client.call("noSuchThing", {});
const { agents } = await holdfast.client.call("listAgents", {});
console.log(waiting.length, agents.some(({ name }) => name === "demo"), typeof wrong);
const late = query({ agent: "demo", prompt: "sleep 60000", timeoutMs: 500 });
console.log(await late.result.catch((error: unknown) => error instanceof Timeout && error.code));
for await (const event of holdfast.events({ types: ["session.removed"] })) {
  if (event.type === "session.removed") console.log(event.data.name satisfies string);
  break;
}
`;

test("a project that installed it gets the SDK with its types, and without internal ones", async () => {
  await using home = new TestHome();
  using installed = new Installed();
  const project = path.join(installed.root, "project");
  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }\n');
  await installed.npm(["install", packed(VERSION)], project);
  symlinkSync(path.join(ROOT, "node_modules/@types"), path.join(project, "node_modules/@types"));
  writeFileSync(path.join(project, "program.ts"), PROGRAM);
  writeFileSync(
    path.join(project, "page.ts"),
    'import { connect } from "holdfast/sdk/browser";\nawait connect({ url: "http://127.0.0.1:1" });\n',
  );
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noPropertyAccessFromIndexSignature"];
  const options = [
    "--noEmit",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--lib",
    "es2024,esnext.disposable",
    "--types",
    "node",
    ...strict,
  ];
  const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: project, encoding: "utf8", env: { ...home.env, PATH: installed.tools } });
  expect(run(process.execPath, tsc, ...options, "program.ts", "page.ts")).toBe("");
  const printed = run(process.execPath, "program.ts").trim().split("\n");
  expect(printed).toEqual([
    expect.stringContaining("a.txt"),
    expect.stringMatching(/^hello \[ 'a.txt' \] \d+$/),
    "0 true function",
    "timeout",
    expect.stringMatching(/^query-/),
  ]);

  // A bundler for web pages gets the browser build, under the same name.
  const stdin = { contents: 'export { connect } from "holdfast/sdk";', resolveDir: project };
  const page = await build({ stdin, bundle: true, write: false, format: "esm", platform: "browser", logLevel: "silent" });
  const text = page.outputFiles[0]?.text ?? "";
  expect(text).toContain("the daemon's URL is missing");
  expect(text).not.toContain("node:");
});

test("the tarball holds everything a user needs, and nothing of the machine that built it", () => {
  const tarball = packed(VERSION);
  expect(path.basename(tarball)).toBe(`holdfast-${VERSION}.tgz`);
  const names = execFileSync("tar", ["tf", tarball], { encoding: "utf8" }).trim().split("\n").sort();
  expect(names).toEqual(
    [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "THIRD-PARTY.md",
      "bin/holdfast",
      "dist/backup-copy.mjs",
      "dist/cli.chat.cjs",
      "dist/cli.cjs",
      "dist/cli.ls.cjs",
      "dist/cli.mcp.cjs",
      "dist/cli.statusline.cjs",
      "dist/configure.mjs",
      "dist/conversation-holder.mjs",
      "dist/daemon.mjs",
      "dist/demo-acp.mjs",
      "dist/demo.mjs",
      "dist/exec-agent.mjs",
      "dist/holder.mjs",
      "dist/holdfast.cjs",
      "dist/mcp-client.mjs",
      "dist/mcp.mjs",
      "dist/model-agent.mjs",
      "dist/sdk/browser.d.mts",
      "dist/sdk/browser.mjs",
      "dist/sdk/index.d.mts",
      "dist/sdk/index.mjs",
      "dist/xterm.cjs",
      "man/hold.1",
      "man/holdfast.1",
      "package.json",
    ].map((name) => `package/${name}`),
  );
  const text = execFileSync("tar", ["xOf", tarball], { encoding: "utf8", maxBuffer: 1 << 26 });
  for (const trace of [ROOT, `${homedir()}/`, `${hostname()}/`, "/node_modules/.bin", '"workspace:']) expect(text).not.toContain(trace);
  expect(text).not.toMatch(/\b(?!127\.0\.0\.1|0\.0\.0\.0)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/);
  const manifest = JSON.parse(execFileSync("tar", ["xOf", tarball, "package/package.json"], { encoding: "utf8" }));
  expect(manifest).toMatchObject({ name: "holdfast", version: VERSION, license: "MIT", engines: { node: `>=${MINIMUM_NODE}` } });
  expect(Object.keys(manifest.dependencies)).toEqual(["@lydell/node-pty"]);
  expect(manifest).not.toHaveProperty("scripts");
  expect(manifest).not.toHaveProperty("devDependencies");
});

function onPath(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((directory) => existsSync(path.join(directory, name)));
}
