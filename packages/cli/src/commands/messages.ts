import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message";
import { color } from "../color.ts";
import type { Command, Context } from "../command.ts";
import { formatDuration } from "../duration.ts";
import { plain } from "../plain.ts";
import { cut, widthOf } from "../table.ts";

export const command: Command = {
  name: "messages",
  summary: "what was said to agents, and how far it has come",
  usage: "[NAME | cancel ID]",
  description:
    "The newest hundred, oldest first. queued waits for its turn; injected: the agent has it; turn started: it works on it; replied; failed\nsays why. cancel takes back one that is queued.",
  flags: {},
  arguments: "messages",
  examples: [
    ["holdfast messages", "to all sessions"],
    ["holdfast messages demo --json", "to one, with texts and answers"],
    ["holdfast messages cancel k7f2m9q4xw", "one that is still queued"],
  ],
  async run(context) {
    const [first, second, ...more] = context.args;
    if (more.length > 0 || (second !== undefined && first !== "cancel")) {
      throw new HoldfastError("usage", "say NAME, or cancel ID", { hint: "see: holdfast messages --help" });
    }
    return first === "cancel" && second !== undefined ? cancel(context, second) : list(context, first);
  },
};

async function cancel(context: Context, id: string): Promise<number> {
  const message = await context.client.call("cancelMessage", { params: { id } });
  process.stdout.write(context.json ? `${JSON.stringify(message)}\n` : `${id} to ${plain(message.name)} was taken back\n`);
  return 0;
}

async function list(context: Context, session: string | undefined): Promise<number> {
  const { messages } = await context.client.call("listMessages", { query: { session } });
  if (context.json) process.stdout.write(`${JSON.stringify(messages)}\n`);
  else process.stdout.write(messages.length === 0 ? "No messages.\n" : `${table(messages, process.stdout.columns).join("\n")}\n`);
  return 0;
}

const HEADS = ["ID", "TO", "STATE", "AGE", "TEXT"];

function table(messages: readonly Message[], width = Number.POSITIVE_INFINITY): string[] {
  const rows = messages.map(({ id, name, state, queuedAt, text, why, settled }) => [
    id,
    plain(name),
    state.replace("_", " "),
    formatDuration(Math.max(0, Date.now() - Date.parse(queuedAt))),
    plain(text.trim().split("\n")[0] ?? "") +
      (why !== null && (state === "queued" || state === "failed" || settled) ? ` (${plain(why)})` : ""),
  ]);
  const widths = HEADS.map((head, i) => Math.max(head.length, ...rows.map((row) => widthOf(row[i] ?? ""))));
  const line = (row: readonly string[]) =>
    cut(row.map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat((widths[i] ?? 0) - widthOf(cell)))).join("  "), width);
  return [color("dim", line(HEADS)), ...rows.map(line)];
}
