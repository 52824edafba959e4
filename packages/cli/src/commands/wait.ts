import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import type { Command, Context } from "../command.ts";
import { AWAITED, type Awaited, untilStatus } from "../session/await-status.ts";
import { asRemoved, isOver, restartNote, untilSession } from "../session/next-run.ts";
import { printedLines } from "../session/printed-lines.ts";
import { oneName } from "../session/select.ts";
import { statusCell, waitsFor } from "../session/status-text.ts";
import { parseDuration } from "../text/duration.ts";
import { plain } from "../text/plain.ts";

export const command: Command = {
  name: "wait",
  summary: "wait for a session to end, to change status, or to print something",
  section: "Send and answer",
  follows: () => true,
  usage: "NAME [--for exit|idle|waiting|turn|output=REGEX] [--timeout 30s]",
  description:
    "exit (default): the session has ended and no further run is due. A session with a restart policy counts as ended when Holdfast gives up or somebody stops it. output=REGEX: a printed line matches, now or later. If the time runs out, or the session ends without a match, the exit code is 16. If the session is removed, it is 32.\n\nFor an agent: idle (it waits for a prompt), waiting (it needs a person), turn (the current or else the next turn has ended). If the agent's status cannot be known, the exit code is 23.",
  flags: {
    for: { value: "WHAT", summary: "condition: exit (default), idle, waiting, turn, or output=REGEX", complete: "waits" },
    timeout: { value: "TIME", summary: "time limit (default: none)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast wait build --timeout 10m", "wait until the session ends"],
    ["holdfast wait api --for turn --timeout 20m", "wait until the agent has finished its turn"],
    ["holdfast wait serve --for 'output=listening on' --timeout 30s", "wait until a server is ready"],
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
  const ended = await untilSession(context, { ...knownAs(session), signal: over, until: isOver, onChange: sayRestart(context) });
  if (!ended) throw tooLate(`${session.name} is still running`);
  return ended;
}

/** Searches every run from the current one on. */
async function untilPrinted(
  context: Context,
  { session, over, pattern }: { session: Session; over: AbortSignal; pattern: RegExp },
): Promise<string> {
  const { bytesOf } = await import("../recording/bytes.ts");
  const onChange = sayRestart(context);
  for (let run = session.runs; ; run++) {
    const bytes = bytesOf(context, { ref: session.id, run, from: 0, follow: true, signal: over });
    const line = await firstThatFits(printedLines(bytes), pattern).catch(asRemoved(session));
    if (line !== undefined) return line;
    const until = (now: Session) => now.runs > run || isOver(now);
    const next = await untilSession(context, { ...knownAs(session), signal: over, until, onChange });
    if (!next) throw tooLate(`${session.name} has not printed a match yet`);
    if (next.runs === run) throw tooLate(`${session.name} ended without printing a match`);
  }
}

async function firstThatFits(lines: AsyncIterable<string>, pattern: RegExp): Promise<string | undefined> {
  for await (const line of lines) if (pattern.test(line)) return line;
  return undefined;
}

function knownAs({ id, name }: Session): Pick<Session, "id" | "name"> {
  return { id, name };
}

/** Prints a note once for each run that ends while a restart is due. */
function sayRestart(context: Context): (session: Session) => undefined {
  let said = 0;
  return (session) => {
    if (context.json || session.restartAt === null || session.runs === said) return;
    said = session.runs;
    process.stderr.write(`${restartNote(session)}\n`);
  };
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
