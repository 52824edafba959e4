/** Calls bin/holdfast as a person in a shell does. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { root } from "./root.mjs";
import { node } from "./setup.mjs";

const bin = path.join(root, "bin/holdfast");

/** Runs a command and returns its standard output; errors go to the terminal. */
export function holdfast(args, { home, stdout = "pipe" } = {}) {
  return call(bin, args, { home, stdio: ["ignore", stdout, "inherit"] });
}

/** Stops everything in a home with the last CLI that was built, so that broken sources do not matter. Ctrl+C does not reach it. */
export function endAll(home) {
  call(node, [path.join(root, "dist/holdfast.cjs"), "down", "--all"], { home, detached: true, stdio: ["ignore", "pipe", "inherit"] });
}

function call(program, args, { home, ...options }) {
  const env = { ...shellEnvironment(), ...(home === undefined ? {} : { HOLDFAST_HOME: home }) };
  const done = spawnSync(program, args, { cwd: whereTyped(), env, encoding: "utf8", ...options });
  if (done.status !== 0) throw new Error(`holdfast ${args.join(" ")} failed with ${done.status ?? done.signal ?? done.error?.message}`);
  return done.stdout ?? "";
}

/** The path of bin/holdfast as a user would type it in the directory where npm was called. */
export function typed() {
  const relative = path.relative(whereTyped(), bin);
  return relative.startsWith("..") ? bin : relative;
}

function whereTyped() {
  return process.env.INIT_CWD ?? process.cwd();
}

/** npm's own variables would become part of every session that starts here. */
function shellEnvironment() {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^(INIT_CWD|NODE|COLOR)$/i.test(name));
  const isNpms = (folder) => folder.endsWith("/node_modules/.bin") || folder.endsWith("/node-gyp-bin");
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => !isNpms(folder));
  return { ...Object.fromEntries(own), PATH: folders.join(path.delimiter) };
}
