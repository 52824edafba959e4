import { HoldfastError } from "@holdfast/contract/errors";
import type { Orphan } from "@holdfast/contract/upkeep-endpoints";
import type { Command, Context } from "../command.ts";
import { parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "orphans",
  summary: "list, adopt and stop processes without a record",
  stops: true,
  section: "Administration",
  onlyPrints: true,
  usage: "[ls | adopt ID | stop ID [--grace 5s]]",
  description:
    "An orphan is a process that runs under this home but belongs to no session. A run whose files (sessions/ID in the home) exist can be adopted and becomes a session again. Other orphans can only be stopped.",
  arguments: "nothing",
  flags: { grace: { value: "TIME", summary: "with stop: time before SIGKILL (default 5s)", complete: "nothing" } },
  examples: [
    ["holdfast orphans", "list the orphans, with reasons"],
    ["holdfast orphans adopt k7f2m9q4xw-1", "turn it into a session again"],
    ["holdfast orphans stop pid-4711", "end it"],
  ],
  async run(context) {
    const [verb = "ls", id, ...more] = context.args;
    if (verb === "ls" && id === undefined) return list(context);
    if (id === undefined || more.length > 0 || !["adopt", "stop"].includes(verb)) {
      throw new HoldfastError("usage", "expected ls, adopt ID or stop ID", { hint: "see: holdfast orphans --help" });
    }
    return verb === "adopt" ? adopt(context, id) : stop(context, id);
  },
};

async function list(context: Context): Promise<number> {
  const { orphans } = await context.client.call("listOrphans", {});
  if (context.json) process.stdout.write(`${JSON.stringify(orphans)}\n`);
  else process.stdout.write(orphans.length === 0 ? "No orphans.\n" : `${orphans.flatMap(render).join("\n")}\n`);
  return 0;
}

function render(orphan: Orphan): string[] {
  const next = orphan.adoptable ? `holdfast orphans adopt ${orphan.id}, or stop ${orphan.id}` : `holdfast orphans stop ${orphan.id}`;
  return [`${orphan.id}  pid ${orphan.pid}  ${plain(orphan.command)}`, `    ${plain(orphan.why)}; ${next}`];
}

async function adopt(context: Context, id: string): Promise<number> {
  const session = await context.client.call("adoptOrphan", { params: { id }, body: {} });
  process.stdout.write(context.json ? `${JSON.stringify(session)}\n` : `${plain(session.name)} is a session again\n`);
  return 0;
}

async function stop(context: Context, id: string): Promise<number> {
  const grace = context.flags.text("grace");
  const body = grace === undefined ? {} : { graceMs: parseDuration(grace, "--grace") };
  const { orphan, killed } = await context.client.call("stopOrphan", { params: { id }, body });
  process.stdout.write(
    context.json
      ? `${JSON.stringify({ ...orphan, killed })}\n`
      : `${orphan.id} stopped (${killed.length === 1 ? "1 process" : `${killed.length} processes`})\n`,
  );
  return 0;
}
