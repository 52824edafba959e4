import type { Digest } from "@holdfast/contract/digest/digest";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import { lookForMail } from "../message/mail-note.ts";
import { again, block } from "../session/digest-text.ts";
import { tellLooked, tellViewed } from "../session/viewed.ts";
import { color } from "../text/color.ts";
import { parseSince } from "../text/since.ts";

export const command: Command = {
  name: "digest",
  summary: "show what happened since you last looked",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  usage: "[NAME] [--since 2h | --again]",
  description:
    "For one session: turns and answers, messages, approvals, problems, restarts, commits and changed files. Without a name: a summary of each session that has news or waits for you, waiting sessions first.\n\nReading the digest on a terminal counts as looking, as do attach and logs. The next digest starts there; --again repeats the last one.",
  flags: {
    since: { value: "TIME", summary: "start at this time, whoever looked: 10m, 2h, 14:30, 2026-11-15", complete: "nothing" },
    again: { summary: "repeat the news you saw last" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast digest", "summarize the sessions with news"],
    ["holdfast digest api", "show one session, with commits and files"],
    ["holdfast digest api --again", "show in full what the list or attach summarized"],
    ["holdfast digest api --since 2h --json", "print the last two hours, for a script"],
  ],
  pages: () => true,
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "expected at most one session", { hint: "usage: holdfast digest [NAME]" });
    const text = context.flags.text("since");
    const since = text === undefined ? undefined : parseSince(text, "--since");
    const isAgain = context.flags.has("again");
    if (isAgain && since !== undefined) throw new HoldfastError("usage", "--since and --again cannot be used together");
    if (isAgain && name === undefined)
      throw new HoldfastError("usage", "--again needs a session", { hint: "holdfast digest NAME --again" });
    const code = await (name === undefined ? all(context, since) : one(context, name, { since, again: isAgain }));
    await lookForMail(context);
    return code;
  },
};

async function one(context: Context, ref: string, how: { since: string | undefined; again: boolean }): Promise<number> {
  const digest = await context.client.call("getDigest", { params: { ref }, query: how });
  if (context.json) {
    process.stdout.write(`${JSON.stringify(digest)}\n`);
    return 0;
  }
  process.stdout.write(`${block(digest, { now: Date.now(), width: process.stdout.columns, full: true }).join("\n")}\n`);
  if (!digest.news && digest.since.why === "looked") process.stdout.write(`${color("dim", `  what was new then: ${again(digest)}`)}\n`);
  await tellSeen(context, digest);
  return 0;
}

async function all(context: Context, since: string | undefined): Promise<number> {
  const { digests, more } = await context.client.call("listDigests", { query: { since } });
  if (context.json) {
    process.stdout.write(`${JSON.stringify({ digests, more })}\n`);
    return 0;
  }
  const options = { now: Date.now(), width: process.stdout.columns, full: false };
  const blocks = digests.map((digest) => block(digest, options).join("\n"));
  if (more > 0) blocks.push(color("dim", `and ${more} more; show one: holdfast digest NAME`));
  else if (digests.length > 0 && since === undefined && process.stdout.isTTY)
    blocks.push(color("dim", "show one in full: holdfast digest NAME --again"));
  process.stdout.write(blocks.length === 0 ? "Nothing new.\n" : `${blocks.join("\n\n")}\n`);
  await Promise.all(digests.map((digest) => tellSeen(context, digest)));
  return 0;
}

async function tellSeen(context: Context, { session, upTo, work }: Digest): Promise<void> {
  await tellLooked(context, session.id, { upTo, ...(work ? { head: work.head } : {}) });
  if (session.endedAt !== null && session.viewedAt === null) await tellViewed(context, session.id);
}
