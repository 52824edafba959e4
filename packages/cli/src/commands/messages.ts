import { HoldfastError } from "@holdfast/contract/errors";
import type { ReadMessage } from "@holdfast/contract/message/endpoints";
import type { Message } from "@holdfast/contract/message/message";
import { newId } from "@holdfast/contract/new-id";
import type { Command, Context } from "../command.ts";
import { insist } from "../connection/insist.ts";
import { color } from "../text/color.ts";
import { formatDuration, parseDuration } from "../text/duration.ts";
import { cut, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "messages",
  summary: "list messages and their delivery state",
  section: "Send and answer",
  onlyPrints: true,
  usage: "[NAME | --mine [--wait 1m | --peek] | --thread ID]",
  description:
    "Lists the newest hundred messages, oldest first.\n\n  queued        waiting for delivery\n  injected      delivered to the agent\n  turn started  the agent works on it\n  replied       the agent has answered\n  failed        not delivered; the reason follows\n\n--mine prints the messages to you and marks them as read; inside a session, those to the session's agent. A message that was read is not delivered again.",
  flags: {
    mine: { summary: "read your messages" },
    wait: { value: "TIME", summary: "with --mine: wait at most this long for a message", complete: "nothing" },
    peek: { summary: "with --mine: show all messages ever sent to you; mark none as read" },
    thread: { value: "ID", summary: "show the messages of this thread, by the id of the first", complete: "nothing" },
  },
  arguments: "sessions",
  verbs: { cancel: () => import("./messages/cancel.ts") },
  examples: [
    ["holdfast messages", "list all messages you may see"],
    ["holdfast messages demo --json", "list the messages to one session, with texts and answers"],
    ["holdfast messages --mine", "read your messages"],
    ["holdfast messages --mine --wait 10m --json", "wait for a message, in a program"],
    ["holdfast messages cancel k7f2m9q4xw", "withdraw a queued message"],
  ],
  async run(context) {
    const { flags } = context;
    const [session, ...more] = context.args;
    const mine = flags.has("mine");
    if (more.length > 0 || (mine && session !== undefined))
      throw new HoldfastError("usage", "expected NAME, --mine, or cancel ID", { hint: "see: holdfast messages --help" });
    const needsMine = ["wait", "peek"].find((flag) => flags.has(flag));
    if (needsMine !== undefined && !mine) throw new HoldfastError("usage", `--${needsMine} needs --mine`);
    return mine && !flags.has("peek") ? read(context) : list(context, { session, mine, thread: flags.text("thread") });
  },
};

/** Wait of one request; shorter than the time after which a daemon counts as unresponsive. */
const ONE_WAIT_MS = 4000;

async function read(context: Context): Promise<number> {
  const wait = context.flags.text("wait");
  const until = performance.now() + (wait === undefined ? 0 : parseDuration(wait, "--wait"));
  const messages: ReadMessage[] = [];
  for (let more = true; more; ) {
    const waitMs = messages.length > 0 ? 0 : Math.ceil(Math.max(0, Math.min(ONE_WAIT_MS, until - performance.now())));
    // Repeating the request with the same id, after a daemon died, returns the same answer.
    const body = { read: newId(), waitMs };
    const page = await insist(() => context.client.call("readMessages", { body }));
    messages.push(...page.messages);
    more = page.more || (messages.length === 0 && performance.now() < until);
  }
  if (context.json) process.stdout.write(`${JSON.stringify(messages)}\n`);
  else process.stdout.write(messages.length === 0 ? "No messages for you.\n" : `${messages.map(whole).join("\n\n")}\n`);
  const last = messages.at(-1);
  if (last && process.stdout.isTTY) process.stdout.write(color("dim", `reply: holdfast send --reply-to ${last.id} 'TEXT'\n`));
  return 0;
}

function whole({ id, fromName, principal, group, replyTo, queuedAt, text, words }: ReadMessage): string {
  const age = formatDuration(Math.max(0, Date.now() - Date.parse(queuedAt)));
  const about = [`from ${plain(fromName)}`, ...(group === null ? [] : [`to ${plain(group)}`]), `${age} ago`];
  if (replyTo !== null) about.push(`reply to ${replyTo}`);
  // An agent must see that the sender is not the user; for a person the sender is shown above.
  const lines = (principal === null ? words : text).split(/\r?\n/).map((line) => `  ${plain(line.replaceAll("\t", "    "))}`);
  return [color("bold", id) + color("dim", `  ${about.join(", ")}`), ...lines].join("\n");
}

async function list(context: Context, query: { session: string | undefined; mine: boolean; thread: string | undefined }): Promise<number> {
  const { messages } = await context.client.call("listMessages", { query });
  if (context.json) process.stdout.write(`${JSON.stringify(messages)}\n`);
  else process.stdout.write(messages.length === 0 ? "No messages.\n" : `${table(messages, process.stdout.columns).join("\n")}\n`);
  return 0;
}

const HEADS = ["ID", "FROM", "TO", "STATE", "AGE", "TEXT"];

function table(messages: readonly Message[], width = Number.POSITIVE_INFINITY): string[] {
  const rows = messages.map(({ id, fromName, name, state, via, queuedAt, text, why, settled }) => [
    id,
    plain(fromName),
    plain(name),
    state === "injected" && via === "read" ? "read" : state.replace("_", " "),
    formatDuration(Math.max(0, Date.now() - Date.parse(queuedAt))),
    plain(text.trim().split("\n")[0] ?? "") +
      (why !== null && (state === "queued" || state === "failed" || settled) ? ` (${plain(why)})` : ""),
  ]);
  const widths = HEADS.map((head, i) => Math.max(head.length, ...rows.map((row) => widthOf(row[i] ?? ""))));
  const line = (row: readonly string[]) =>
    cut(row.map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat((widths[i] ?? 0) - widthOf(cell)))).join("  "), width);
  return [color("dim", line(HEADS)), ...rows.map(line)];
}
