/**
 * Installs the real agents that tests drive from npm into the user's cache directory; all clones of Holdfast share one copy per version.
 * `tests/real/versions.json` pins the versions. A copy is installed under a temporary name and renamed when it is complete; afterwards
 * only its existence is checked.
 *
 *   node script/real-agents.mjs [AGENT …]    installs these agents, or all, and prints the paths of their programs
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { exclusively } from "./lock.mjs";
import { isMain, root, say } from "./root.mjs";

const run = promisify(execFile);

export const AGENTS = JSON.parse(fs.readFileSync(path.join(root, "tests/real/versions.json"), "utf8"));

/** The program of an installed agent. */
export function programOf(agent) {
  return path.join(folderOf(agent), "node_modules/.bin", AGENTS[agent].bin);
}

export async function installAgent(agent) {
  if (!(agent in AGENTS)) throw new Error(`there is no agent ${agent} in tests/real/versions.json`);
  const folder = folderOf(agent);
  if (!fs.existsSync(folder)) await exclusively(agent, () => fs.existsSync(folder) || install(agent, folder), cache());
  return programOf(agent);
}

async function install(agent, folder) {
  const { package: name, version, after, executables = [] } = AGENTS[agent];
  say(`installing ${name}@${version} into ${cache()}`);
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  // Remains of installs that were killed. The lock keeps other installs away, but a killed install's npm may still write there.
  for (const left of fs.readdirSync(cache())) {
    if (left.startsWith(`${agent}.incomplete.`)) fs.rmSync(path.join(cache(), left), { recursive: true, force: true });
  }
  const temporary = fs.mkdtempSync(path.join(cache(), `${agent}.incomplete.`));
  try {
    const quiet = ["--loglevel=error", "--no-audit", "--no-fund", "--no-progress", "--no-save", "--no-package-lock"];
    await program("npm", ["install", "--prefix", temporary, "--ignore-scripts", "--include=optional", ...quiet, `${name}@${version}`]);
    const inside = path.join(temporary, "node_modules", name);
    if (after !== undefined) await program(process.execPath, [after], inside);
    // The package lacks the executable bit, and the agent would start with a warning.
    for (const file of executables) if (fs.existsSync(path.join(inside, file))) fs.chmodSync(path.join(inside, file), 0o755);
    fs.renameSync(temporary, folder);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

async function program(file, args, cwd = cache()) {
  try {
    await run(file, args, { cwd });
  } catch (error) {
    throw new Error(`${path.basename(file)} ${args.join(" ")} failed: ${error.stderr || error.message}`);
  }
}

function folderOf(agent) {
  const { package: name, version } = AGENTS[agent];
  return path.join(cache(), `${name}@${version}`);
}

function cache() {
  const folder = process.env.XDG_CACHE_HOME;
  return path.join(folder !== undefined && path.isAbsolute(folder) ? folder : path.join(os.homedir(), ".cache"), "holdfast/agents");
}

if (isMain(import.meta.url)) {
  try {
    const wanted = process.argv.slice(2);
    for (const agent of wanted.length > 0 ? wanted : Object.keys(AGENTS)) console.log(await installAgent(agent));
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
