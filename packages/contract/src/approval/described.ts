/**
 * Describes a tool call in one line, derived from its name and from the exact input that will be executed. The agent's own title is marked as such.
 * No schema library here: the CLI's hot path loads this file.
 */
import { inOneLine, ONE_LINE, visible } from "../visible.ts";

/** Arguments that name a file, as agents call them. */
export const PATHS = ["file_path", "filePath", "filepath", "absolute_path", "notebook_path", "path"];

const COMMANDS = ["command", "cmd"];

/** The main argument of a tool: the first of these that exists. */
const TELLING = [...COMMANDS, ...PATHS, "url", "pattern", "query", "prompt", "question", "plan"];

/** Arguments of a command that do not change what it does: the agent's comment on it, and its time limit. */
const BESIDE_A_COMMAND = ["description", "justification", "timeout", "timeout_ms"];

/** Tools of agents that run a command, and the kind that protocols use for them. For other tools every argument may matter. */
const SHELLS = /^(bash|shell|execute|run_shell_command|exec_command|local_shell)$/i;

/** Longest text of an argument other than the main one. */
const MOST_OF_ONE = 120;

export function tellingOf(input: unknown): { key: string; text: string } | undefined {
  for (const key of TELLING) {
    const value = fieldOf(input, key);
    if (typeof value === "string") return { key, text: value };
    if (Array.isArray(value)) return { key, text: value.map(textOf).join(" ") };
  }
  return undefined;
}

/** `asks`: the tool is the agent's own for questions, which executes nothing. In any other tool, `questions` is an ordinary argument. */
export function describeTool(
  { name, input }: { name: string; input: unknown },
  { asks = false, most = ONE_LINE }: { asks?: boolean; most?: number } = {},
): string {
  const questions = asks ? questionsIn(input) : undefined;
  if (questions !== undefined) return inOneLine(questions, most);
  const line = argumentsLine(input, name);
  return inOneLine(line === "" ? name : `${name}: ${line}`, most);
}

interface Change {
  path: string;
  old: string | null;
  new: string;
}

/** Describes an agent's request over a protocol. `title` is the agent's own text and may say anything. */
export function describeCall(
  call: { name: string; title: string; input: unknown; changes?: readonly Change[] | undefined },
  most = ONE_LINE,
): string {
  const changes = (call.changes ?? []).map(({ path, old, new: now }) => `${path} (−${linesIn(old)} +${linesIn(now)} lines)`);
  const args = [argumentsLine(call.input, call.name), ...changes].filter((part) => part !== "").join(" · ");
  const derived = describeTool({ name: call.name, input: args === "" ? null : args }, { most });
  const words = inOneLine(call.title, MOST_OF_ONE);
  return isSaid(words, derived) ? derived : `${derived} · in the agent's words: “${words}”`;
}

/** Describes a request from an entry of a transcript. */
export function describeAsk(
  entry: { kind: string; name?: string | undefined; title: string; input?: unknown; changes?: readonly Change[] | undefined },
  most = ONE_LINE,
): string {
  // A tool without a kind is described by its name, if it has one.
  const name = entry.kind === "other" ? (entry.name ?? entry.kind) : entry.kind;
  return describeCall({ name, title: entry.title, input: entry.input, changes: entry.changes }, most);
}

/** True if the title adds nothing: most agents repeat the command in it. */
function isSaid(words: string, derived: string): boolean {
  const bare = words.replaceAll("`", "").trim();
  return bare === "" || derived === bare || derived.endsWith(`: ${bare}`);
}

function argumentsLine(input: unknown, tool: string): string {
  if (input === null || input === undefined) return "";
  if (typeof input !== "object" || Array.isArray(input)) return textOf(input);
  const telling = tellingOf(input);
  if (!telling) return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
  const runs = COMMANDS.includes(telling.key) && SHELLS.test(tool);
  const isBeside = (key: string) => runs && BESIDE_A_COMMAND.includes(key);
  const others = Object.entries(input).filter(
    ([key, value]) => key !== telling.key && !isBeside(key) && value !== null && value !== undefined,
  );
  return [telling.text, ...others.map(([key, value]) => `${key}: ${inOneLine(textOf(value), MOST_OF_ONE)}`)].join(" · ");
}

/** The questions of a question tool, each with its choices. */
function questionsIn(input: unknown): string | undefined {
  const questions = fieldOf(input, "questions");
  if (!Array.isArray(questions) || questions.length === 0) return undefined;
  return questions.map((one) => [textOf(fieldOf(one, "question") ?? ""), ...labelsIn(one)].join(" | ")).join("; ");
}

function labelsIn(question: unknown): string[] {
  const options = fieldOf(question, "options");
  return Array.isArray(options) ? options.map((option) => textOf(fieldOf(option, "label") ?? "")) : [];
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key] ?? undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function linesIn(text: string | null): number {
  return text === null || text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

/** A complete change to a file as lines of a diff: first the removed lines, then the added ones. */
export function changeLines({ path, old, new: now }: Change): string[] {
  const lines = (text: string | null, mark: string) =>
    text === null || text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => `${mark} ${visible(line)}`);
  return [`${visible(path)}${old === null ? " (new)" : ""}`, ...lines(old, "-"), ...lines(now, "+")];
}

/** The change that a tool makes to a file, by the argument names that agents use; undefined for other tools. */
export function changeIn(input: unknown): { change: Change; keys: string[] } | undefined {
  const pathKey = PATHS.find((key) => typeof fieldOf(input, key) === "string");
  const newKey = ["new_string", "newString", "new_text", "content"].find((key) => typeof fieldOf(input, key) === "string");
  if (pathKey === undefined || newKey === undefined) return undefined;
  const oldKey = ["old_string", "oldString", "old_text"].find((key) => typeof fieldOf(input, key) === "string");
  const text = (key: string | undefined) => (key === undefined ? null : (fieldOf(input, key) as string));
  const change = { path: text(pathKey) ?? "", old: text(oldKey), new: text(newKey) ?? "" };
  return { change, keys: [pathKey, newKey, ...(oldKey === undefined ? [] : [oldKey])] };
}
