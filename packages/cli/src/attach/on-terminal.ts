/** Attaches this terminal to a session, and from there to the next one that waits. */
import type { Socket } from "node:net";
import type { Digest } from "@holdfast/contract/digest/digest";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { nextWaiting } from "@holdfast/contract/session/waiting";
import type { AttachPlan } from "@holdfast/contract/terminal/endpoints";
import type { Context } from "../command.ts";
import { remoteUrl } from "../connection/running.ts";
import { waitsFor } from "../session/status-text.ts";
import { newsOf, tellLooked } from "../session/viewed.ts";
import { plain } from "../text/plain.ts";
import { thisTerminal } from "./this-terminal.ts";

/** Most lines of news, besides the one that says since when. */
const MOST_NEWS = 5;

/** Opens the conversation on this terminal, as `chat NAME` does. The flags of this command were for its start. */
export async function talkTo(context: Context, ref: string): Promise<number> {
  const { talk } = await import("../repl/repl.ts");
  return talk(context, { existing: ref, orAgent: false, asItIs: true, args: [] });
}

/** Replaces this process with the plan's client, or attaches to the holder. */
export async function follow(context: Context, plan: AttachPlan, digest?: Digest): Promise<number> {
  await tellNews(context, plan.session.id, digest);
  if (plan.socket !== null) return attachNative(context, plan, plan.socket);
  if (plan.command === null) return 0;
  // Without TMUX set, tmux allows nesting.
  const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = process.env;
  const [file = "", ...args] = plan.session.host === "foreign" ? whereItIs(plan.command) : plan.command;
  process.stdout.write(greeting(plan));
  const { usableTerm } = await import("../console/terminal-type.ts");
  process.execve?.(file, [file, ...args], { ...env, TERM: usableTerm(process.env) });
  throw new HoldfastError("internal", "cannot become the session's client on this platform");
}

/** Inside the agent's own tmux server, switches this client instead of attaching: a session cannot be shown inside itself. */
function whereItIs(command: string[]): string[] {
  const [program = "", utf8 = "", flag = "", socket = "", , ...rest] = command;
  const isInside = process.env.TMUX?.split(",")[0] === socket;
  return isInside ? [program, utf8, flag, socket, "switch-client", "-t", rest.at(-1) ?? ""] : command;
}

/** Prints news before the session takes over the screen, where it stays readable after detaching. */
async function tellNews(context: Context, id: string, digest: Digest | undefined): Promise<void> {
  // A digest that could not be read now is shown next time.
  if (!digest) return;
  if (digest.news) {
    const { again, drawn, newsLines, sinceText } = await import("../session/digest-text.ts");
    const all = newsLines(digest);
    const rest = { text: `… ${all.length - MOST_NEWS + 1} more lines: ${again(digest)}` };
    const lines = all.length > MOST_NEWS ? [...all.slice(0, MOST_NEWS - 1), rest] : all;
    const shown = lines.map((line) => drawn(line, process.stderr.columns, process.stderr));
    // The start of the session alone is not news.
    if (shown.length > 0) process.stderr.write(`${[`${sinceText(digest, Date.now())}:`, ...shown].join("\n")}\n`);
  }
  await tellLooked(context, id, { upTo: digest.upTo, head: digest.work?.head ?? null });
}

function greeting({ session: { name, host }, driver, detachKey }: AttachPlan): string {
  const instead = driver === null ? "" : `${driver} drives; you are watching (request control: holdfast control request ${name}); `;
  const leave = host === "foreign" ? "in your own tmux; detach with its keys" : `${detachKey} detaches`;
  return `${plain(`attaching to ${name}; ${instead}${leave}`)}\n`;
}

/** Attaches through the daemon at `url`, for a session whose keeper cannot be reached directly. */
export async function attachThrough(
  context: Context,
  url: string,
  asked: { ref: string; readOnly: boolean; take: boolean },
): Promise<number> {
  const digest = await newsOf(context, asked.ref);
  const { openTerminal } = await import("./remote-terminal.ts");
  const { socket, plan } = await openTerminal(url, asked);
  await tellNews(context, plan.session.id, digest);
  return attachNative(context, plan, socket);
}

async function attachNative(context: Context, plan: AttachPlan, socket: string | Socket): Promise<number> {
  process.stdout.write(greeting(plan));
  const { attachToHolder } = await import("./holder-attach.ts");
  const readOnly = plan.role === "observer";
  const end = await attachToHolder({ ...plan, socket, readOnly, title: plan.session.name });
  // A person who detaches by a key has seen the news. After a lost terminal that is uncertain.
  if (end.how === "left" || end.how === "next") await tellLooked(context, plan.session.id);
  if (end.how === "next") return attachNext(context, { current: plan.session, readOnly: readOnly && plan.driver === null });
  const how = { left: "detached; it keeps running", detached: "detached; it keeps running", lost: "lost its holder; see holdfast show" };
  process.stdout.write(`${plan.session.name}: ${end.how === "ended" ? await endOf(end) : how[end.how]}\n`);
  return 0;
}

/** Older holders report neither status nor signal. */
async function endOf({ status, signal }: { status: string | undefined; signal: string | undefined }): Promise<string> {
  if (status) return `ended with exit code ${status}`;
  if (!signal) return "ended";
  const { constants } = await import("node:os");
  return `was ended by ${Object.entries(constants.signals).find(([, number]) => number === Number(signal))?.[0] ?? `signal ${signal}`}`;
}

/** Attaches a terminal that was on a native session. */
async function attachNext(context: Context, { current, readOnly }: { current: Session; readOnly: boolean }): Promise<number> {
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

/** `failed`: includes sessions with a failure that nobody has viewed. */
export async function chooseNext(context: Context, current: string | undefined, failed = false): Promise<Session> {
  const { sessions } = await context.client.call("listSessions", { query: failed ? { unseen: true } : {} });
  const idle = context.flags.has("idle");
  const next = nextWaiting(sessions, { current, idle, failed });
  if (next) return next;
  const other = sessions.some(({ id }) => id === current) ? "no other session" : "no session";
  throw new HoldfastError("nothing_waits", `${other} is waiting for a person`, {
    hint: idle ? "list all sessions: holdfast ls" : "include idle sessions: holdfast next --idle",
  });
}

export async function attachTo(
  context: Context,
  next: Session,
  { readOnly, from }: { readOnly: boolean; from: string | null },
): Promise<number> {
  if (next.kind === "conversation") return talkTo(context, next.id);
  const url = remoteUrl();
  if (url !== undefined) return attachThrough(context, url, { ref: next.id, readOnly, take: false });
  const plan = await context.client.call("attachSession", { params: { ref: next.id }, body: { readOnly, from, client: thisTerminal() } });
  if (plan.switched) return 0;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new HoldfastError("not_a_terminal", "next needs a terminal", { hint: "print the session instead: holdfast next --json" });
  }
  const why = next.attention ? ` is waiting for ${waitsFor(next, Date.now())}` : ` is ${next.status}`;
  process.stdout.write(`${plain(next.name)}${why}\n`);
  return follow(context, plan, await newsOf(context, next.id));
}
