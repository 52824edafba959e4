/** Approvals as text. A request is the agent's own text: it must not move the cursor or hide a word. */
import type { Approval } from "@holdfast/contract/approval/approval";
import { changeIn, changeLines } from "@holdfast/contract/approval/described";
import { visible } from "@holdfast/contract/visible";
import { color } from "../text/color.ts";
import { formatDuration } from "../text/duration.ts";
import { shortPath, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";

const HEAD = ["ID", "SESSION", "AGENT", "AGE", "DIRECTORY"];

/** A row for each approval, and below it the request and what happens without an answer. */
export function approvalTable(approvals: readonly Approval[], now: number): string[] {
  const rows = approvals.map((approval) => [
    approval.id,
    plain(approval.name),
    plain(approval.agent),
    formatDuration(ageOf(approval, now)),
    shortPath(approval.directory),
  ]);
  const widths = HEAD.map((head, column) => Math.max(head.length, ...rows.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join("  ")
      .trimEnd();
  return [
    color("dim", line(HEAD)),
    ...rows.flatMap((row, i) => {
      const approval = approvals[i] as Approval;
      const below =
        approval.status !== "open" ? fateOf(approval) : approval.answers.length > 0 ? otherwise(approval, now) : elsewhere(approval);
      return [line(row), `  ${color("yellow", visible(approval.text))}`, `  ${color("dim", below)}`];
    }),
  ];
}

export function describeApproval(approval: Approval, now: number): string[] {
  const { tool } = approval;
  const asks = {
    approval: tool === null ? "asks for permission" : `asks for permission to use ${visible(tool ?? "")}`,
    question: "asks",
    trust: "asks to trust its folder",
    login: "needs a login",
  }[approval.for];
  return [
    `${color("bold", plain(approval.name))} (${plain(approval.agent)}) ${asks}`,
    "",
    ...argumentsOf(approval),
    "",
    `directory  ${shortPath(approval.directory)}`,
    `asked      ${formatDuration(ageOf(approval, now))} ago`,
    `status     ${approval.status === "open" ? `open; ${otherwise(approval, now)}` : fateOf(approval)}`,
    `id         ${approval.id}`,
    ...(approval.status === "open" ? ["", ...hints(approval)] : []),
  ];
}

const MORE = { allow: () => "", deny: ({ reasons }: Approval) => (reasons ? " --reason TEXT" : ""), answer: () => " TEXT" };

function hints(approval: Approval): string[] {
  const { id, name, answers } = approval;
  if (answers.length === 0) return [`${elsewhere(approval)}: holdfast attach ${plain(name)}`];
  return answers.map((answer) => `holdfast approvals ${answer} ${id}${MORE[answer](approval)}`);
}

function elsewhere({ for: what }: Approval): string {
  if (what === "login") return "log in on its own screen";
  return what === "question" ? "answer it on its own screen" : "allow or deny it on its own screen";
}

/** Every argument and change in full: a person must be able to read all that they allow. */
function argumentsOf(approval: Approval): string[] {
  const { for: what, input, text, title, changes = [] } = approval;
  const words = title === undefined ? [] : [`  in the agent's words: “${visible(title)}”`];
  const changed = changes.flatMap((change) => changeLines(change).map((line) => `  ${line}`));
  if (typeof input !== "object" || input === null) {
    const told = typeof input === "string" ? blockOf("input", input) : [];
    return told.length + changed.length === 0 ? [`  ${visible(text)}`] : [...told, ...changed, ...words];
  }
  const { questions } = input as { questions?: unknown };
  if (what === "question" && Array.isArray(questions) && questions.every(isQuestion)) return questions.flatMap(questionLines);
  const edit = changeIn(input);
  const rest = Object.entries(input).filter(([name]) => !edit?.keys.includes(name));
  return [
    ...(edit ? changeLines(edit.change).map((line) => `  ${line}`) : []),
    ...rest.flatMap(([name, value]) => blockOf(name, typeof value === "string" ? value : JSON.stringify(value, null, 2))),
    ...changed,
    ...words,
  ];
}

function blockOf(name: string, value: string): string[] {
  const lines = value.split("\n").map(visible);
  return lines.length === 1 ? [`  ${visible(name)}: ${lines[0]}`] : [`  ${visible(name)}:`, ...lines.map((line) => `    ${line}`)];
}

interface Question {
  question: string;
  options: { label: string; description?: string }[];
}

function isQuestion(one: unknown): one is Question {
  const { question, options } = (one ?? {}) as Partial<Question>;
  return typeof question === "string" && Array.isArray(options) && options.every((option) => typeof option?.label === "string");
}

function questionLines({ question, options }: Question): string[] {
  const about = (description: unknown) => (typeof description === "string" ? `: ${visible(description)}` : "");
  return [`  ${visible(question)}`, ...options.map(({ label, description }) => `    - ${visible(label)}${about(description)}`)];
}

/** One line: the request and its outcome. */
export function outcomeOf(approval: Approval): string {
  const { id, name, text } = approval;
  return `${id}  ${plain(name)}  ${fateOf(approval)}: ${visible(text)}`;
}

const FATES: Readonly<Record<string, string>> = {
  open: "waits",
  elsewhere: "answered on its own screen",
  withdrawn: "withdrawn",
  timed_out: "timed out",
  run_ended: "ended with its run",
};

function fateOf({ status, answeredBy, reason }: Approval): string {
  const by = answeredBy === null ? "" : ` by ${plain(answeredBy)}`;
  return `${FATES[status] ?? status}${by}${reason === null ? "" : ` (${plain(reason)})`}`;
}

function otherwise({ expiresAt, otherwise }: Approval, now: number): string {
  if (expiresAt === null) return `until somebody answers, ${plain(otherwise)}`;
  return `answer within ${formatDuration(Math.max(0, Date.parse(expiresAt) - now))}; after that, ${plain(otherwise)}`;
}

function ageOf({ requestedAt }: Approval, now: number): number {
  return Math.max(0, now - Date.parse(requestedAt));
}
