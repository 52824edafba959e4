/**
 * Bundles the programs that a user runs into dist/. Each file is written under a temporary name and renamed, so that running programs and
 * parallel builds never see half a file. `.built` is written last and carries the time the build began: a source saved during the build
 * is newer, and the next run builds again.
 */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { isMain, root, say } from "./root.mjs";

const dist = path.join(root, "dist");
const stamp = path.join(dist, ".built");

/** File times come from a coarser clock than Date.now(); this much earlier, no edit can look older than the build. */
const CLOCK_SLACK_MS = 20;

/** Commands that status lines and scripts run often. Each has its own bundle: loading all other commands costs a millisecond of CPU. */
const OFTEN = ["ls", "statusline", "chat", "mcp"];

/** An agent keeps its MCP server for its whole life, so the server bundle holds only what it needs, and its own command. */
const ALONE = new Set(["mcp"]);

export async function build() {
  const startedAt = new Date(Date.now() - CLOCK_SLACK_MS);
  fs.mkdirSync(dist, { recursive: true });
  const { files, metafile } = await bundles();
  for (const [name, text] of Object.entries(files)) put(name, text);
  // A stale bundle would still be run for a command that no longer has its own.
  for (const name of fs.readdirSync(dist)) if (/^cli\..+\.cjs$/.test(name) && !(name in files)) fs.rmSync(path.join(dist, name));
  put("meta.json", `${JSON.stringify(metafile, null, 1)}\n`);
  fs.writeFileSync(temporary(".built"), "");
  fs.utimesSync(temporary(".built"), startedAt, startedAt);
  fs.renameSync(temporary(".built"), stamp);
}

/** The programs by file name; `inputs` are the sources of all of them, `metafile` is the CLI's. */
export async function bundles({ version } = {}) {
  const esbuild = await import("esbuild");
  const plugins = [apart("@xterm/headless", "./xterm.cjs"), ...asVersion(version)];
  const mcpApart = apart("@holdfast/mcp", "./mcp.mjs");
  const [cli, daemon, configure, mcp, copier, holder, conversation, exec, model, mcpClient, demo, demoAcp, ...often] = await bundle(
    esbuild,
    [
      { ...commonjs("packages/cli/src/main.ts"), plugins: [mcpApart, ...plugins] },
      { ...module("packages/daemon/src/main.ts"), plugins: [mcpApart, ...asVersion(version)], external: ["@lydell/node-pty"] },
      { ...module("packages/daemon/src/configure.ts"), plugins: asVersion(version) },
      { ...module("packages/mcp/src/index.ts"), plugins: asVersion(version) },
      module("packages/daemon/src/journal/backup-copy.ts"),
      // node-pty loads a native file from its own directory, so it stays a package.
      { ...module("packages/holder/src/main.ts"), plugins: asVersion(version), external: ["@lydell/node-pty"] },
      { ...module("packages/holder/src/conversation/main.ts"), plugins: asVersion(version) },
      { ...module("packages/holder/src/agents/exec/main.ts"), plugins: asVersion(version) },
      {
        ...module("packages/holder/src/agents/model/main.ts"),
        plugins: [apart("./mcp-client.ts", "./mcp-client.mjs"), ...asVersion(version)],
      },
      { ...module("packages/holder/src/agents/model/servers/mcp-client.ts"), plugins: asVersion(version) },
      { ...module("agents/src/demo.ts"), plugins: [apart("./acp/serve.ts", "./demo-acp.mjs")] },
      module("agents/src/acp/serve.ts"),
      ...OFTEN.map((name) => ({
        ...commonjs("packages/cli/src/main.ts"),
        plugins: [onlyCommand(name), ...(ALONE.has(name) ? [] : [mcpApart]), ...plugins],
      })),
    ],
  );
  const xterm = createRequire(import.meta.url).resolve("@xterm/headless");
  const programs = [cli, daemon, configure, mcp, copier, holder, conversation, exec, model, mcpClient, demo, demoAcp];
  const inputs = programs.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return {
    files: {
      "cli.cjs": withModuleUrl(textOf(cli)),
      ...Object.fromEntries(OFTEN.map((name, index) => [`cli.${name}.cjs`, withModuleUrl(textOf(often[index]))])),
      "xterm.cjs": fs.readFileSync(xterm, "utf8"),
      "daemon.mjs": withRequire(textOf(daemon)),
      "configure.mjs": withRequire(textOf(configure)),
      "mcp.mjs": withRequire(textOf(mcp)),
      "backup-copy.mjs": withRequire(textOf(copier)),
      "holder.mjs": withRequire(textOf(holder)),
      "conversation-holder.mjs": withRequire(textOf(conversation)),
      "exec-agent.mjs": withRequire(textOf(exec)),
      "model-agent.mjs": withRequire(textOf(model)),
      "mcp-client.mjs": withRequire(textOf(mcpClient)),
      "demo.mjs": withRequire(textOf(demo)),
      "demo-acp.mjs": withRequire(textOf(demoAcp)),
      "holdfast.cjs": fs.readFileSync(path.join(root, "script/entry.cjs"), "utf8"),
    },
    metafile: cli.metafile,
    inputs: [...new Set([...inputs, path.relative(root, xterm)])],
  };
}

/** The SDK for Node and for browsers, without syntax that only one bundler understands. */
export async function sdkBundles({ version } = {}) {
  const esbuild = await import("esbuild");
  const entry = (file, platform) => ({ ...module(file), platform, target: "es2024", keepNames: false, plugins: asVersion(version) });
  const [index, browser] = await bundle(esbuild, [
    entry("packages/sdk/src/index.ts", "node"),
    entry("packages/sdk/src/browser.ts", "browser"),
  ]);
  return {
    files: { "index.mjs": textOf(index), "browser.mjs": textOf(browser) },
    inputs: [index, browser].flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  };
}

async function bundle(esbuild, entries) {
  const results = await Promise.allSettled(entries.map((entry) => esbuild.build(entry)));
  if (results.some(({ status }) => status === "rejected")) throw new Error("the build failed; the reason is above");
  return results.map(({ value }) => value);
}

/** Whether a source is newer than the last build. bin/holdfast has the same test in shell; keep both alike. */
export function isStale() {
  const built = fs.statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return true;
  return ["packages", "agents", "script/build.mjs", "script/entry.cjs", "package-lock.json"].some((name) =>
    isNewer(path.join(root, name), built),
  );
}

function isNewer(file, built) {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.mtimeMs > built) return true;
  return found.isDirectory() && fs.readdirSync(file).some((name) => isSource(name) && isNewer(path.join(file, name), built));
}

function isSource(name) {
  return (
    name !== "node_modules" && (!name.includes(".") || (name.endsWith(".ts") && !name.endsWith(".test.ts")) || name === "package.json")
  );
}

function commonjs(entry) {
  return {
    ...shared(entry),
    format: "cjs",
    // Every command reads this file, so it is minified. Long-running programs keep readable stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // import() of a Node module becomes a require: the ESM loader alone costs milliseconds.
    supported: { "dynamic-import": false },
    define: { "import.meta.dirname": "__dirname", "import.meta.filename": "__filename", "import.meta.url": "__moduleUrl" },
  };
}

/** A large library that few commands need gets its own file; otherwise every command would read and compile it. */
function apart(name, file) {
  return {
    name: `apart ${name}`,
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: file, external: true }));
    },
  };
}

/** The registry with this command only. */
function onlyCommand(name) {
  const file = path.join(root, "packages/cli/src/registry.ts");
  const [entry] = new RegExp(`^ *${name}: .*$`, "m").exec(fs.readFileSync(file, "utf8")) ?? [];
  if (entry === undefined) throw new Error(`packages/cli/src/registry.ts has no command ${name}`);
  const contents = `export const COMMANDS = {${entry}};\nexport const findCommand = (name) => (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined);\n`;
  return {
    name: `only ${name}`,
    setup(builder) {
      builder.onLoad({ filter: /cli[\\/]src[\\/]registry\.ts$/ }, () => ({ contents, loader: "ts", resolveDir: path.dirname(file) }));
      // The full CLI handles all other commands, and those for another machine: see script/entry.cjs.
      builder.onLoad({ filter: /cli[\\/]src[\\/](internal|far[\\/]far)\.ts$/ }, () => ({ contents: "export {};", loader: "ts" }));
    },
  };
}

/** The same sources under another version, for upgrade tests. */
function asVersion(version) {
  if (version === undefined) return [];
  const file = path.join(root, "packages/contract/src/version.ts");
  const contents = fs.readFileSync(file, "utf8").replace(/VERSION = "[^"]*"/, `VERSION = ${JSON.stringify(version)}`);
  return [
    {
      name: "version",
      setup: (builder) =>
        builder.onLoad({ filter: /contract[\\/]src[\\/]version\.ts$/ }, () => ({ contents, loader: "ts", resolveDir: path.dirname(file) })),
    },
  ];
}

function module(entry) {
  return { ...shared(entry), format: "esm" };
}

function shared(entry) {
  return {
    entryPoints: [entry],
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    target: "node24",
    legalComments: "none",
    logLevel: "error",
  };
}

function textOf(result) {
  return result.outputFiles[0].text;
}

function withModuleUrl(text) {
  return text.includes("__moduleUrl") ? afterShebang(text, 'var __moduleUrl=require("node:url").pathToFileURL(__filename).href;') : text;
}

/** CommonJS dependencies call require for Node's modules; an ES module has no require. */
function withRequire(text) {
  return text.includes("__require(")
    ? afterShebang(text, 'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);')
    : text;
}

function afterShebang(text, line) {
  const [shebang] = /^#!.*\n/.exec(text) ?? [""];
  return `${shebang}${line}\n${text.slice(shebang.length)}`;
}

function put(name, text) {
  fs.writeFileSync(temporary(name), text);
  fs.renameSync(temporary(name), path.join(dist, name));
}

function temporary(name) {
  return path.join(dist, `.${name}.${process.pid}`);
}

if (isMain(import.meta.url)) {
  const began = performance.now();
  try {
    await build();
    say(`built dist/ in ${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
