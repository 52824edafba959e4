/** Arguments of the group verbs. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

/** Requires the arguments that the usage names: `GROUP KEY`. */
export function given(context: Context, verb: string, usage: string): string[] {
  const wanted = usage.split(" ").length;
  if (context.args.length === wanted) return [...context.args];
  const what = context.args.length > wanted ? `unexpected argument ${JSON.stringify(context.args[wanted])}` : `expected ${usage}`;
  throw new HoldfastError("usage", what, { hint: `see: holdfast group ${verb} --help` });
}

/** The named sessions; without names, inside a run, the run's own session. */
export function sessionsOr(names: readonly string[], own: string | undefined = process.env.HOLDFAST_SESSION): string[] {
  if (names.length > 0) return [...names];
  if (own) return [own];
  throw new HoldfastError("usage", "expected at least one session", { hint: "list them: holdfast ls" });
}

/** Reads `--if-revision N`. */
export function ifRevision(context: Context): number | undefined {
  const text = context.flags.text("if-revision");
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HoldfastError("usage", `--if-revision takes a whole number, not ${JSON.stringify(text)}`, {
    hint: "pass the revision from group get; 0 for a new key",
  });
}
