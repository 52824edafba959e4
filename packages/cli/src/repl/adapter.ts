/** Offers to install the adapter that a conversation needs. Installs nothing without a yes on a terminal. */
import { spawnSync } from "node:child_process";
import { HoldfastError } from "@holdfast/contract/errors";
import { visible } from "@holdfast/contract/visible";
import type { Context } from "../command.ts";
import { isYes } from "../workspace/trusting.ts";

/** True if it was installed, so that the failed call can be repeated. Without a terminal the error's hint names the command. */
export async function installedAdapter({ json }: Context, error: unknown): Promise<boolean> {
  const command = installIn(error);
  const canAsk = !json && process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (command === undefined || !canAsk) return false;
  process.stderr.write(`${visible((error as Error).message)}.\nThis installs it:\n  ${visible(command)}\n`);
  if (!(await isYes("Run it now? [y/N] "))) return false;
  // npm prints its progress on stderr; standard output is reserved for the answer.
  const [program = "", ...args] = command.split(" ");
  const { status, error: trouble } = spawnSync(program, args, { stdio: ["inherit", 2, 2] });
  if (status === 0) return true;
  throw new HoldfastError("program_not_found", `${command} failed${trouble ? `: ${trouble.message}` : ` with ${status}`}`, {
    hint: `run it in a shell: ${command}`,
  });
}

/** Accepts only npm with plain words: the command comes from the daemon and runs as shown. */
function installIn(error: unknown): string | undefined {
  if (!(error instanceof HoldfastError) || error.code !== "program_not_found") return undefined;
  const install = error.details?.install;
  return typeof install === "string" && /^npm install -g @?[\w./-]+$/.test(install) ? install : undefined;
}
