/** Commands with verbs: `workspace merge fix-login`. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";

/** The chosen verb, and its arguments. Without a verb, help is about the whole command. */
export async function chooseVerb(command: Command, argv: readonly string[]): Promise<{ command: Command; argv: readonly string[] }> {
  const verbs = command.verbs ?? {};
  // `--json` before the verb belongs to the verb.
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
