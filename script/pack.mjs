/**
 * npm run pack [-- --out DIR] [--version V]: packs everything a user installs into one tarball, `holdfast-<version>.tgz`, by default in
 * dist/. Prints only its path on standard output. Always builds again, in a separate directory: the tarball holds exactly the files named
 * here.
 */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { root, say } from "./root.mjs";
import { run } from "./run.mjs";
import { ensure, node } from "./setup.mjs";

const { values } = parseArgs({ options: { out: { type: "string" }, version: { type: "string" } } });
try {
  await ensure();
  // The command registry is TypeScript, which needs a newer Node.
  if (Number.parseInt(process.versions.node, 10) < 24)
    process.exitCode = await run(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
  else console.log(await pack({ out: path.resolve(values.out ?? path.join(root, "dist")), version: values.version }));
} catch (error) {
  say(error.message);
  process.exitCode = 1;
}

async function pack({ out, version }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-pack-"));
  try {
    await assemble(folder, version ?? readJson("package.json").version);
    fs.mkdirSync(out, { recursive: true });
    return path.join(out, tarball(folder, out));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function assemble(folder, version) {
  const { bundles, sdkBundles } = await import("./build.mjs");
  const { files, inputs } = await bundles({ version });
  for (const [name, text] of Object.entries(files)) put(path.join(folder, "dist", name), text);
  const sdk = { ...(await sdkBundles({ version })).files, ...(await declarations()) };
  for (const [name, text] of Object.entries(sdk)) put(path.join(folder, "dist/sdk", name), text);
  put(path.join(folder, "bin/holdfast"), read("bin/holdfast"), 0o755);
  put(path.join(folder, "man/holdfast.1"), await manual(version));
  put(path.join(folder, "man/hold.1"), (await import("./man.mjs")).HOLD_PAGE);
  put(path.join(folder, "THIRD-PARTY.md"), (await import("./notices.mjs")).notices(inputs));
  put(path.join(folder, "package.json"), `${JSON.stringify(manifest(version), null, 2)}\n`);
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE"]) put(path.join(folder, name), read(name));
}

/** The SDK's declarations, for editors and compilers. */
async function declarations() {
  const { surfaceOf } = await import("./sdk-surface.mjs");
  const { declarationsBeside, declarationsOf } = await import("./sdk-text.mjs");
  const [index, browser] = surfaceOf(["packages/sdk/src/index.ts", "packages/sdk/src/browser.ts"]);
  return { "index.d.mts": declarationsOf(index), "browser.d.mts": declarationsBeside(browser, { others: index, from: "./index.mjs" }) };
}

function manifest(version) {
  const { description, license } = readJson("package.json");
  const { dependencies } = readJson("packages/holder/package.json");
  return {
    name: "holdfast",
    version,
    description,
    keywords: ["agents", "ai", "background", "cli", "sessions", "terminal", "tmux"],
    license,
    bin: { holdfast: "bin/holdfast", hold: "bin/holdfast" },
    man: ["man/holdfast.1", "man/hold.1"],
    exports: {
      "./sdk": { browser: entry("browser"), ...entry("index") },
      "./sdk/browser": entry("browser"),
      "./package.json": "./package.json",
    },
    sideEffects: false,
    engines: { node: ">=24" },
    os: ["linux", "darwin"],
    // Everything else is bundled. node-pty ships a binary per platform as an optional package, so nothing is compiled.
    dependencies: { "@lydell/node-pty": dependencies["@lydell/node-pty"] },
  };
}

function entry(name) {
  return { types: `./dist/sdk/${name}.d.mts`, default: `./dist/sdk/${name}.mjs` };
}

async function manual(version) {
  const { manPage } = await import("./man.mjs");
  const { COMMANDS } = await import("../packages/cli/src/registry.ts");
  const { COMMON_FLAGS, PAGER_FLAG } = await import("../packages/cli/src/line/parse.ts");
  const { SECTIONS } = await import("../packages/cli/src/command.ts");
  const { ERRORS } = await import("../packages/contract/src/errors.ts");
  const loaded = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  const inner = ({ verbs = {}, section }) =>
    Promise.all(Object.values(verbs).map(async (load) => ({ ...(await load()).command, section })));
  const commands = (await Promise.all(loaded.map(async (command) => [command, ...(await inner(command))]))).flat();
  return manPage({ sections: SECTIONS, commands, commonFlags: COMMON_FLAGS, pagerFlag: PAGER_FLAG, errors: ERRORS, version });
}

function tarball(folder, out) {
  const done = spawnSync("npm", ["pack", folder, "--json", "--ignore-scripts", "--pack-destination", out], { encoding: "utf8" });
  if (done.error) throw new Error(`npm cannot be started (${done.error.message})`);
  if (done.status !== 0) throw new Error(`npm pack failed: ${done.stderr.trim()}`);
  return JSON.parse(done.stdout)[0].filename;
}

function put(file, text, mode = 0o644) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
}

function read(name) {
  return fs.readFileSync(path.join(root, name), "utf8");
}

function readJson(name) {
  return JSON.parse(read(name));
}
