import type { AuditEntry } from "@holdfast/contract/access/access";
import type { Command, Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { color } from "../text/color.ts";
import { parseDuration } from "../text/duration.ts";
import { localTime } from "../text/local-time.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "audit",
  summary: "show who did what, and what was refused",
  onlyReads: true,
  section: "Administration",
  onlyPrints: true,
  usage: "[--since 2h] [--actor WHO]…",
  description:
    "Oldest first. WHO is user:NAME, token:NAME or session:ID. Actions of Holdfast itself are in holdfast events. Typed text is counted, never recorded here.",
  flags: {
    since: { value: "TIME", summary: "actions of the last 10m, 2h, 7d, …", complete: "nothing" },
    actor: { value: "WHO", summary: "actions of these principals (comma-separated)", multiple: true, complete: "nothing" },
  },
  examples: [
    ["holdfast audit --since 1d", "show the last day"],
    ["holdfast audit --actor token:dashboard", "show what was done with a token"],
    ["holdfast audit --json", "for a script"],
  ],
  pages: () => true,
  async run(context) {
    const since = context.flags.text("since");
    const actors = context.flags.list("actor").flatMap((value) => value.split(","));
    const query = {
      since: since === undefined ? undefined : Math.max(0, Math.round(Date.now() - parseDuration(since, "--since"))),
      actor: actors.length > 0 ? actors : undefined,
    };
    return context.json ? printJson(context, query) : print(context, query);
  },
};

interface Query {
  since: number | undefined;
  actor: string[] | undefined;
}

async function print(context: Context, query: Query): Promise<number> {
  let any = false;
  for await (const entries of pages(context, query)) {
    any ||= entries.length > 0;
    await writeOut(entries.map(line).join(""));
  }
  if (!any) process.stdout.write("No actions.\n");
  return 0;
}

async function printJson(context: Context, query: Query): Promise<number> {
  const all: AuditEntry[] = [];
  for await (const entries of pages(context, query)) all.push(...entries);
  await writeOut(`${JSON.stringify(all)}\n`);
  return 0;
}

async function* pages(context: Context, query: Query): AsyncGenerator<AuditEntry[]> {
  for (let after: string | undefined; ; ) {
    const page = await context.client.call("listAudit", { query: { ...query, after } });
    yield page.entries;
    if (!page.more) return;
    after = page.cursor;
  }
}

function line({ at, actor, what }: AuditEntry): string {
  return `${color("dim", localTime(at))}  ${plain(actor)}  ${plain(what)}\n`;
}
