import { dirname, join } from "node:path";
import type { Digest } from "@holdfast/contract/digest/digest";
import type { RecordingGap } from "@holdfast/contract/recording/endpoints";
import type { RoleTools, Session } from "@holdfast/contract/session/session";
import { shellWord } from "@holdfast/platform/shell";
import { counted } from "@holdfast/platform/units";
import { attachmentText } from "../attach/attachment-text.ts";
import type { Command, Context } from "../command.ts";
import { gapSummary, gapText } from "../recording/gap-note.ts";
import { sinceText, summary } from "../session/digest-text.ts";
import { oneName } from "../session/select.ts";
import { statusCell, waitsFor } from "../session/status-text.ts";
import { newsOf, tellViewed } from "../session/viewed.ts";
import { formatBytes } from "../text/bytes.ts";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { localTime } from "../text/local-time.ts";
import { plain } from "../text/plain.ts";
import { budgetText, exceededText } from "../usage/budget-text.ts";
import { contextText, costText, tokensText } from "../usage/spent.ts";

export const command: Command = {
  name: "show",
  summary: "show everything about one session",
  onlyReads: true,
  section: "Watch sessions",
  onlyPrints: true,
  usage: "NAME",
  arguments: "sessions",
  examples: [
    ["holdfast show demo", "show a session by its name"],
    ["holdfast show k7f --json", "refer to it by the beginning of its id, for a script"],
  ],
  async run(context) {
    const session = await context.client.call("getSession", { params: { ref: oneName(context, "show NAME") } });
    const { gaps } = await context.client.call("getRecording", { params: { ref: session.id }, query: {} });
    if (context.json) {
      process.stdout.write(`${JSON.stringify({ ...session, recordingGaps: gaps })}\n`);
      return 0;
    }
    const digest = await newsOf(context, session.id);
    const damage = session.kind === "conversation" ? await damageOf(context, session.id) : [];
    process.stdout.write(`${[render(session, gaps, digest), ...damage].join("\n")}\n`);
    // JSON output is for programs, which do not count as a person viewing it.
    if ((session.endedAt !== null && session.viewedAt === null) || session.failure !== null) await tellViewed(context, session.id);
    return 0;
  },
};

/** Turns lost from a damaged transcript, and the damaged file. */
async function damageOf(context: Context, session: string): Promise<string[]> {
  const { events } = await context.client.call("listEvents", { query: { session, type: "transcript.damaged" } });
  return events.flatMap(({ data }) => {
    const { run, turns = 0, what = "was damaged", aside } = data as { run: number; turns?: number; what?: string; aside: string | null };
    if (turns === 0) return [];
    const file = aside === null ? "" : `; the damaged file: ${aside}`;
    return [
      `${color("dim", "damaged".padEnd(12))} ${plain(`the transcript of run ${run} ${what}: ${counted(turns, "turn")} restored from the journal${file}`)}`,
    ];
  });
}

function render(session: Session, gaps: readonly RecordingGap[], digest: Digest | undefined): string {
  const rows: [string, string | null][] = [
    ["name", session.name],
    ["id", session.id],
    ["status", statusCell(session)],
    ["waits for", waitsFor(session, Date.now()) || null],
    ["news", digest?.news ? `${sinceText(digest, Date.now())}: ${summary(digest)}` : null],
    ["", digest?.news ? `more: holdfast digest ${session.name}` : null],
    ["exit", session.exit && (session.exit.signal ?? (session.exit.code === null ? "unknown" : `code ${session.exit.code}`))],
    ["", session.status !== "lost" ? null : session.cause === "exited" ? notTold(session) : lostText(session)],
    ...leftRows(session),
    ["failed", session.failure?.what === "turn" ? `a turn: ${session.failure.why ?? "no reason given"}` : null],
    ["cause", session.cause === null || session.cause === "exited" ? null : session.cause.replaceAll("_", " ")],
    ["kind", session.kind],
    ["agent", session.agent],
    ["turns", turnsCell(session)],
    ["first prompt", firstPrompt(session)],
    ["conversation", session.conversation],
    ["earlier", earlierOf(session)],
    ["forked from", session.forkedFrom && forkedFrom(session.forkedFrom)],
    ["role", session.role],
    ["tools", session.tools ? toolsText(session.tools) : null],
    ["", session.tools ? unenforcedText(session.agent, session.tools) : null],
    ["objective", session.objective],
    ["about", session.firstPrompt],
    ["command", session.command.map(shellWord).join(" ")],
    ["directory", session.cwd],
    ["workspace", session.workspace && workspaceOf(session.workspace)],
    [session.groups.length > 1 ? "groups" : "group", session.groups.length === 0 ? null : session.groups.join(", ")],
    ["host", session.host === "foreign" ? "foreign: adopted; runs where it was started" : session.host],
    ["owner", session.owner],
    ["handed over", session.handover && handoverOf(session.handover)],
    ...session.attachments.map((each, index): [string, string] => [index === 0 ? "attached" : "", attachmentText(each, Date.now())]),
    ["parent", session.parent],
    ["pid", session.pid === null ? null : String(session.pid)],
    ["created", local(session.createdAt)],
    ["started", local(session.startedAt)],
    ["ended", local(session.endedAt)],
    ["duration", session.durationMs === null ? null : formatDuration(session.durationMs)],
    ["last output", local(session.lastActivityAt)],
    ...recordOf(session),
    ["not recorded", gapsOf(gaps)],
    [
      "uses",
      session.usage &&
        `${formatBytes(session.usage.memoryBytes)} in ${session.usage.processes} ${session.usage.processes === 1 ? "process" : "processes"}, ${formatDuration(session.usage.cpuMs)} of CPU time`,
    ],
    ["tokens", session.spent && tokensText(session.spent)],
    ["cost", session.spent && costText(session.spent)],
    ["with children", session.spentWithChildren && `${tokensText(session.spentWithChildren)}; ${costText(session.spentWithChildren)}`],
    ["context", session.spent?.context ? contextText(session.spent.context) : null],
    ["budget", session.budget && budgetText(session.budget)],
    ["", exceededText(session)],
    ["limit", session.memoryLimitBytes === null ? null : memoryLimit(session.memoryLimitBytes, session.memoryLimitBy)],
    ["progress", session.progress && progressText(session.progress)],
    ["tasks done", session.tasksCompleted ? String(session.tasksCompleted) : null],
    ["runs", String(session.runs)],
    ["restart", session.restart === "never" ? null : restartOf(session)],
    ["next run", session.restartAt === null ? null : `${nextRunIn(session.restartAt)}; cancel: holdfast stop ${session.name}`],
    ["viewed", session.endedAt === null ? null : (local(session.viewedAt) ?? "not since it ended; it is kept until somebody views it")],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${color("dim", name.padEnd(12))} ${plain(value)}`])).join("\n");
}

function toolsText({ allowed, denied }: RoleTools): string {
  const only = allowed === null ? "all" : `only ${allowed.join(", ") || "none"}`;
  return denied.length === 0 ? only : `${only} except ${denied.join(", ")}`;
}

function unenforcedText(agent: string, { allowed, enforced }: RoleTools): string | null {
  if (!enforced) return `${agent} does not enforce this; approvals decide what it may do`;
  return allowed?.some((name) => name.includes("(")) ? `${agent} does not enforce the text in parentheses` : null;
}

function notTold({ name, conversation }: Session): string {
  const goOn = conversation === null ? "" : `; continue its conversation: holdfast resume ${name}`;
  return `it ended; the exit code is unknown because Holdfast did not start it${goOn}`;
}

function lostText({ name }: Session): string {
  return `its keeper vanished, and the exit code is unknown; bring it back: holdfast resume ${name}; list its processes: holdfast orphans; find the cause: holdfast doctor`;
}

/** Processes that outlived their run, each with its pid. */
function leftRows({ name, left = [] }: Session): [string, string][] {
  const rows = left.map(({ pid, command, isProgram }): [string, string] => [
    "",
    `pid ${pid}${isProgram ? ", its program" : ""}: ${command}`,
  ]);
  return left.length === 0
    ? []
    : [["still runs", `${counted(left.length, "process", "processes")}; end them: holdfast stop ${name}`], ...rows];
}

const GIVEN_UP = {
  crash_loop: "gave up: it ended too often too quickly",
  stopped: "cancelled",
  damaged: "gave up: the files for a new run are damaged",
  budget: "gave up: its budget is used up",
  restored: "gave up: the journal was restored and may lack a stop request",
};

function turnsCell({ kind, turns, turn }: Session): string | null {
  if (kind === "shell" || (turns === 0 && turn === null)) return null;
  return turns === null ? "unknown" : String(turns);
}

/** Shown only if a later run did not get the prompt. */
function firstPrompt({ name, promptedRun, runs }: Session): string | null {
  if (promptedRun === null || promptedRun === runs) return null;
  return `delivered to run ${promptedRun}, and not to later runs; to repeat it: holdfast resume ${name} --repeat-prompt`;
}

/** Earlier conversations that the session can return to. */
function earlierOf({ conversation, conversations }: Session): string | null {
  const others = conversations.filter(({ id, turns }) => id !== conversation && turns !== 0);
  const told = others.map(({ id, run, turns }) => `${id} (run ${run}${turns === null ? "" : `, ${counted(turns, "turn")}`})`);
  return told.length === 0 ? null : told.join(", ");
}

function handoverOf({ by, from, note, at }: NonNullable<Session["handover"]>): string {
  return `by ${by}${by === from ? "" : `, from ${from}`}, ${local(at)}${note === null ? "" : `: ${note}`}`;
}

function forkedFrom({ name, session, checkpoint, conversation }: NonNullable<Session["forkedFrom"]>): string {
  return `${name} (${session}), conversation ${conversation}${checkpoint === null ? "" : `, checkpoint ${checkpoint}`}`;
}

function workspaceOf({ name, branch }: NonNullable<Session["workspace"]>): string {
  return branch === null ? name : `${name}, on branch ${branch}`;
}

function restartOf({ restart, restartGivenUp }: Session): string {
  return restartGivenUp === null ? restart : `${restart}; ${GIVEN_UP[restartGivenUp]}`;
}

function nextRunIn(at: string): string {
  return `in ${formatDuration(Math.max(0, Date.parse(at) - Date.now()))}`;
}

/** Location of the transcript or the recording. */
function recordOf(session: Session): [string, string | null][] {
  const { kind, outputPath } = session;
  if (kind === "conversation") return [["transcript", outputPath && join(dirname(outputPath), "transcript.jsonl")]];
  return [
    ["output", outputPath],
    ["recording", recordingOf(session)],
  ];
}

function recordingOf({ recordingCutBytes, recordingLimitBytes }: Session): string | null {
  const limit = recordingLimitBytes === null ? "without limit" : `the newest ${formatBytes(recordingLimitBytes)} of each run`;
  return recordingCutBytes === 0 ? limit : `${limit}; the first ${formatBytes(recordingCutBytes)} were deleted`;
}

function gapsOf(gaps: readonly RecordingGap[]): string | null {
  const last = gaps.at(-1);
  if (!last) return null;
  return gaps.length === 1 ? gapText(last).replace(" not recorded", "") : `${gapSummary(gaps)}, the last: ${gapText(last)}`;
}

function local(time: string | null): string | null {
  return time === null ? null : localTime(time);
}

function memoryLimit(bytes: number, by: Session["memoryLimitBy"]): string {
  const how = { cgroup: ", by the kernel (cgroup)", watching: ", by watching" };
  return `${formatBytes(bytes)} of memory${by ? how[by] : ""}`;
}

function progressText({ text, done, total, at }: NonNullable<Session["progress"]>): string {
  const much = done === null ? "" : `${done}${total === null ? "" : `/${total}`}: `;
  return `${much}${text} (${formatDuration(Math.max(0, Date.now() - Date.parse(at)))} ago)`;
}
