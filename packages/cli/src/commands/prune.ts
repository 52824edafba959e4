import type { PruneReply, PruneVerdict } from "@holdfast/contract/daemon/upkeep-endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import { sizeBytes } from "@holdfast/platform/units";
import type { Command, Context } from "../command.ts";
import { formatBytes } from "../text/bytes.ts";
import { formatDuration, parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "prune",
  summary: "remove old ended sessions",
  section: "Administration",
  usage: "[--conversations] [--dry-run] [--older-than 7d] [--keep-size 1G] [--yes]",
  description:
    "Removes by the policy in config.toml (ended more than 30d ago, or more than 10G in total), or by the flags. It lists the sessions and asks for confirmation. Running sessions, and ended sessions that nobody has viewed (logs, show), are never removed. Removed sessions cannot be restored.",
  flags: {
    "dry-run": { summary: "print what would be removed, and what stays and why" },
    conversations: { summary: "only conversations, by their own age in the policy (30d)" },
    "older-than": { value: "TIME", summary: "sessions that ended longer ago: 12h, 7d", complete: "nothing" },
    "keep-size": { value: "SIZE", summary: "the oldest, until the rest fits: 500M, 1G", complete: "nothing" },
    yes: { summary: "do not ask for confirmation", short: "y" },
  },
  examples: [
    ["holdfast prune --dry-run", "preview the policy"],
    ["holdfast prune --conversations --dry-run", "list expired conversations"],
    ["holdfast prune --older-than 7d", "list old sessions, ask, and remove them"],
    ["holdfast prune --keep-size 1G --yes", "remove the oldest in a script"],
  ],
  async run(context) {
    if (context.args.length > 0)
      throw new HoldfastError("usage", "prune takes no arguments", { hint: "remove one session: holdfast rm NAME" });
    const wish = { olderThanMs: ageOf(context), keepBytes: sizeOf(context), conversations: context.flags.has("conversations") };
    const isDryRun = context.flags.has("dry-run");
    const isAsked = !isDryRun && !context.flags.has("yes");
    if (isAsked && (context.json || !process.stdin.isTTY || !process.stdout.isTTY)) {
      throw new HoldfastError("usage", "confirmation needed; pass --yes", {
        hint: "preview with --dry-run, then pass --yes",
      });
    }
    const plan = await context.client.call("prune", { body: { ...wish, dryRun: true } });
    if (isAsked && plan.removed.length > 0) process.stdout.write(`${render(plan)}\n`);
    if (isDryRun || plan.removed.length === 0 || (isAsked && !(await agreed(plan)))) return tell(context, plan, isAsked);
    const only = plan.removed.map(({ id }) => id);
    return tell(context, await context.client.call("prune", { body: { ...wish, only } }), isAsked);
  },
};

function tell(context: Context, reply: PruneReply, isShown: boolean): number {
  if (context.json) process.stdout.write(`${JSON.stringify(reply)}\n`);
  else if (!isShown || reply.removed.length === 0) process.stdout.write(`${render(reply)}\n`);
  else process.stdout.write(reply.dryRun ? "Nothing was removed.\n" : `${summary(reply.removed)} removed.\n`);
  return 0;
}

async function agreed(plan: PruneReply): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`Remove ${summary(plan.removed)}? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

const KEPT: Readonly<Record<string, string>> = {
  running: "running",
  unseen: "not viewed since it ended (holdfast logs NAME, or holdfast rm NAME)",
  policy: "within the policy",
  not_named: "not selected",
};

function render(reply: PruneReply): string {
  const { removed, kept } = reply;
  const head = removed.length === 0 ? "Nothing to remove." : `${summary(removed)} ${reply.dryRun ? "would be removed" : "removed"}:`;
  const reasons = Object.keys(KEPT).flatMap((why) => {
    const some = kept.filter((each) => each.why === why);
    return some.length === 0 ? [] : [`  ${summary(some)}: ${KEPT[why]}${why === "unseen" ? `: ${namesOf(some)}` : ""}`];
  });
  return [head, ...removed.map((each) => `  ${line(each, reply)}`), ...(reasons.length > 0 ? ["Kept:", ...reasons] : [])].join("\n");
}

function line({ name, status, endedAt, bytes, why }: PruneVerdict, { policy }: PruneReply): string {
  const age = endedAt === null ? "" : `ended ${formatDuration(Math.max(0, Date.now() - Date.parse(endedAt)))} ago`;
  const reason =
    why === "age"
      ? `older than ${formatDuration(policy.olderThanMs ?? 0)}`
      : `the oldest, until all fit in ${formatBytes(policy.keepBytes ?? 0)}`;
  return `${plain(name)}  ${status}, ${age}, ${formatBytes(bytes)}: ${reason}`;
}

function summary(some: readonly PruneVerdict[]): string {
  const bytes = some.reduce((sum, each) => sum + each.bytes, 0);
  return `${some.length} session${some.length === 1 ? "" : "s"} (${formatBytes(bytes)})`;
}

const MOST_NAMES = 5;

function namesOf(some: readonly PruneVerdict[]): string {
  const names = some.slice(0, MOST_NAMES).map(({ name }) => plain(name));
  return `${names.join(", ")}${some.length > MOST_NAMES ? ", …" : ""}`;
}

function ageOf({ flags }: Context): number | undefined {
  const text = flags.text("older-than");
  return text === undefined ? undefined : parseDuration(text, "--older-than");
}

function sizeOf({ flags }: Context): number | undefined {
  const text = flags.text("keep-size");
  const bytes = text === undefined ? undefined : sizeBytes(text);
  if (text === undefined || bytes !== undefined) return bytes;
  throw new HoldfastError("usage", `--keep-size takes a size, not ${JSON.stringify(text)}`, { hint: "for example: 500M or 1G" });
}
