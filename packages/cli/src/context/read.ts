import { resolve } from "node:path";
import type { WorkingContext } from "@holdfast/contract/context/context";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

export type Target = { of: string } | { directory: string };

/** The named session or workspace, or else this directory. */
export function targetOf(name: string | undefined): Target {
  return name === undefined ? { directory: resolve(".") } : { of: name };
}

/** Throws if there is no Working Context. */
export async function readContext({ client }: Context, name: string | undefined): Promise<WorkingContext> {
  const found = await client.call("getContext", { query: targetOf(name) });
  if (found.exists) return found;
  throw new HoldfastError("context_not_found", `there is no Working Context in ${found.root}`, {
    hint: `create one: holdfast context edit background${name === undefined ? "" : ` ${name}`}`,
  });
}

export function tooMany(verb: string, word: string | undefined): HoldfastError {
  return new HoldfastError("usage", `unexpected argument ${JSON.stringify(word)}`, { hint: `see: holdfast context ${verb} --help` });
}
