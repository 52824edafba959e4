import { counted } from "@holdfast/platform/units";
import { type Command, type Context, SELECTION_FLAGS } from "../command.ts";
import { listTree } from "../list-tree.ts";
import { tellMail } from "../mail-note.ts";
import { selectionOf } from "../select.ts";
import { sessionTable } from "../table.ts";

export const command: Command = {
  name: "ls",
  summary: "list sessions",
  onlyReads: true,
  usage: "[NAME…] [--all] [--status S] [--agent A] [--tree] [--wide] [--watch]",
  description:
    "Sessions that run, and those that have failed and that nobody has looked at since (attach, show, logs, transcript, chat, digest); with --all also those that have ended, and where each keeps what it printed (on a terminal only if it is wide enough).\n\ndone and failed have ended by themselves, stopped was ended by somebody; lost vanished with its keeper, and show NAME says what to do.\nA session that is to be restarted says when, or that it was given up.",
  flags: {
    ...SELECTION_FLAGS,
    all: { summary: "also those that have ended", short: "a" },
    wide: { summary: "with CPU, memory, processes, tokens and cost of each", short: "l" },
    tree: { summary: "under those that started them; with NAME, all that descends from it" },
    watch: { summary: "stay, and show changes as they happen", short: "w" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast ls", "what runs"],
    ["holdfast ls --all --json", "everything, for a script"],
    ["holdfast ls --status failed,lost", "what needs a look"],
    ["holdfast ls --tree", "who started whom"],
    ["holdfast ls --wide --watch", "what each uses, as it changes"],
  ],
  async run(context) {
    const query = { ...selectionOf(context), usage: context.flags.has("wide"), unseen: true };
    if (context.flags.has("tree") && !context.flags.has("watch")) return tree(context, query);
    if (context.flags.has("watch")) return (await import("../watch-sessions.ts")).watchSessions(context, query);
    const { sessions, unread } = await context.client.call("listSessions", { query });
    process.stdout.write(`${context.json ? JSON.stringify(sessions) : render(sessions, context)}\n`);
    if (!context.json && !query.all && sessions.every(({ endedAt }) => endedAt !== null)) await tellLost(context);
    if (!context.json) tellMail(unread);
    return 0;
  },
};

async function tree(context: Context, query: ReturnType<typeof selectionOf> & { usage: boolean }): Promise<number> {
  const { sessions, branches } = await listTree(context.client, query);
  process.stdout.write(`${context.json ? JSON.stringify(sessions) : render(sessions, context, branches)}\n`);
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
  if (context.flags.list("status").length + context.flags.list("agent").length > 0) return "No session fits.";
  return context.flags.has("all")
    ? "No sessions yet. Start one: holdfast spawn demo"
    : "Nothing runs. Start something: holdfast spawn demo. Ended ones: holdfast ls --all";
}

/** After a reboot it is the first thing that somebody asks. */
async function tellLost({ client }: Context): Promise<void> {
  // Without a daemon nobody answers this; the list stands without the hint.
  const lost = (await client.call("status", {}).catch(() => undefined))?.sessions.lost ?? 0;
  if (lost > 0)
    process.stdout.write(
      `${counted(lost, "session")} ran when the machine, or what kept them, went down. Bring them back: holdfast restore\n`,
    );
}
