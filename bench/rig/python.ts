/** Two things that Node cannot do: the CPU time of ended children, and keystrokes on a pty without an event loop in between. */
import { spawn } from "node:child_process";
import path from "node:path";

const SCRIPTS = import.meta.dirname;

/** Runs a script from this directory: JSON in, JSON out. */
export async function python<T>(script: "children_cpu.py" | "pty_echo.py" | "pty_start.py", input: unknown): Promise<T> {
  const child = spawn("python3", [path.join(SCRIPTS, script)], { stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", (cause) =>
      reject(new Error("these benchmarks need python3; install it (Debian: apt-get install python3)", { cause })),
    );
    child.on("close", resolve);
  });
  child.stdin.on("error", () => {}).end(JSON.stringify(input));
  const code = await ended;
  if (code !== 0) throw new Error(`${script} ended with ${code}`);
  return JSON.parse(output) as T;
}
