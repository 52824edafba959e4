import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ErrorBody, HoldfastError } from "@holdfast/contract/errors";
import { errorOf, typed } from "../errors.ts";

export interface Starter {
  /** The `holdfast` program; by default the one of this package, else the one on PATH. */
  program?: string | undefined;
  /** The program's environment; by default that of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}

/** Runs `holdfast up` for a home: it starts the daemon or replaces an older one, and ends. */
export function launch(home: string | undefined, { program, env: around = process.env }: Starter): Promise<void> {
  // Starts this home's daemon, even if the environment names another one.
  const { HOLDFAST_URL: _url, ...env } = around;
  const child = spawn(program ?? ownProgram() ?? "holdfast", ["up", "--json"], {
    env: { ...env, ...(home === undefined ? {} : { HOLDFAST_HOME: home }) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", (cause) =>
      reject(
        errorOf("daemon_unreachable", `the daemon is not running, and holdfast cannot be started: ${cause.message}`, {
          hint: "install it: npm install --global holdfast; or pass its path: connect({ program })",
          cause,
        }),
      ),
    );
    child.once("close", (code) => (code === 0 ? resolve() : reject(refusal(said, code))));
  });
}

/** In the package this file is dist/sdk/index.mjs, in a checkout packages/sdk/src/node/launch.ts. */
function ownProgram(): string | undefined {
  return ["../../bin/holdfast", "../../../../bin/holdfast"].map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
}

function refusal(said: string, code: number | null): unknown {
  const line = said.trim().split("\n").at(-1) ?? "";
  try {
    return typed(HoldfastError.fromBody((JSON.parse(line) as { error: ErrorBody }).error));
  } catch {
    return errorOf("daemon_unreachable", `the daemon is not running, and holdfast up ended with ${code}: ${line}`);
  }
}
