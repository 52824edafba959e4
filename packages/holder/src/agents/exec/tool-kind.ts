/** Guesses the kind of another agent's tool from its name. */
import type { ToolKind } from "@holdfast/contract/conversation/enums";

const KINDS: [names: RegExp, kind: ToolKind][] = [
  [/bash|shell|exec|command|terminal/i, "execute"],
  [/edit|write|replace|patch/i, "edit"],
  [/grep|glob|search|find|^ls$|list/i, "search"],
  [/^(web_?)?fetch/i, "fetch"],
  [/read|view|cat/i, "read"],
  [/todo|think|plan/i, "think"],
];

export function kindOf(name: string): ToolKind {
  return KINDS.find(([names]) => names.test(name))?.[1] ?? "other";
}

/** The name and the main argument, in one line. */
export function titleOf(name: string, input: unknown): string {
  const values = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
  const key = ["command", "file_path", "path", "absolute_path", "pattern", "query", "url", "description"].find(
    (each) => typeof values[each] === "string",
  );
  const what = key === undefined ? "" : ` ${String(values[key]).trim().split("\n")[0]}`;
  return `${name}${what}`.slice(0, 200);
}

export function filesOf(input: unknown): string[] {
  const values = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
  return ["file_path", "path", "absolute_path"].flatMap((key) => (typeof values[key] === "string" ? [values[key]] : []));
}
