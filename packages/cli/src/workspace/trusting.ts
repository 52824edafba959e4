/** Asks whether a project may run its commands and copy its files. Without a terminal and without `--trust` the answer is no. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { ProjectActions } from "@holdfast/contract/trust/trust";
import { visible } from "@holdfast/contract/visible";
import { shellWord } from "@holdfast/platform/shell";
import type { Context, Flag } from "../command.ts";
import { color } from "../text/color.ts";

export const TRUST_FLAG: Flag = {
  summary: "trust the setup command and copied files of the project's .holdfast/config.toml without asking",
};

/** Repeats `work` once the project is trusted. Trust applies to the hash of the shown actions. */
export async function trusting<T>(context: Context, work: () => Promise<T>): Promise<T> {
  for (const asked = new Set<string>(); ; ) {
    try {
      return await work();
    } catch (error) {
      const actions = actionsIn(error);
      if (!actions || asked.has(`${actions.hash} ${actions.directory}`) || !(await isAgreed(context, actions))) throw error;
      asked.add(`${actions.hash} ${actions.directory}`);
      await context.client.call("addTrust", { body: { cwd: actions.tree, hash: actions.hash } });
    }
  }
}

/** Asks once before several sessions start, so that they do not each ask. */
export function trustFirst(context: Context, cwd: string): Promise<void> {
  return trusting(context, async () => {
    const { actions, trusted } = await context.client.call("inspectProject", { query: { cwd } });
    if (trusted || !actions) return;
    throw new HoldfastError("not_trusted", `the project is not trusted yet:\n${actionLines(actions).join("\n")}`, {
      hint: `review and trust it: holdfast trust add ${shellWord(actions.tree)}; or pass --trust`,
      details: { ...actions },
    });
  });
}

function actionsIn(error: unknown): ProjectActions | undefined {
  if (!(error instanceof HoldfastError) || error.code !== "not_trusted") return undefined;
  const details = error.details as Partial<ProjectActions> | undefined;
  return typeof details?.hash === "string" && typeof details.tree === "string" ? (details as ProjectActions) : undefined;
}

async function isAgreed(context: Context, actions: ProjectActions): Promise<boolean> {
  const isTold = context.flags.has("trust");
  const canAsk = !context.json && process.stdin.isTTY === true && process.stderr.isTTY === true;
  if (!isTold && !canAsk) return false;
  if (!context.json) process.stderr.write(`${actionLines(actions).join("\n")}\n`);
  return isTold || isYes("Trust this project? [y/N] ");
}

/** All actions in full. */
export function actionLines({ file, setup, copy }: Pick<ProjectActions, "setup" | "copy"> & { file: string }): string[] {
  return [
    `${visible(file)} wants Holdfast, for each new workspace,`,
    ...(setup === null ? [] : [`  ${color("bold", "to run", process.stderr)}   ${visible(setup)}`]),
    ...copy.map((rule) => `  ${color("bold", "to copy", process.stderr)}  ${visible(rule)}`),
    ...(setup === null
      ? []
      : [color("dim", "Scripts that the command starts are not checked; they can change at any time.", process.stderr)]),
  ];
}

export async function isYes(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await terminal.question(question)).trim());
}
