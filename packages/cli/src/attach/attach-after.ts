/** `--attach` of the commands that start a session: `spawn`, `start`, `resume`, `fork`. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

/** Refuses `--attach` before anything is started. */
export function checkAttachFlag({ flags, json }: Context): void {
  if (!flags.has("attach")) return;
  if (json) throw new HoldfastError("usage", "--attach and --json cannot be used together", { hint: "omit one of them" });
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new HoldfastError("not_a_terminal", "--attach needs a terminal", { hint: "omit it; attach later: holdfast attach NAME" });
}

/** Attaches this terminal to the session if `--attach` was given. */
export async function attachIfAsked(context: Context, name: string): Promise<number> {
  if (!context.flags.has("attach")) return 0;
  const attach = (await import("../commands/attach.ts")).command;
  return (await attach.run({ ...context, args: [name] })) ?? 0;
}
