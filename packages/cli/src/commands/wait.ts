import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session";
import { AWAITED, type Awaited, untilStatus } from "../await-status.ts";
import type { Command, Context } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { plain } from "../plain.ts";
import { printedLines } from "../printed-lines.ts";
import { oneName } from "../select.ts";
import { statusCell, waitsFor } from "../status-text.ts";

export const command: Command = {
  name: "wait",
  summary: "wait for a session's end, for what its agent does, or for something it prints",
  usage: "NAME [--for exit|idle|waiting|turn|output=REGEX] [--timeout 30s]",
  description:
    "For the end (the default): returns when the session has ended. For output: when a line it has printed, or prints, fits the regular\nexpression. When the time is over first, or it ends without having printed it, the exit code is 16.\nFor an agent: idle (it waits for a prompt), waiting (it wants a person), turn (the turn that runs has ended, or the next one if none runs).\nWhen nothing tells what it does, the exit code is 23.",
  flags: {
    for: { value: "WHAT", summary: "exit, idle, waiting, turn, or output=REGEX", complete: "waits" },
    timeout: { value: "TIME", summary: "how long at most (default: for ever)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast wait build --timeout 10m", "for its end"],
    ["holdfast wait api --for turn --timeout 20m", "until the agent has done what it was asked"],
    ["holdfast wait serve --for 'output=listening on' --timeout 30s", "until it is ready"],
  ],
  async run(context) {
    const ref = oneName(context, "wait NAME");
    const what = context.flags.text("for") ?? "exit";
    const timeout = context.flags.text("timeout");
    const over = timeout === undefined ? new AbortController().signal : AbortSignal.timeout(parseDuration(timeout, "--timeout"));
    const session = await context.client.call("getSession", { params: { ref } });
    if (what === "exit") return told(context, await untilEnded(context, { session, over }), undefined);
    if (isAwaited(what)) return toldStatus(context, await untilStatus(context, { session, what, over }));
    const pattern = /^output=(.+)$/s.exec(what)?.[1];
    if (pattern === undefined)
      throw new HoldfastError("usage", `--for takes exit, idle, waiting, turn or output=REGEX, not ${JSON.stringify(what)}`);
    const line = await untilPrinted(context, { session, over, pattern: regexOf(pattern) });
    return told(context, await context.client.call("getSession", { params: { ref: session.id } }), line);
  },
};

function told(context: Context, session: Session, line: string | undefined): number {
  if (context.json) process.stdout.write(`${JSON.stringify({ ...session, line: line ?? null })}\n`);
  else process.stdout.write(line === undefined ? `${plain(session.name)} has ended: ${session.status}\n` : `${plain(line)}\n`);
  return 0;
}

function isAwaited(what: string): what is Awaited {
  return (AWAITED as readonly string[]).includes(what);
}

function toldStatus(context: Context, session: Session): number {
  const line = `${plain(session.name)} is ${statusCell(session)}${session.attention ? `: ${waitsFor(session, Date.now())}` : ""}`;
  process.stdout.write(context.json ? `${JSON.stringify({ ...session, line: null })}\n` : `${line}\n`);
  return 0;
}

async function untilEnded(context: Context, { session, over }: { session: Session; over: AbortSignal }): Promise<Session> {
  for (;;) {
    const { cursor, sessions } = await context.client.call("listSessions", { query: { names: [session.id] } });
    const [now] = sessions;
    if (now?.endedAt) return now;
    if (over.aborted) throw tooLate(`${session.name} is still running`);
    try {
      for await (const event of context.client.events({ query: { after: cursor, session: session.id, type: ["session.ended"] } }, over)) {
        if (event.type === "session.ended") break;
      }
    } catch (error) {
      // The daemon was killed or replaced, or its journal restored: ask its successor. When the time is over, the next round says so.
      if (error instanceof HoldfastError && !["daemon_unreachable", "cursor_gone", "journal_damaged"].includes(error.code)) throw error;
    }
  }
}

async function untilPrinted(
  context: Context,
  { session, over, pattern }: { session: Session; over: AbortSignal; pattern: RegExp },
): Promise<string> {
  const { bytesOf } = await import("../recording/bytes.ts");
  const bytes = bytesOf(context, { ref: session.id, run: session.runs, from: 0, follow: true, signal: over });
  for await (const line of printedLines(bytes)) if (pattern.test(line)) return line;
  throw over.aborted ? tooLate(`${session.name} has not printed it yet`) : tooLate(`${session.name} has ended without printing it`);
}

function tooLate(message: string): HoldfastError {
  return new HoldfastError("timeout", message);
}

function regexOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch (cause) {
    throw new HoldfastError("usage", `not a regular expression: ${(cause as Error).message}`);
  }
}
