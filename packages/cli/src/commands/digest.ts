import type { Digest } from "@holdfast/contract/digest";
import { HoldfastError } from "@holdfast/contract/errors";
import { color } from "../color.ts";
import type { Command, Context } from "../command.ts";
import { again, block } from "../digest-text.ts";
import { lookForMail } from "../mail-note.ts";
import { parseSince } from "../since.ts";
import { tellLooked, tellViewed } from "../viewed.ts";

export const command: Command = {
  name: "digest",
  summary: "what happened since you last looked",
  onlyReads: true,
  usage: "[NAME] [--since 2h | --again]",
  description:
    "Turns and answers, messages, approvals, problems, restarts, commits and changed files of one session; without a name, of each that has\nnews or waits for you, those that wait first. Reading it on a terminal counts as looking, as do attach and logs: the next one goes on from\nthere, and --again tells once more what was new.",
  flags: {
    since: { value: "TIME", summary: "since then, whoever looked: 10m, 2h, 14:30, 2026-11-15", complete: "nothing" },
    again: { summary: "what was new when you were last told something" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast digest", "who has news"],
    ["holdfast digest api", "of one session, with commits and files"],
    ["holdfast digest api --again", "the whole of what the list or attach told in short"],
    ["holdfast digest api --since 2h --json", "everything of the last two hours, for a script"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (more.length > 0) throw new HoldfastError("usage", "name one session only, or none", { hint: "usage: holdfast digest [NAME]" });
    const text = context.flags.text("since");
    const since = text === undefined ? undefined : parseSince(text, "--since");
    const isAgain = context.flags.has("again");
    if (isAgain && since !== undefined) throw new HoldfastError("usage", "--since or --again, not both");
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
  if (more > 0) blocks.push(color("dim", `and ${more} more; each by name: holdfast digest NAME`));
  else if (digests.length > 0 && since === undefined && process.stdout.isTTY)
    blocks.push(color("dim", "the whole of one: holdfast digest NAME --again"));
  process.stdout.write(blocks.length === 0 ? "Nothing new.\n" : `${blocks.join("\n\n")}\n`);
  await Promise.all(digests.map((digest) => tellSeen(context, digest)));
  return 0;
}

async function tellSeen(context: Context, { session, upTo, work }: Digest): Promise<void> {
  await tellLooked(context, session.id, { upTo, ...(work ? { head: work.head } : {}) });
  if (session.endedAt !== null && session.viewedAt === null) await tellViewed(context, session.id);
}
