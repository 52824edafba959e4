import type { ConfiguredValue } from "@holdfast/contract/configuration/configured";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../../command.ts";
import { configure, inToml } from "../../config/configure.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "config get",
  summary: "print one setting, or all settings of a table",
  usage: "KEY",
  description:
    "Prints the value that applies: your own, the project's, or the default. Exits with 1 when the key is not set and has no default.",
  arguments: "nothing",
  onlyReads: true,
  examples: [
    ["holdfast config get prune.age", "print one setting"],
    ["holdfast config get prune", "print every setting of a table"],
    ["holdfast config get prune.age --json", "include where the setting comes from"],
  ],
  async run(context) {
    const [key, ...more] = context.args;
    if (key === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one key", { hint: "usage: holdfast config get KEY" });
    const { values = [], known = [] } = configure({ do: "show" });
    const one = values.find((each) => each.key === key);
    if (one) return print(context.json, one);
    const below = values.filter((each) => each.key.startsWith(`${key}.`));
    if (below.length > 0) {
      const lines = below.map((each) => `${plain(each.key)} = ${plain(inToml(each.value))}`).join("\n");
      process.stdout.write(context.json ? `${JSON.stringify(below)}\n` : `${lines}\n`);
      return 0;
    }
    if (known.some((each) => fits(each, key))) return print(context.json, { key, value: null, source: "default", file: null, line: null });
    throw new HoldfastError("usage", `${key} is not a setting`, {
      hint: "see every key: holdfast config show, docs/reference/configuration.md",
      candidates: known.filter((each) => each.split(".").at(-1) === key.split(".").at(-1)).slice(0, 5),
    });
  },
};

function print(json: boolean, value: ConfiguredValue): number {
  const isSet = value.value !== null;
  if (json) process.stdout.write(`${JSON.stringify(value)}\n`);
  else if (isSet) process.stdout.write(`${typeof value.value === "string" ? plain(value.value) : plain(inToml(value.value))}\n`);
  else process.stderr.write(`holdfast: ${plain(value.key)} is not set\n`);
  return isSet ? 0 : 1;
}

/** Matches `agents.NAME.command` with `agents.mine.command`. */
function fits(known: string, key: string): boolean {
  const [names, given] = [known.split("."), key.split(".")];
  return names.length === given.length && names.every((name, i) => name === "NAME" || name === "MODEL" || name === given[i]);
}
