import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { nextWaiting } from "@holdfast/contract/session/waiting";
import { thisTerminal } from "../attach/this-terminal.ts";
import type { Command, Context } from "../command.ts";
import { remoteUrl } from "../connection/connect.ts";
import { waitsFor } from "../session/status-text.ts";
import { newsOf } from "../session/viewed.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "next",
  summary: "attach to the session that has waited longest",
  section: "Attach to a session",
  usage: "[--idle] [--read-only]",
  description:
    "First come sessions that wait for an approval, an answer, trust or a login, the longest wait first. Then come sessions that hang, then failed sessions that nobody has viewed. For an ended session, the command prints the output of holdfast show.\n\nWhile attached, Ctrl+] moves to the next session. If no session waits, the exit code is 24.",
  flags: {
    idle: { summary: "include sessions that have finished their turn and wait for a prompt" },
    "read-only": { summary: "attach read-only", short: "r" },
  },
  withArgument: (word) => `attach to one session: holdfast attach ${word}`,
  examples: [
    ["holdfast next", "go to the session that needs you"],
    ["holdfast next --json", "print which session that is"],
    ["holdfast next --idle", "include sessions that are idle"],
  ],
  async run(context) {
    const here = process.env.HOLDFAST_RUN?.replace(/-\d+$/, "");
    const next = await chooseNext(context, here, true);
    if (context.json) {
      process.stdout.write(`${JSON.stringify(next)}\n`);
      return 0;
    }
    // An ended session cannot be attached to, so show its result.
    if (next.endedAt !== null && next.restartAt === null) return showEnded(context, next);
    return attachTo(context, next, { readOnly: context.flags.has("read-only"), from: process.env.HOLDFAST_RUN ?? null });
  },
};

/** Attaches a terminal that was on a native session. */
export async function attachNext(context: Context, { current, readOnly }: { current: Session; readOnly: boolean }): Promise<number> {
  let next: Session;
  try {
    next = await chooseNext(context, current.id);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "nothing_waits") throw error;
    // Return to the current session: the key must not detach the terminal.
    next = current;
  }
  return attachTo(context, next, { readOnly, from: null });
}

async function showEnded(context: Context, next: Session): Promise<number> {
  const show = (await import("./show.ts")).command;
  const code = await show.run({ ...context, args: [next.id] });
  const read = next.kind === "conversation" ? "transcript" : "logs";
  const name = plain(next.name);
  process.stdout.write(`\nRead its output: holdfast ${read} ${name}; continue it: holdfast resume ${name}\n`);
  return code ?? 0;
}

/** `failed`: includes sessions with a failure that nobody has viewed. */
async function chooseNext(context: Context, current: string | undefined, failed = false): Promise<Session> {
  const { sessions } = await context.client.call("listSessions", { query: failed ? { unseen: true } : {} });
  const idle = context.flags.has("idle");
  const next = nextWaiting(sessions, { current, idle, failed });
  if (next) return next;
  const other = sessions.some(({ id }) => id === current) ? "no other session" : "no session";
  throw new HoldfastError("nothing_waits", `${other} is waiting for a person`, {
    hint: idle ? "list all sessions: holdfast ls" : "include idle sessions: holdfast next --idle",
  });
}

async function attachTo(context: Context, next: Session, { readOnly, from }: { readOnly: boolean; from: string | null }): Promise<number> {
  if (next.kind === "conversation") return (await import("./attach.ts")).talkTo(context, next.id);
  const url = remoteUrl();
  if (url !== undefined) return (await import("./attach.ts")).attachThrough(context, url, { ref: next.id, readOnly, take: false });
  const plan = await context.client.call("attachSession", { params: { ref: next.id }, body: { readOnly, from, client: thisTerminal() } });
  if (plan.switched) return 0;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new HoldfastError("not_a_terminal", "next needs a terminal", { hint: "print the session instead: holdfast next --json" });
  }
  const why = next.attention ? ` is waiting for ${waitsFor(next, Date.now())}` : ` is ${next.status}`;
  process.stdout.write(`${plain(next.name)}${why}\n`);
  const { follow } = await import("./attach.ts");
  return follow(context, plan, await newsOf(context, next.id));
}
