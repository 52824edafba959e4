import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../../command.ts";
import { readInput } from "../../console/read-input.ts";
import { ifRevision } from "../../group/arguments.ts";
import { parseExactly } from "../../group/exact-json.ts";
import { plain } from "../../text/plain.ts";

export const command: Command = {
  name: "group share",
  summary: "set a shared value",
  usage: "GROUP KEY JSON|- [--if-revision N] [--text]",
  description:
    "A value is JSON of at most 64 KB; - reads standard input. With --if-revision it is written only if the value still has that revision. Otherwise the exit code is 45, and with --json details.current of the error has the current value. A group has at most 1,000 values.\n\nPut a negative number after --: holdfast group share team n -- -5",
  arguments: "group-keys",
  takesRest: true,
  flags: {
    "if-revision": { value: "N", summary: "write only if the value has this revision; 0: only if the key is new", complete: "nothing" },
    text: { summary: "treat the value as text, not JSON" },
  },
  examples: [
    [`holdfast group share team api '{"port": 3000}'`, "share an object"],
    ["holdfast group share team goal --text 'ship it on Friday'", "share a text"],
    ["holdfast group share team count 5 --if-revision 12", "write only if nobody changed it since"],
    ["holdfast group share team schema - < schema.json", "share the content of a file"],
  ],
  async run(context) {
    const { key, group, text: word } = wordsOf(context);
    const text = word === "-" ? await readInput() : word;
    const value = context.flags.has("text") ? text : parsed(text);
    const shared = await context.client.call("shareValue", { params: { group, key }, body: { value, ifRevision: ifRevision(context) } });
    process.stdout.write(
      context.json ? `${JSON.stringify(shared)}\n` : `${plain(shared.key)} of ${plain(shared.group)} is at revision ${shared.revision}\n`,
    );
    return 0;
  },
};

function wordsOf(context: Context): { group: string; key: string; text: string } {
  // A negative number looks like a flag and must follow --.
  const [group, key, text, ...more] = [...context.args, ...context.rest];
  if (group === undefined || key === undefined || text === undefined || more.length > 0) {
    const what = more.length > 0 ? "the value must be one argument; put it in quotes" : "expected GROUP KEY JSON";
    throw new HoldfastError("usage", what, { hint: `for example: holdfast group share team api '{"port": 3000}'` });
  }
  return { group, key, text };
}

function parsed(text: string): unknown {
  const { value, altered } = read(text);
  if (altered === undefined) return value;
  throw new HoldfastError("usage", `the number ${shortened(altered)} has more digits than JSON keeps`, {
    hint: `share it as text, in quotes: '"${altered.slice(0, 30)}"'`,
  });
}

function read(text: string): ReturnType<typeof parseExactly> {
  try {
    return parseExactly(text);
  } catch (cause) {
    throw new HoldfastError("usage", `${shortened(text)} is not JSON: ${(cause as Error).message.replace(/, ".*/s, "")}`, {
      hint: "add --text to share it as text",
      cause,
    });
  }
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}
