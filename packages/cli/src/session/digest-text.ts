/** A digest as text: one line (`show`), a few lines (`attach`, the list), or every short line (`digest NAME`). */
import type { Digest } from "@holdfast/contract/digest/digest";
import { type Color, color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { cut } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { costCell, costText, tokensText } from "../usage/spent.ts";
import { shortAge, statusCell, waitsFor } from "./status-text.ts";

/** Colour is applied after the text is cut to the terminal's width. */
export interface Line {
  text: string;
  color?: Color;
}

const ANSWER_LINES = 3;
const LISTED = 8;
const TASKS = 5;

/** `since you looked, 2h ago`. */
export function sinceText({ since, session }: Digest, now: number): string {
  const ago = `${shortAge(Math.max(0, now - Date.parse(since.at)))} ago`;
  if (since.why === "looked") return `since you looked, ${ago}`;
  return since.why === "began"
    ? `since ${plain(session.name)} began, ${ago}`
    : `in the last ${shortAge(Math.max(0, now - Date.parse(since.at)))}`;
}

/** Counts for one line. */
export function summary(digest: Digest): string {
  const { turns, answers, work, troubles, runs } = digest;
  const parts = [
    ...(digest.session.attention ? [`waits for ${waitsFor(digest.session, Date.now())}`] : []),
    ...(turns.began + turns.ended > 0 ? [turnsText(digest)] : []),
    ...tally(taskStates(digest), "task"),
    ...(answers.length > 0 ? [counted(answers.length, "answer")] : []),
    ...tally(messageStates(digest), "message"),
    ...(work && work.commitCount > 0 ? [counted(work.commitCount, "commit")] : []),
    ...(digest.spent?.cost ? [`${costCell(digest.spent)} spent`] : []),
    ...(troubles.length > 0 ? [counted(troubles.length, "problem")] : []),
    ...since(runs).slice(-1).map(runText),
  ];
  return parts.join("; ");
}

/** The block of one session: its head and its news, most important first. */
export function block(digest: Digest, options: { now: number; width: number | undefined; full: boolean }): string[] {
  const { session } = digest;
  const head = `${color("bold", plain(session.name))} · ${plain(session.agent)} · ${statusCell(session)} · ${sinceText(digest, options.now)}`;
  const lines = [...newsLines(digest), ...(options.full ? details(digest) : [])];
  return [
    head,
    ...(lines.length > 0 ? lines : [{ text: digest.news ? "it began, and has done nothing yet" : "nothing new" }]).map((line) =>
      drawn(line, options.width),
    ),
  ];
}

/** A line below the head, cut to the terminal's width if it has one. */
export function drawn(line: Line, width: number | undefined, stream?: { isTTY?: boolean }): string {
  const text = cut(line.text, (width || Number.POSITIVE_INFINITY) - 2);
  return `  ${line.color ? color(line.color, text, stream) : text}`;
}

/** The command that shows the full digest again. */
export function again({ session }: Pick<Digest, "session">): string {
  return `holdfast digest ${plain(session.name)} --again`;
}

/** One line per item. Text of others is made printable. */
export function newsLines(digest: Digest): Line[] {
  const { session, turns, answers, troubles, runs, handovers, checkpoints } = digest;
  const waits = waitsFor(session, Date.now());
  const [first, last] = [checkpoints[0], checkpoints.at(-1)];
  const turned = turns.began + turns.ended > 0 || turns.list.some(({ endedAt }) => endedAt === null);
  const handed = handovers.map(({ by, to, note }) =>
    plain(`handed over by ${by}${to === null ? "" : ` to ${to}`}${note === null ? "" : `: ${note}`}`),
  );
  const kept =
    first && last && first !== last ? [`checkpoints ${first.number} to ${last.number}`] : last ? [`checkpoint ${last.number}`] : [];
  return [
    ...(waits === "" ? [] : [{ text: `waits for ${waits}`, color: "yellow" as const }]),
    ...handed.map((text) => ({ text })),
    ...(turned ? [{ text: turnsText(digest) }] : []),
    ...answerLines(session.name, answers.at(-1)),
    ...taskLines(digest),
    ...inLine("approvals", tally(approvalStates(digest))),
    ...inLine("messages", tally(messageStates(digest))),
    ...troubleLines(troubles),
    ...[...since(runs).slice(-3).map(runText), ...workLine(digest), ...kept, ...usedLine(digest)].map((text) => ({ text })),
    ...(digest.more ? [{ text: "and more: holdfast events" }] : []),
  ];
}

/** Drops the start, which the head already shows. */
function since(runs: Digest["runs"]): Digest["runs"] {
  return runs.filter(({ what }) => what !== "began");
}

function turnsText({ turns }: Digest): string {
  const open = turns.list.find(({ endedAt }) => endedAt === null);
  const count = Math.max(turns.began, turns.ended);
  const many = count === 0 ? "" : `${counted(count, "turn")}, ${formatDuration(turns.workedMs)} of work`;
  if (!open) return many;
  const runs = `in a turn for ${formatDuration(Math.max(0, Date.now() - Date.parse(open.beganAt)))}`;
  return many === "" ? runs : `${many}; ${runs}`;
}

function answerLines(name: string, answer: Digest["answers"][number] | undefined): Line[] {
  if (!answer) return [];
  const lines = answer.text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, ANSWER_LINES).map((line) => `│ ${plain(line)}`);
  if (lines.length > ANSWER_LINES) shown.push(`│ … ${counted(lines.length - ANSWER_LINES, "line")} more: holdfast last ${plain(name)}`);
  return shown.map((text) => ({ text, color: "cyan" }));
}

/** One line per task, for the last few tasks. */
function taskLines({ tasks = [] }: Digest): Line[] {
  const shown = tasks.slice(-TASKS).map(({ title, outcome, why }): Line => {
    const text = plain(`task ${outcome ?? "running"}: ${title.split("\n")[0]}${why === null ? "" : ` (${why})`}`);
    return { text, ...(outcome === "done" ? { color: "green" } : outcome === "failed" ? { color: "red" } : {}) };
  });
  return tasks.length > TASKS ? [{ text: `… ${counted(tasks.length - TASKS, "task")} before` }, ...shown] : shown;
}

function taskStates({ tasks = [] }: Digest): string[] {
  return tasks.map(({ outcome }) => outcome ?? "running");
}

function troubleLines(troubles: Digest["troubles"]): Line[] {
  const words = {
    turn_failed: "a turn failed",
    rate_limit: "rate limit",
    not_recorded: "not recorded",
    memory: "memory limit",
    budget: "budget",
  };
  return Object.entries(words).flatMap(([kind, what]) => {
    const these = troubles.filter((trouble) => trouble.kind === kind);
    const last = these.at(-1);
    if (!last) return [];
    const text = last.text === "" ? "" : `: ${last.text}`;
    return [{ text: plain(`${what}${text}${these.length > 1 ? ` (${these.length} times)` : ""}`), color: "red" }];
  });
}

function runText({ run, what, text }: Digest["runs"][number]): string {
  const words = {
    began: "began",
    restart: `run ${run}: started again by its policy, ${text}`,
    resume: `run ${run}: resumed ${text}`,
    restore: `run ${run}: restored ${text}`,
    adopted: `run ${run}: adopted`,
    done: "the program is done",
    failed: `the program failed (${text})`,
    stopped: "the session was stopped",
    lost: `run ${run} was lost: ${text}`,
    given_up: `no further run: ${text}`,
  };
  return plain(words[what]);
}

function workLine({ work }: Digest): string[] {
  if (!work) return [];
  const { commitCount, changed, branch } = work;
  const on = branch === null ? "" : ` on ${plain(branch)}`;
  const commits = commitCount > 0 ? [`${counted(commitCount, "commit")}${on}`] : [];
  const files =
    changed && changed.files > 0 ? [`${counted(changed.files, "file")} changed, +${changed.insertions} −${changed.deletions}`] : [];
  return commits.length + files.length > 0 ? [[...commits, ...files].join("; ")] : [];
}

function usedLine({ spent }: Digest): string[] {
  return spent ? [`used ${tokensText(spent)}; ${costText(spent)}`] : [];
}

function details({ work }: Digest): Line[] {
  if (!work) return [];
  const commits = work.commits.slice(-LISTED).map(({ hash, subject }) => `  ${hash.slice(0, 7)} ${plain(subject)}`);
  const list = work.changed?.list ?? [];
  const files = list.slice(0, LISTED).map(({ path, insertions, deletions }) => {
    return `  ${plain(path)}${insertions === null ? "" : ` +${insertions} −${deletions ?? 0}`}`;
  });
  const more = (work.changed?.files ?? 0) - files.length;
  const older = work.commitCount - commits.length;
  if (older > 0) commits.unshift(`  … ${counted(older, "commit")} before`);
  if (more > 0) files.push(`  … and ${counted(more, "file")} more`);
  return [...commits, ...files].map((text) => ({ text, color: "dim" }));
}

function approvalStates({ approvals }: Digest): string[] {
  const words: Readonly<Record<string, string>> = {
    open: "waiting",
    elsewhere: "answered on its screen",
    run_ended: "withdrawn",
    timed_out: "timed out",
  };
  return approvals.map(({ status, answeredBy }) => `${words[status] ?? status}${answeredBy?.startsWith("rule:") ? " by a rule" : ""}`);
}

function messageStates({ messages }: Digest): string[] {
  const words: Readonly<Record<string, string>> = {
    replied: "answered",
    injecting: "being given",
    injected: "taken",
    turn_started: "being worked on",
  };
  return messages.map(({ state }) => words[state] ?? state);
}

/** Counts per state: `2 answered`, `1 message queued`. */
function tally(states: readonly string[], what?: string): string[] {
  return [...new Set(states)].map((state) => {
    const count = states.filter((each) => each === state).length;
    return what === undefined ? `${count} ${state}` : `${counted(count, what)} ${state}`;
  });
}

function inLine(what: string, parts: readonly string[]): Line[] {
  return parts.length === 0 ? [] : [{ text: `${what}: ${parts.join(", ")}` }];
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
