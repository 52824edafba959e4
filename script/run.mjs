import { spawn } from "node:child_process";
import { root } from "./root.mjs";

/** Runs a program in the foreground and returns its exit code. Ctrl+C reaches the program, and we wait until it exits. */
export function run(program, args, { env = process.env, stdio = "inherit" } = {}) {
  const ignore = () => {};
  process.on("SIGINT", ignore);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env, stdio });
    child.once("error", reject);
    child.once("exit", (code) => {
      process.removeListener("SIGINT", ignore);
      resolve(code ?? 1);
    });
  });
}

/** The environment without variables of a surrounding session: tests and benchmarks have their own home and tmux server. */
export function cleanEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|TMUX)/.test(name)));
}
