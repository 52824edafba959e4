/** Calls bin/holdfast as a person at a shell would. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./root.mjs";

const bin = path.join(root, "bin/holdfast");

/** Runs a command and answers its standard output; its complaints go to the terminal. Detached, a Ctrl+C does not reach it. */
export function holdfast(args, { home, stdout = "pipe", detached = false } = {}) {
  const env = { ...shellEnvironment(), ...(home === undefined ? {} : { HOLDFAST_HOME: home }) };
  const done = spawnSync(bin, args, { cwd: whereTyped(), env, encoding: "utf8", detached, stdio: ["ignore", stdout, "inherit"] });
  if (done.status !== 0) throw new Error(`holdfast ${args.join(" ")} failed with ${done.status ?? done.signal ?? done.error?.message}`);
  return done.stdout ?? "";
}

/** bin/holdfast as it can be typed where npm was. */
export function typed() {
  const relative = path.relative(whereTyped(), bin);
  return relative.startsWith("..") ? bin : relative;
}

function whereTyped() {
  return process.env.INIT_CWD ?? process.cwd();
}

/** What npm adds would become part of every session that is started from here. */
function shellEnvironment() {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^(INIT_CWD|NODE|COLOR)$/i.test(name));
  const isNpms = (folder) => folder.endsWith("/node_modules/.bin") || folder.endsWith("/node-gyp-bin");
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => !isNpms(folder));
  return { ...Object.fromEntries(own), PATH: folders.join(path.delimiter) };
}
