import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message/message";
import { newId } from "@holdfast/contract/new-id";
import { shellWord } from "@holdfast/platform/shell";
import { sendOnce } from "@holdfast/sdk/messages";
import type { Command, Context, Flags } from "../command.ts";
import { insist } from "../connection/insist.ts";
import { readInput } from "../console/read-input.ts";
import { outcome, receipt, stateOf } from "../message/text.ts";
import { typedLines } from "../message/typed.ts";
import { waitFor } from "../message/wait-for.ts";
import { someDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

/** A ready agent accepts typed text within this time. */
const SOON_MS = 700;
/** And its turn begins within this time. */
const TURN_MS = 2500;

export const command: Command = {
  name: "send",
  summary: "send a message to an agent, or type into a session",
  section: "Send and answer",
  onlyPrints: true,
  follows: ({ flags }) => flags.has("wait"),
  usage:
    "NAME TEXT|- | --to PERSON TEXT|- [--reply-to ID] [--expires 10m] [--wait [--timeout 5m]] [--steer] [--no-wait] [--no-enter] [--force]",
  description:
    "A message to an agent is queued. Holdfast delivers it once, when the agent's turn has ended, no question is open and nobody is typing there, and verifies the delivery. The command prints the message's state; holdfast messages lists all messages. --wait prints the answer.\n\nAny other session gets the text typed at once, then Enter. The text arrives in one piece, as a paste if the program supports pastes. Several lines for a program without paste support are refused, because it would run each line as a command. Input of several senders is never mixed.\n\nA person (--to) reads messages with holdfast messages --mine. An agent can send to its parent, its children, its group peers and to persons; its messages are marked as an agent's. --reply-to alone answers the sender of that message.",
  flags: {
    to: { value: "PERSON", summary: "to a person: user:NAME, token:NAME, or owner (of this session or home)", complete: "nothing" },
    "reply-to": { value: "ID", summary: "reply to this message; without NAME, to its sender", complete: "nothing" },
    expires: { value: "TIME", summary: "drop the message if it is not delivered within this time", complete: "nothing" },
    wait: { summary: "wait for the answer and print it" },
    timeout: { value: "TIME", summary: "with --wait: time limit (default: none)", complete: "nothing" },
    steer: { summary: "deliver during the agent's turn instead of after it" },
    "no-wait": { summary: "queue the message and return" },
    "no-enter": { summary: "type the text now, regardless of the screen, without Enter" },
    force: { summary: "type the text now, regardless of the screen; allows several lines without paste support" },
  },
  arguments: "sessions",
  takesRest: true,
  instead: { group: (argv) => asGroupSend(argv, "--group"), coordinator: (argv) => asGroupSend(argv, "--coordinator") },
  examples: [
    ["holdfast send demo 'fix the login bug'", "send a prompt"],
    ["holdfast send demo 'fix the login bug' --wait --timeout 10m", "send a prompt and print the answer"],
    ["holdfast send demo 'use the old API' --steer", "send during the agent's turn"],
    ["holdfast send demo - < prompt.md", "send standard input"],
    ["holdfast send --to owner 'which database?'", "ask the owner; they read it with holdfast messages --mine"],
    ["holdfast send --reply-to k7f2m9q4xw 'the old one'", "reply to a message"],
    ["holdfast send demo 'lunch menu: soup' --expires 2h", "drop the message after two hours"],
    ["holdfast send demo -- '- a list'", "send a text that starts with a dash"],
    ["holdfast send sh 'rm -i x' --no-enter", "type a command for review before Enter"],
  ],
  async run(context) {
    const { flags } = context;
    const words = [...context.args, ...context.rest];
    const [person, replyTo] = [flags.text("to"), flags.text("reply-to")];
    const isNamed = person === undefined && (replyTo === undefined || words.length > 1);
    const [ref, given, ...more] = isNamed ? words : [undefined, ...words];
    if ((isNamed && ref === undefined) || given === undefined || more.length > 0) {
      throw new HoldfastError("usage", isNamed ? "expected a session and one text" : "--to takes only the text", {
        hint:
          more.length > 0 && given !== undefined
            ? `quote the text: holdfast send ${[...(ref === undefined ? addressed(flags) : [ref]), [given, ...more].join(" ")].map(shellWord).join(" ")}`
            : "usage: holdfast send NAME 'TEXT', or - for standard input",
      });
    }
    if (flags.text("timeout") !== undefined && !flags.has("wait"))
      throw new HoldfastError("usage", "--timeout has no effect without --wait", { hint: "add --wait" });
    if (flags.has("wait") && flags.has("no-wait")) throw new HoldfastError("usage", "--wait and --no-wait cannot be used together");
    const raw = flags.has("no-enter") || flags.has("force");
    const receipts = ["to", "reply-to", "expires", "wait", "timeout", "steer", "no-wait"].filter((name) => isSet(flags, name));
    if (raw && receipts.length > 0) {
      throw new HoldfastError("usage", `--${receipts[0]} applies to messages; typed input has no receipts`, {
        hint: "omit --no-enter and --force",
      });
    }
    const text = given === "-" ? (await readInput()).replace(/\r?\n$/, "") : given;
    if (raw) return type(context, ref ?? "", text);
    const to = ref === undefined ? await addressee(context, { person, replyTo }) : { session: ref };
    return "person" in to ? leave(context, to.person, text) : say(context, to.session, text);
  },
};

function asGroupSend(argv: readonly string[], flag: "--group" | "--coordinator"): string[] {
  const words = argv.flatMap((word) => (word.startsWith(`${flag}=`) ? [flag, word.slice(flag.length + 1)] : [word]));
  const at = words.indexOf(flag);
  const group = words[at + 1] === "--" ? "GROUP" : (words[at + 1] ?? "GROUP");
  const isOther = words.some((word) => /^--(to|reply-to|no-wait|no-enter|force)(=|$)/.test(word) || word === "--");
  if (isOther) return ["group", "send", group, ...(flag === "--group" ? [] : [flag]), "TEXT"];
  return ["group", "send", group, ...(flag === "--group" ? [] : [flag]), ...words.toSpliced(at, 2)];
}

/** The flag that names the recipient, as written. */
function addressed(flags: Flags): string[] {
  return ["to", "reply-to"].flatMap((name) => {
    const value = flags.text(name);
    return value === undefined ? [] : [`--${name}`, value];
  });
}

function isSet(flags: Flags, name: string): boolean {
  return flags.has(name) || flags.text(name) !== undefined;
}

/** The recipient: the given person, or the sender of the message being answered. */
async function addressee(
  { client }: Context,
  { person, replyTo = "" }: { person: string | undefined; replyTo: string | undefined },
): Promise<{ session: string } | { person: string }> {
  if (person !== undefined) return { person };
  const { from } = await client.call("getMessage", { params: { id: replyTo } });
  const session = /^session:(.+)$/.exec(from)?.[1];
  return session === undefined ? { person: from } : { session };
}

function saidWith({ flags }: Context) {
  const expires = flags.text("expires");
  return {
    id: newId(),
    replyTo: flags.text("reply-to"),
    expiresMs: expires === undefined ? undefined : someDuration(expires, "--expires"),
  };
}

/** Sends to a person, who reads the message later. */
async function leave(context: Context, person: string, text: string): Promise<number> {
  if (text.trim() === "") throw new HoldfastError("usage", `the message to ${plain(person)} is empty`);
  if (context.flags.has("steer")) throw new HoldfastError("usage", "--steer does not apply to a person");
  const body = { text, ...saidWith(context) };
  const message = await insist(() => context.client.call("sendToPerson", { params: { person }, body }));
  if (context.flags.has("wait")) return waitFor(context, message);
  process.stdout.write(context.json ? `${JSON.stringify(message)}\n` : `${stateOf(message)}\n`);
  return 0;
}

async function say(context: Context, ref: string, text: string): Promise<number> {
  if (text.trim() === "") return enter(context, ref, text);
  const { flags, client, json } = context;
  const body = { text, steer: flags.has("steer"), ...saidWith(context) };
  const { session, message, typed } = await sendOnce(client, ref, body);
  if (!message) {
    const name = session?.name ?? ref;
    if (typed && session) tellTyped(context, session, typed);
    if (!flags.has("wait")) return 0;
    throw new HoldfastError("message_unknown", `${plain(name)} does not report its turns, so --wait cannot get an answer`, {
      hint: `show its screen: holdfast screen ${name}`,
    });
  }
  if (flags.has("wait")) return waitFor(context, message);
  const now = flags.has("no-wait") ? message : await soon(context, message);
  process.stdout.write(json ? `${JSON.stringify(now)}\n` : `${receipt(now, session ?? UNSEEN)}\n`);
  if (now.state === "failed") throw outcome(now);
  return 0;
}

/** Stands in for a session that the reply did not include. */
const UNSEEN = { status: "unknown", statusAt: null } as const;

/** Refuses an empty message: an agent may take Enter for a yes, and the cause is most likely an empty variable or file. */
async function enter(context: Context, ref: string, text: string): Promise<number> {
  const session = await context.client.call("getSession", { params: { ref } });
  if (session.kind === "shell") return type(context, ref, text);
  throw new HoldfastError("usage", `the message to ${plain(session.name)} is empty`, {
    hint: `to press Enter: holdfast keys ${session.name} Enter`,
  });
}

async function soon({ client }: Context, { id }: Message): Promise<Message> {
  const now = await client.call("getMessage", { params: { id }, query: { until: "injected", waitMs: SOON_MS } });
  if (now.state === "queued") return now;
  return client.call("getMessage", { params: { id }, query: { until: "turn_started", waitMs: TURN_MS } });
}

async function type(context: Context, ref: string, text: string): Promise<number> {
  const body = { text, enter: !context.flags.has("no-enter"), force: context.flags.has("force") };
  const { session, ...typed } = await context.client.call("sendText", { params: { ref }, body });
  tellTyped(context, session, typed);
  return 0;
}

function tellTyped(
  { json }: Context,
  session: { name: string },
  { bytes, pasted, waitingBytes }: { bytes: number; pasted: boolean; waitingBytes: number | null },
): void {
  const done = `${bytes} ${bytes === 1 ? "byte" : "bytes"} ${pasted ? "pasted" : "typed"} into ${plain(session.name)}`;
  const lines = typedLines({ done, name: session.name, bytes, waiting: waitingBytes });
  process.stdout.write(json ? `${JSON.stringify({ ...session, bytes, pasted, waitingBytes })}\n` : lines);
}
