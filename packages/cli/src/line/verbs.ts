/** Commands with verbs: `workspace merge fix-login`. */
import { HoldfastError } from "@holdfast/contract/errors";
import { shellWord } from "@holdfast/platform/shell";
import type { Command, Noun } from "../command.ts";

interface Chosen {
  command: Command | Noun;
  argv: readonly string[];
}

/** A flag before the verb would belong to another verb. */
async function refuseLateVerb({ name, verbs = {} }: Command | Noun, argv: readonly string[]): Promise<void> {
  const end = argv.indexOf("--");
  const own = end < 0 ? argv : argv.slice(0, end);
  if (!own[0]?.startsWith("-")) return;
  for (const [at, word] of own.entries()) {
    if (!Object.hasOwn(verbs, word)) continue;
    const { flags = {} } = (await verbs[word]?.())?.command ?? {};
    const before = own[at - 1] ?? "";
    // A word after a flag with a value is that value.
    if (before.startsWith("-") && flags[before.replace(/^--?/, "")]?.value) continue;
    const line = ["holdfast", name, word, ...own.toSpliced(at, 1)].map(shellWord).join(" ");
    throw new HoldfastError("usage", `flags go after the verb ${word}`, { hint: `use: ${line}` });
  }
}

/** The chosen verb, and its arguments. Without a verb, help is about the whole command. */
export async function chooseVerb(command: Command | Noun, argv: readonly string[]): Promise<Chosen> {
  const { verbs } = command;
  if (!verbs) return { command, argv };
  // `--json` before the verb belongs to the verb.
  const at = argv.findIndex((each) => each !== "--json");
  const word = argv[at];
  const isFlag = word === undefined || word.startsWith("-");
  if (isFlag && argv.some((each) => each === "--help" || each === "-h")) return { command, argv: ["--help"] };
  const load = word !== undefined && Object.hasOwn(verbs, word) ? verbs[word] : undefined;
  if (load) return { command: (await load()).command, argv: argv.toSpliced(at, 1) };
  await refuseLateVerb(command, argv);
  if (command.run) return { command, argv };
  const first = Object.values(verbs)[0];
  if (isFlag && first) return { command: (await first()).command, argv };
  throw new HoldfastError("usage", `${command.name} has no verb ${JSON.stringify(word)}`, {
    hint: `see: holdfast ${command.name} --help`,
    candidates: Object.keys(verbs),
  });
}
