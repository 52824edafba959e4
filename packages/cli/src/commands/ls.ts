import { counted } from "@holdfast/platform/units";
import { type Command, type Context, SELECTION_FLAGS } from "../command.ts";
import { tellMail } from "../message/mail-note.ts";
import { listTree } from "../session/list-tree.ts";
import { inOrder } from "../session/order.ts";
import { selectionOf, warnOfUnknownAgents } from "../session/select.ts";
import { sessionTable } from "../session/table.ts";

export const command: Command = {
  name: "ls",
  summary: "list sessions",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  follows: ({ flags }) => flags.has("watch"),
  endsAtOnce: true,
  usage: "[NAME…] [--all] [--status S] [--agent A] [--tree] [--wide] [--watch]",
  description:
    "Lists running sessions, and failed sessions that nobody has viewed since (attach, show, logs, transcript, chat, digest). Sessions that wait for you come first, then failed ones. ABOUT shows the objective, else the first prompt, else the command. --all adds ended sessions and, on a wide terminal, the path of each recording.\n\n  working  the agent has a turn\n  waiting  the agent needs you: an approval, an answer, a login\n  idle     the agent waits for a prompt\n  unknown  there is no evidence yet; see holdfast explain\n  done     the program ended with success\n  failed   the program ended with an error\n  stopped  somebody stopped the session\n  lost     the session's keeper ended, for example in a reboot; see holdfast restore\n\nA session with a restart policy shows when it restarts, or that Holdfast gave up.",
  flags: {
    ...SELECTION_FLAGS,
    all: { summary: "include sessions that have ended", short: "a" },
    wide: { summary: "show CPU, memory, processes, tokens, cost, pid and id", short: "l" },
    tree: { summary: "show sessions below the session that started them; with NAME, only its descendants" },
    watch: { summary: "keep running and show changes as they happen", short: "w" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast ls", "list running sessions"],
    ["holdfast ls --all --json", "print everything, for a script"],
    ["holdfast ls --status failed,lost", "list sessions that need attention"],
    ["holdfast ls --tree", "show which session started which"],
    ["holdfast ls --wide --watch", "watch the resource usage"],
  ],
  async run(context) {
    const query = { ...selectionOf(context), usage: context.flags.has("wide"), unseen: true };
    if (context.flags.has("tree") && !context.flags.has("watch")) return tree(context, query);
    if (context.flags.has("watch")) return (await import("../session/watch.ts")).watchSessions(context, query);
    const { sessions, unread } = await context.client.call("listSessions", { query });
    process.stdout.write(`${context.json ? JSON.stringify(sessions) : render(inOrder(sessions), context)}\n`);
    if (query.agent) await warnOfUnknownAgents(context, sessions);
    if (!context.json && !query.all && sessions.every(({ endedAt }) => endedAt !== null)) await tellLost(context);
    if (!context.json) tellMail(unread);
    return 0;
  },
};

async function tree(context: Context, query: ReturnType<typeof selectionOf> & { usage: boolean }): Promise<number> {
  const { sessions, branches } = await listTree(context, query);
  process.stdout.write(`${context.json ? JSON.stringify(sessions) : render(sessions, context, branches)}\n`);
  if (query.agent) await warnOfUnknownAgents(context, sessions);
  return 0;
}

function render(sessions: Parameters<typeof sessionTable>[0], context: Context, branches?: ReadonlyMap<string, string>): string {
  if (sessions.length > 0)
    return sessionTable(sessions, {
      branches,
      now: Date.now(),
      width: process.stdout.columns,
      outputs: context.flags.has("all"),
      usage: context.flags.has("wide"),
    });
  if (context.flags.list("status").length + context.flags.list("agent").length > 0) return "No session matches.";
  return context.flags.has("all")
    ? "No sessions yet. Start one: holdfast spawn demo"
    : "Nothing is running. Start a session: holdfast spawn demo. List ended sessions: holdfast ls --all";
}

/** Reports lost sessions, the first question after a reboot. */
async function tellLost({ client }: Context): Promise<void> {
  // Without a daemon the list is printed without this hint.
  const lost = (await client.call("status", {}).catch(() => undefined))?.sessions.lost ?? 0;
  if (lost > 0)
    process.stdout.write(
      `${counted(lost, "session")} ran when the machine or the tmux server went down. Bring them back: holdfast restore\n`,
    );
}
