/** Steps and notes as lines for people. */
import type { BudgetRequest } from "@holdfast/contract/usage/budget";
import { counted } from "@holdfast/platform/units";
import { color } from "../text/color.ts";
import { shortPath } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import type { Plan } from "./plan.ts";
import type { Note, Step } from "./steps.ts";

export function stepLine(step: Step): string {
  const [mark, text] = told(step);
  return `${color(MARKS[mark], mark)} ${plain(text)}`;
}

/** A step as plain text, for a message. */
export function stepWords(step: Step): string {
  return plain(told(step).join(" "));
}

const MARKS = { "+": "green", "~": "yellow", "-": "red" } as const;

function told(step: Step): [keyof typeof MARKS, string] {
  switch (step.do) {
    case "create_group":
      return ["+", `group ${step.group}${step.limit === null ? "" : `, limit ${step.limit}`}`];
    case "change_limit":
      return ["~", `group ${step.group}: limit ${step.to} instead of ${step.from}`];
    case "change_goal":
      return ["~", `group ${step.group}: ${step.from === null ? "a goal" : "a new goal"}`];
    case "share":
      return [step.ifRevision === 0 ? "+" : "~", `${step.key} of ${step.group}${step.ifRevision === 0 ? "" : ": a new value"}`];
    case "start":
      return ["+", `session ${step.name}: ${startText(step.planned)}`];
    case "resume":
      return [
        "~",
        `session ${step.name} is resumed${step.env === null ? "" : `, with new variables: ${Object.keys(step.env).join(", ")}`}`,
      ];
    case "set_budget":
      return ["~", `session ${step.name}: budget ${budgetWords(step.budget)}`];
    case "join":
      return ["~", `session ${step.name} joins ${step.group}`];
    case "leave":
      return ["~", `session ${step.name} leaves ${step.group}`];
    case "choose":
      return [
        "~",
        `session ${step.name}: ${[step.model && `model ${step.model}`, step.mode && `mode ${step.mode}`].filter(Boolean).join(", ")}`,
      ];
    case "set_coordinator":
      return ["~", `group ${step.group}: coordinator ${step.name}`];
    case "remember":
      return ["~", `${step.declaration.name}: recorded as declared in this file`];
    case "confirm":
      return ["~", `${step.chosen.map(({ name }) => name).join(", ")}: model and mode are checked`];
    case "unset":
      return ["-", `${step.key} of ${step.group}`];
    case "remove_session": {
      const stays = step.workspace === null ? "" : `; its workspace ${step.workspace} stays`;
      return ["-", `session ${step.name} (${step.status})${step.ended ? "" : ", stopped first"}${stays}`];
    }
    case "remove_group":
      return ["-", `group ${step.group}`];
  }
}

function budgetWords(budget: BudgetRequest): string {
  return Object.entries(budget)
    .map(([limit, amount]) => `${limit}=${amount ?? "off"}`)
    .join(",");
}

function startText({
  request: { agent, persona, chat, cwd, worktree, workspace },
  groups,
}: Extract<Step, { do: "start" }>["planned"]): string {
  const who = [persona, agent === "" ? undefined : agent].filter((part) => part !== undefined).join(" by ");
  const place = workspace === undefined ? shortPath(cwd) : `the workspace ${workspace}`;
  const where = worktree ? `a worktree of ${place}` : place;
  return [`${who}${chat ? ", a conversation" : ""} in ${where}`, ...(groups.length > 0 ? [`in ${groups.join(", ")}`] : [])].join(", ");
}

/** One line per note; all differences of one session share a line. */
export function noteLines(notes: readonly Note[], file: string): string[] {
  const told = notes.flatMap((note, index) => {
    if (note.why !== "differs") return [noteText(note, file)];
    const all = notes.filter((each): each is Differs => each.why === "differs" && each.name === note.name);
    return notes.indexOf(all[0] as Note) === index ? [differsText(note.name, all, file)] : [];
  });
  return told.map((text) => `${color("yellow", "!")} ${plain(text)}`);
}

type Differs = Extract<Note, { why: "differs" }>;

function differsText(name: string, notes: readonly Differs[], file: string): string {
  const parts = notes.map(({ key, was, now }) => {
    const says = now === null || isFingerprint(now) ? "" : ` (the file: ${now})`;
    return was === null ? `without ${key}${says}` : isFingerprint(was) ? `with another ${key}` : `with ${key} ${was}${says}`;
  });
  const again = `holdfast stop ${name}; holdfast rm ${name}; holdfast apply ${file}`;
  return `${name} was started ${parts.join(", ")}; that cannot be changed later. To start over: ${again}`;
}

function isFingerprint(said: string): boolean {
  return said.startsWith("sha256:");
}

function noteText(note: Exclude<Note, Differs>, file: string): string {
  switch (note.why) {
    case "ended":
      return `${note.name} has ended (${note.status}); start it again: holdfast resume ${note.name}, or apply --resume`;
    case "renamed":
      return `${note.name} is now named ${note.to}`;
    case "value_changed":
      return `${note.by} changed ${note.key} of ${note.group}, so its value is kept; to set it anyway: holdfast group unset ${note.group} ${note.key}; holdfast apply ${file}`;
    case "coordinator_ended":
      return `${note.name} cannot coordinate ${note.group}: it has ended`;
    case "still_used":
      return `the group ${note.group} is no longer in the file, but stays: ${note.by} is a member`;
  }
}

export function leftLine(left: readonly Step[]): string {
  const names = left.map((step) => told(step)[1].replace(/ \(.*$/, ""));
  return `${color("yellow", "!")} ${plain(`no longer in the file: ${names.join("; ")}. To remove ${left.length === 1 ? "it" : "them"}: --prune`)}`;
}

export function unchangedLine({ sessions, groups }: Plan, name: string): string {
  const values = groups.flatMap(({ context }) => Object.keys(context)).length;
  const parts = [
    sessions.length > 0 ? counted(sessions.length, "session") : "",
    groups.length > 0 ? counted(groups.length, "group") : "",
    values > 0 ? counted(values, "value") : "",
  ].filter((part) => part !== "");
  return `Nothing to change for ${plain(name)}: ${parts.join(", ")}.`;
}
