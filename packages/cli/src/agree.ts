/** Asks before a command acts on sessions that nobody named, and says which of them hold something unread. Without a terminal the command line is the answer. */
import type { Session } from "@holdfast/contract/session";
import { hasEnded } from "@holdfast/contract/status";
import { counted } from "@holdfast/platform/units";
import { color } from "./color.ts";
import type { Context, Flag } from "./command.ts";
import { plain } from "./plain.ts";

export const YES_FLAG = { yes: { summary: "do not ask", short: "y" } } as const satisfies Record<string, Flag>;

/** A list beyond this is cut; unread sessions come first, and all of them are named. */
const MOST_LINES = 20;

export async function agreed(
  context: Context,
  { sessions, verb, done }: { sessions: readonly Session[]; verb: "Stop" | "Remove"; done: string },
): Promise<boolean> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (sessions.length === 0 || context.json || !isTerminal || context.flags.has("yes")) return true;
  process.stdout.write(`${lines(sessions, await unreadAmong(context, sessions)).join("\n")}\n`);
  const { createInterface } = await import("node:readline/promises");
  using terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${verb} ${counted(sessions.length, "session")}? [y/N] `);
  const isYes = /^y(es)?$/i.test(answer.trim());
  if (!isYes) process.stdout.write(`Nothing was ${done}.\n`);
  return isYes;
}

/** Ids of those whose end, or whose last answer, nobody has read. That it cannot be told keeps nobody from being asked. */
async function unreadAmong(context: Context, sessions: readonly Session[]): Promise<Set<string>> {
  const told = await context.client.call("listDigests", { query: {} }).catch(() => ({ digests: [] }));
  const news = new Set(told.digests.filter((digest) => digest.news).map(({ session }) => session.id));
  return new Set(sessions.filter((session) => isUnread(session, news)).map(({ id }) => id));
}

/** show and next are a look at one that has ended, although its digest stays new. */
export function isUnread(
  { id, status, viewedAt }: Pick<Session, "status" | "viewedAt"> & { id: string },
  news: ReadonlySet<string>,
): boolean {
  return hasEnded(status) ? viewedAt === null : news.has(id);
}

function lines(sessions: readonly Session[], unread: ReadonlySet<string>): string[] {
  const first = sessions.filter(({ id }) => unread.has(id));
  const rest = sessions.filter(({ id }) => !unread.has(id));
  const shown = rest.slice(0, Math.max(0, MOST_LINES - first.length));
  const left = rest.length - shown.length;
  return [
    ...first.map((session) => `  ${plain(session.name)}  ${session.status}, ${color("bold", unreadText(session))}`),
    ...shown.map(({ name, status }) => `  ${plain(name)}  ${status}`),
    ...(left > 0 ? [`  and ${counted(left, "other session")}`] : []),
  ];
}

function unreadText({ status, kind }: Session): string {
  if (hasEnded(status)) return "unread: nobody has looked at it since it ended";
  return kind === "shell" ? "unread: it has news" : "unread: nobody has read its last answer";
}
