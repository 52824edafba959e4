/**
 * A tool call in one line, derived from its name and from the very input that will be executed. What an agent calls it is its own words,
 * and marked so. No schema library here: the CLI's hot path loads this file.
 */
import { inOneLine, ONE_LINE, visible } from "./visible.ts";

/** Arguments that name a file, by the names that agents give them. */
export const PATHS = ["file_path", "filePath", "filepath", "absolute_path", "notebook_path", "path"];

const COMMANDS = ["command", "cmd"];

/** What a tool's arguments are mostly about: the first of these that is there. */
const TELLING = [...COMMANDS, ...PATHS, "url", "pattern", "query", "prompt", "question", "plan"];

/** Of a command: an agent's own words about it, and how long it may take. Neither changes what is done. */
const BESIDE_A_COMMAND = ["description", "justification", "timeout", "timeout_ms"];

/** The tools of agents that run a command, and the kind that protocols call it. Of any other tool, no argument is known to change nothing. */
const SHELLS = /^(bash|shell|execute|run_shell_command|exec_command|local_shell)$/i;

/** How much of an argument is in the line that is not what the tool is mostly about. */
const MOST_OF_ONE = 120;

export function tellingOf(input: unknown): { key: string; text: string } | undefined {
  for (const key of TELLING) {
    const value = fieldOf(input, key);
    if (typeof value === "string") return { key, text: value };
    if (Array.isArray(value)) return { key, text: value.map(textOf).join(" ") };
  }
  return undefined;
}

/** `asks`: it is the agent's own tool for questions, which executes nothing. In any other, `questions` is an argument like the rest. */
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

/** What an agent asks for in a protocol. `title` is its own words for it, which may say anything. */
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

/** As an entry of a transcript asks for it. */
export function describeAsk(
  entry: { kind: string; name?: string | undefined; title: string; input?: unknown; changes?: readonly Change[] | undefined },
  most = ONE_LINE,
): string {
  // What is of no kind is known by its name, where it has one.
  const name = entry.kind === "other" ? (entry.name ?? entry.kind) : entry.kind;
  return describeCall({ name, title: entry.title, input: entry.input, changes: entry.changes }, most);
}

/** Whether the words add nothing: agents mostly repeat the command in them. */
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

/** Of a tool that asks: the questions, each with its choices. */
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

/** A change to a file as lines of a diff, in whole: what goes, then what comes. */
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

/** Of a tool that replaces a text in a file, by the names that agents give the arguments; undefined: it is another. */
export function changeIn(input: unknown): { change: Change; keys: string[] } | undefined {
  const pathKey = PATHS.find((key) => typeof fieldOf(input, key) === "string");
  const newKey = ["new_string", "newString", "new_text", "content"].find((key) => typeof fieldOf(input, key) === "string");
  if (pathKey === undefined || newKey === undefined) return undefined;
  const oldKey = ["old_string", "oldString", "old_text"].find((key) => typeof fieldOf(input, key) === "string");
  const text = (key: string | undefined) => (key === undefined ? null : (fieldOf(input, key) as string));
  const change = { path: text(pathKey) ?? "", old: text(oldKey), new: text(newKey) ?? "" };
  return { change, keys: [pathKey, newKey, ...(oldKey === undefined ? [] : [oldKey])] };
}
