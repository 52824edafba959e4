import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

/** The named workspace, or else the one of this directory. */
export function workspaceRef(context: Context, verb: string): string {
  const [ref, ...more] = context.args;
  if (more.length > 0)
    throw new HoldfastError("usage", `unexpected argument ${JSON.stringify(more[0])}`, {
      hint: `see: holdfast workspace ${verb} --help`,
    });
  return ref ?? process.cwd();
}
