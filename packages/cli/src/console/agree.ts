/** Asks for confirmation before a command acts on sessions that were not named, and marks the unread ones. Without a terminal it does not ask. */
import type { Digest } from "@holdfast/contract/digest/digest";
import type { Session } from "@holdfast/contract/session/session";
import { hasEnded } from "@holdfast/contract/session/status";
import { counted } from "@holdfast/platform/units";
import type { Context, Flag } from "../command.ts";
import { color } from "../text/color.ts";
import { plain } from "../text/plain.ts";

export const YES_FLAG = { yes: { summary: "do not ask for confirmation", short: "y" } } as const satisfies Record<string, Flag>;

/** Longest list. Unread sessions come first, and all of them are named. */
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

/** Unread results, by session id. If they cannot be read, the question is asked without them. */
async function unreadAmong(context: Context, sessions: readonly Session[]): Promise<Map<string, string>> {
  const told = await context.client.call("listDigests", { query: {} }).catch(() => ({ digests: [] }));
  return new Map(
    sessions.flatMap((session) => {
      const digest = told.digests.find((each) => each.session.id === session.id);
      const text = unreadText(session, digest);
      return text === null ? [] : [[session.id, text]];
    }),
  );
}

/** Null if there is nothing to read. For an ended session, show and next count as reading, although its digest stays new. */
export function unreadText(
  { status, kind, viewedAt }: Pick<Session, "status" | "kind" | "viewedAt">,
  digest: Pick<Digest, "news" | "answers" | "troubles" | "work"> | undefined,
): string | null {
  if (hasEnded(status)) return viewedAt === null ? "unread: nobody has viewed it since it ended" : null;
  if (!digest?.news) return null;
  if (digest.answers.length > 0) return "unread: nobody has read its last answer";
  // The start of an agent is not news until it has said or done something.
  return kind === "shell" || digest.troubles.length > 0 || (digest.work?.commitCount ?? 0) > 0 ? "unread: it has news" : null;
}

function lines(sessions: readonly Session[], unread: ReadonlyMap<string, string>): string[] {
  const first = sessions.filter(({ id }) => unread.has(id));
  const rest = sessions.filter(({ id }) => !unread.has(id));
  const shown = rest.slice(0, Math.max(0, MOST_LINES - first.length));
  const left = rest.length - shown.length;
  return [
    ...first.map(({ id, name, status }) => `  ${plain(name)}  ${status}, ${color("bold", unread.get(id) ?? "")}`),
    ...shown.map(({ name, status, hung }) => `  ${plain(name)}  ${status}${hung ? " (hung)" : ""}`),
    ...(left > 0 ? [`  and ${counted(left, "other session")}`] : []),
  ];
}
