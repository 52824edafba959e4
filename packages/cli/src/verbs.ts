/** Commands of commands: `workspace merge fix-login`. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "./command.ts";

/** The command that is meant, and what is left of the line for it. Help is about the whole where no verb is said. */
export async function chooseVerb(command: Command, argv: readonly string[]): Promise<{ command: Command; argv: readonly string[] }> {
  const verbs = command.verbs ?? {};
  // Wherever `--json` is, it is for the verb.
  const at = argv.findIndex((each) => each !== "--json");
  const word = argv[at];
  const asksForHelp = word === undefined || word.startsWith("-") ? argv.some((each) => each === "--help" || each === "-h") : false;
  if (asksForHelp) return { command, argv: ["--help"] };
  if (word === undefined || word.startsWith("-")) {
    const first = Object.values(verbs)[0];
    return { command: first ? (await first()).command : command, argv };
  }
  const load = Object.hasOwn(verbs, word) ? verbs[word] : undefined;
  if (load) return { command: (await load()).command, argv: argv.toSpliced(at, 1) };
  throw new HoldfastError("usage", `${command.name} has no verb ${JSON.stringify(word)}`, {
    hint: `see: holdfast ${command.name} --help`,
    candidates: Object.keys(verbs),
  });
}
