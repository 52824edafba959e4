import { spawn } from "node:child_process";
import { root } from "./root.mjs";

/** Runs a program in the foreground and answers its exit code; Ctrl+C reaches it, and we wait for how it ends. */
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

/** The environment without a surrounding session's marks: tests and benchmarks bring their own home and tmux server. */
export function cleanEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|TMUX)/.test(name)));
}
