import type { Orphan } from "@holdfast/contract/daemon/upkeep-endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { counted } from "@holdfast/platform/units";
import type { Command, Context } from "../command.ts";
import { endDaemon, endHungDaemon, gone, recordedDaemon } from "../connection/end-daemon.ts";
import { remoteUrl } from "../connection/running.ts";
import { agreed, YES_FLAG } from "../console/agree.ts";
import { parseDuration } from "../text/duration.ts";

export const command: Command = {
  name: "down",
  summary: "stop the daemon; sessions keep running",
  stops: true,
  section: "Administration",
  usage: "[--all [--grace 5s] [--yes]]",
  description:
    "With --all, every session is stopped and the keepers end too; no process of this home remains. Adopted agents keep running. On a terminal it lists the sessions, marks unread ones, and asks for confirmation.",
  flags: {
    all: { summary: "stop all sessions and their keepers first" },
    grace: { value: "TIME", summary: "with --all: time before SIGKILL (default 5s)", complete: "nothing" },
    ...YES_FLAG,
  },
  withArgument: (word) => `stop one session: holdfast stop ${word}`,
  examples: [
    ["holdfast down", "stop the daemon; agents keep working"],
    ["holdfast down --all", "stop everything"],
  ],
  async run(context) {
    refuseWithoutAll(context);
    if (context.flags.has("all") && !(await mayStopAll(context))) return 0;
    if (remoteUrl() !== undefined) return downThere(context);
    if (context.flags.has("all")) return downAll(context);
    const ended = await endDaemon(context.home, { why: "asked" });
    if (context.json) process.stdout.write(`${JSON.stringify({ pid: ended?.pid ?? null, stopped: [], orphans: [] })}\n`);
    else process.stdout.write(ended ? "The daemon has stopped. Sessions keep running.\n" : "The daemon was not running.\n");
    return 0;
  },
};

/** Without --all no session is stopped, so a grace period has no meaning. --yes is harmless in a script. */
function refuseWithoutAll({ flags }: Context): void {
  if (flags.has("all") || flags.text("grace") === undefined) return;
  throw new HoldfastError("usage", "--grace needs --all: without it no session is stopped", {
    hint: "stop all sessions: holdfast down --all --grace TIME",
  });
}

/** A daemon that cannot list its sessions can still be stopped. */
async function mayStopAll(context: Context): Promise<boolean> {
  if (context.json || !process.stdin.isTTY || context.flags.has("yes")) return true;
  const { sessions } = await context.client.call("listSessions", { query: {} }).catch(() => ({ sessions: [] as Session[] }));
  return agreed(context, { sessions: sessions.filter(({ host }) => host !== "foreign"), verb: "Stop", done: "stopped" });
}

/** Only sends the request: a remote daemon's process cannot be waited for. */
async function downThere(context: Context): Promise<number> {
  return tell(context, await context.client.call("shutdown", { body: { all: context.flags.has("all"), graceMs: grace(context) } }));
}

function grace({ flags }: Context): number {
  const text = flags.text("grace");
  return text === undefined ? 5000 : parseDuration(text, "--grace");
}

/** Starts the daemon if needed: only it can stop its sessions in order. */
async function downAll(context: Context): Promise<number> {
  const graceMs = grace(context);
  await endHungDaemon(context.home);
  const reply = await context.client.call("shutdown", { body: { all: true, graceMs } });
  await gone(recordedDaemon(context.home) ?? { pid: reply.pid, start: undefined });
  return tell(context, reply);
}

function tell(context: Context, { pid, stopped, orphans }: { pid: number; stopped: Session[]; orphans: Orphan[] }): number {
  const without = orphans.length > 0 ? `, and ${counted(orphans.length, "orphan")} without a session` : "";
  if (context.json) process.stdout.write(`${JSON.stringify({ pid, stopped, orphans })}\n`);
  else process.stdout.write(`${counted(stopped.length, "session")} stopped${without}. The daemon has stopped.\n`);
  return 0;
}
