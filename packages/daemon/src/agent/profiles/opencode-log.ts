/** Finds conversations in opencode's log. Each start has an id (`run=`), which is in all its lines. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { Running } from "../find-conversation.ts";
import { endOf } from "../transcript.ts";

/** Longest time from a start to its first line, on an overloaded machine. */
const FIRST_LINE_MS = 60_000;
const CLOCK_MS = 1000;

export function findOpencodeConversation({ since, cwd, env }: Running): string | undefined {
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), ".local/share");
  return conversationInLog(endOf(join(data, "opencode/log/opencode.log")), { since, cwd });
}

/** Undefined if several processes started there at about that time, or if its first lines are gone. */
export function conversationInLog(log: string, { since, cwd }: { since: number; cwd: string }): string | undefined {
  const starts = Map.groupBy(log.split("\n"), (line) => /\brun=(\w+)/.exec(line)?.[1] ?? "");
  const fitting = [...starts].filter(([run, lines]) => run !== "" && beganThen(lines, since) && lines.some((line) => worksIn(line, cwd)));
  const [only, ...others] = fitting;
  if (!only || others.length > 0) return undefined;
  const [, lines] = only;
  // Excludes the conversations of subagents, which nobody continues.
  const children = new Set(lines.flatMap((line) => /message=created id=(\w+) .*\bparentID=ses_/.exec(line)?.[1] ?? []));
  const turns = lines.flatMap((line) => /message=loop session\.id=(\w+)/.exec(line)?.[1] ?? []);
  return turns.findLast((id) => !children.has(id));
}

function beganThen([first = ""]: readonly string[], since: number): boolean {
  const at = Date.parse(/^timestamp=(\S+)/.exec(first)?.[1] ?? "");
  return at >= since - CLOCK_MS && at <= since + FIRST_LINE_MS;
}

/** The log quotes paths if necessary. */
function worksIn(line: string, cwd: string): boolean {
  return [cwd, JSON.stringify(cwd)].some((path) => `${line} `.includes(` directory=${path} `));
}
