import type { Socket } from "node:net";
import type { Digest } from "@holdfast/contract/digest/digest";
import { HoldfastError } from "@holdfast/contract/errors";
import type { AttachPlan } from "@holdfast/contract/terminal/endpoints";
import { thisTerminal } from "../attach/this-terminal.ts";
import type { Command, Context } from "../command.ts";
import { remoteUrl } from "../connection/connect.ts";
import { oneName } from "../session/select.ts";
import { newsOf, tellLooked } from "../session/viewed.ts";
import { plain } from "../text/plain.ts";

/** Most lines of news, besides the one that says since when. */
const MOST_NEWS = 5;

export const command: Command = {
  name: "attach",
  showsTerminal: true,
  summary: "attach to a session; Ctrl+\\ detaches and leaves it running",
  stops: true,
  section: "Attach to a session",
  usage: "NAME [--read-only | --take]",
  description:
    "Your terminal connects to the session directly; Holdfast does not sit between your keys and the program. Several terminals can be attached at once. One of them drives: its input reaches the program, and the session has its size. The others watch. When the driver leaves, the terminal that has been attached longest drives; see holdfast control.\n\nInside a session, attach moves the session's terminal to one of its children. HOLDFAST_AS=owner holdfast attach NAME moves it to any session, as yourself.",
  flags: {
    "read-only": { summary: "watch only: your input is ignored, and your window does not resize the session", short: "r" },
    take: { summary: "drive, even if another terminal does; for your own sessions, and for owners" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast attach demo", "attach; Ctrl+\\ detaches"],
    ["holdfast attach demo --read-only", "watch only"],
    ["holdfast attach demo --take", "take over from the current driver"],
  ],
  async run(context) {
    const ref = (await comingBack(context)) ?? oneName(context, "attach NAME");
    const readOnly = context.flags.has("read-only");
    const take = context.flags.has("take");
    if (readOnly && take) throw new HoldfastError("usage", "--read-only and --take cannot be used together");
    // A terminal that was moved here from another session is the one to attach, even if it runs inside a session itself.
    const from = process.env.HOLDFAST_MOVED ? null : (process.env.HOLDFAST_RUN ?? null);
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (!hasTerminal && !context.json) {
      throw new HoldfastError("not_a_terminal", "attach needs a terminal", { hint: `read the output: holdfast logs ${ref}` });
    }
    const url = remoteUrl();
    if (url !== undefined && context.json) {
      throw new HoldfastError("usage", `attach --json works only on the session's own machine, and this daemon is ${url}`, {
        hint: "omit --json to attach through that daemon",
      });
    }
    if (url !== undefined) return attachThrough(context, url, { ref, readOnly, take });
    const attaching = context.client.call("attachSession", {
      params: { ref },
      body: { readOnly, take, from: context.json ? null : from, ...(context.json ? {} : { client: thisTerminal() }) },
    });
    if (context.json) {
      process.stdout.write(`${JSON.stringify(await attaching)}\n`);
      return 0;
    }
    const [plan, digest] = await Promise.all([attaching.catch(inConversation), newsOf(context, ref)]);
    return plan ? follow(context, plan, digest) : talkTo(context, ref);
  },
};

/** A session without a terminal is opened as a conversation. */
function inConversation(error: unknown): undefined {
  if (!(error instanceof HoldfastError) || error.code !== "has_no_terminal") throw error;
}

/** Opens the conversation on this terminal, as `chat NAME` does. */
export async function talkTo(context: Context, ref: string): Promise<number> {
  const { talk } = await import("../repl/repl.ts");
  return talk(context, { existing: ref, orAgent: false, args: [] });
}

/** After a dropped ssh connection, returns the session that this terminal was attached to. */
async function comingBack(context: Context): Promise<string | undefined> {
  const { HOLDFAST_ATTACHMENT: mark, HOLDFAST_REATTACH: isBack } = process.env;
  return mark && isBack ? (await import("../far/where-it-was.ts")).whereItWas(context, mark) : undefined;
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
  const { openTerminal } = await import("../attach/remote-terminal.ts");
  const { socket, plan } = await openTerminal(url, asked);
  await tellNews(context, plan.session.id, digest);
  return attachNative(context, plan, socket);
}

async function attachNative(context: Context, plan: AttachPlan, socket: string | Socket): Promise<number> {
  process.stdout.write(greeting(plan));
  const { attachToHolder } = await import("../attach/holder-attach.ts");
  const readOnly = plan.role === "observer";
  const end = await attachToHolder({ ...plan, socket, readOnly, title: plan.session.name });
  // A person who detaches by a key has seen the news. After a lost terminal that is uncertain.
  if (end.how === "left" || end.how === "next") await tellLooked(context, plan.session.id);
  if (end.how === "next")
    return (await import("./next.ts")).attachNext(context, { current: plan.session, readOnly: readOnly && plan.driver === null });
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
