/**
 * Rules of config.toml that answer what agents ask for, so that nobody has to: `[[approvals.rules]]`, the first that fits wins.
 *
 * What a model writes must not slip past them. An `allow` fits only the whole text of what is asked, and never a command that is more than one
 * (`git status; rm -rf x`, `$(…)`, a redirection) unless the rule says `compound = true`; a path is resolved before it is looked at. A `deny`
 * or an `ask` fits when any part does. Questions are never answered by a rule.
 */
import { homedir } from "node:os";
import { isAbsolute, normalize, relative, resolve } from "node:path";
import { HoldfastError, type Principal } from "@holdfast/contract";
import { PATHS, tellingOf } from "../agent/hooks/hook-rules.ts";
import type { ApprovalRecord } from "../projection/approvals.ts";

export interface Rule {
  /** Its own name, else its place in the file, from 1. */
  name: string;
  agent: RegExp | undefined;
  tool: RegExp | undefined;
  pattern: RegExp | undefined;
  /** Absolute; `*` stands for one name. Fits what is below it too. */
  directory: RegExp | undefined;
  decision: "allow" | "deny" | "ask";
  reason: string | undefined;
  compound: boolean;
}

/** What a model may have written to keep a careless pattern busy for ever is left to people. */
const LONGEST = 10_000;

/** What makes a shell do more than run one program with these words. */
const OPERATORS = /[;&|<>`$()\p{Cc}]/u;

/** Arguments that say where a command runs, by the names that agents give them. */
const WORKS_IN = ["workdir", "cwd", "directory", "dir_path"];

const KEYS = ["name", "agent", "tool", "pattern", "directory", "decision", "reason", "compound"];

export type Asking = Pick<ApprovalRecord, "for" | "agent" | "tool" | "input" | "directory">;

/** Undefined: nobody decided; it waits. */
export function decide(
  rules: readonly Rule[],
  asked: Asking,
): { decision: "allow" | "deny"; rule: Principal; reason: string | null } | undefined {
  if (asked.for === "question" || asked.tool === null) return undefined;
  const text = subjectOf(asked);
  if (text.length > LONGEST) return undefined;
  const rule = rules.find((rule) => fits(rule, asked, text));
  if (!rule || rule.decision === "ask") return undefined;
  return { decision: rule.decision, rule: `rule:${rule.name}` as Principal, reason: rule.reason ?? null };
}

function fits(rule: Rule, asked: Asking, text: string): boolean {
  if (rule.agent && !rule.agent.test(asked.agent)) return false;
  if (rule.tool && !rule.tool.test(asked.tool ?? "")) return false;
  if (rule.directory && !isIn(rule, asked)) return false;
  if (rule.pattern && !rule.pattern.test(text)) return false;
  return rule.decision !== "allow" || rule.compound || !isCommand(asked) || !OPERATORS.test(text);
}

/** Where the agent is, and where its tool is to run: an `allow` fits when both do. */
function isIn({ directory, decision }: Rule, asked: Asking): boolean {
  const there = WORKS_IN.map((key) => (asked.input as Record<string, unknown> | null)?.[key]).filter((path) => typeof path === "string");
  const all = [asked.directory, ...there.map((path) => resolve(asked.directory, path))];
  const fits = (path: string) => directory?.test(normalize(`${path}/`)) ?? true;
  return decision === "allow" ? all.every(fits) : all.some(fits);
}

/** What a pattern is about: the command, the path (from the directory, if it is in there), or whatever else the tool is mostly about. */
export function subjectOf({ input, directory }: Asking): string {
  const telling = tellingOf(input);
  if (!telling) return JSON.stringify(input ?? null);
  if (!PATHS.includes(telling.key)) return telling.text;
  const path = resolve(directory, telling.text);
  const inside = relative(directory, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside || ".";
}

function isCommand({ input }: Asking): boolean {
  return ["command", "cmd"].includes(tellingOf(input)?.key ?? "");
}

/** The rules of `[approvals]`; what makes no sense is refused by file, line and name: a rule that is half understood may allow too much. */
export function readRules({ table, file, text }: { table: unknown; file: string; text: string }): Rule[] {
  if (table === undefined) return [];
  const rules = (table as { rules?: unknown } | null)?.rules ?? [];
  const keys = typeof table === "object" && table !== null && !Array.isArray(table) ? Object.keys(table) : ["?"];
  if (!Array.isArray(rules) || keys.some((key) => key !== "rules")) {
    throw new HoldfastError("usage", `${file}: [approvals] has rules and nothing else`, { hint: "write each as [[approvals.rules]]" });
  }
  const lines = text.split("\n").flatMap((line, i) => (/^\s*\[\[\s*approvals\s*\.\s*rules\s*\]\]/.test(line) ? [i + 1] : []));
  return rules.map((rule: unknown, i) => {
    const where = `${file}${lines[i] === undefined ? "" : `, line ${lines[i]}`}: approvals rule ${i + 1}`;
    return readRule(rule, { where, number: i + 1 });
  });
}

function readRule(value: unknown, { where, number }: { where: string; number: number }): Rule {
  const refuse = (what: string, hint = 'for example: tool = "Bash", pattern = "git (status|diff)", decision = "allow"') =>
    new HoldfastError("usage", `${where} ${what}`, { hint });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refuse("is not a table");
  const rule = value as Record<string, unknown>;
  const strange = Object.keys(rule).find((key) => !KEYS.includes(key));
  if (strange !== undefined) throw refuse(`has ${JSON.stringify(strange)}, which means nothing`, `it may have: ${KEYS.join(", ")}`);
  const word = (key: string): string | undefined => {
    const given = rule[key];
    if (given === undefined || (typeof given === "string" && given !== "")) return given;
    throw refuse(`has a ${key} that is no text`);
  };
  const { decision, compound = false } = rule;
  if (decision !== "allow" && decision !== "deny" && decision !== "ask") throw refuse("does not say decision allow, deny or ask");
  if (typeof compound !== "boolean") throw refuse("has a compound that is neither true nor false");
  const [agent, tool, pattern, directory, name, reason] = ["agent", "tool", "pattern", "directory", "name", "reason"].map(word);
  if (!agent && !tool && !pattern && !directory) throw refuse(`fits everything, and so would ${decision} everything`);
  if (name !== undefined && !/^\S+$/.test(name)) throw refuse("has a name with spaces");
  if (reason !== undefined && decision !== "deny") throw refuse("has a reason, which only a deny gives");
  return {
    name: name ?? String(number),
    agent: glob(agent),
    tool: glob(tool),
    pattern:
      pattern === undefined
        ? undefined
        : patternOf(pattern, decision, (why) => refuse(`has a pattern that is no regular expression: ${why}`)),
    directory: directory === undefined ? undefined : directoryOf(directory, refuse),
    decision,
    reason,
    compound,
  };
}

function patternOf(pattern: string, decision: string, refuse: (why: string) => Error): RegExp {
  try {
    return new RegExp(decision === "allow" ? `^(?:${pattern})$` : pattern, "u");
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

function directoryOf(directory: string, refuse: (what: string, hint: string) => Error): RegExp {
  const path = directory === "~" || directory.startsWith("~/") ? homedir() + directory.slice(1) : directory;
  if (!isAbsolute(path)) throw refuse("has a directory that is not an absolute path", 'for example: directory = "~/code/*"');
  const names = normalize(path).replace(/\/+$/, "").split("/");
  return new RegExp(`^${names.map((name) => name.split("*").map(literal).join("[^/]*")).join("/")}/`, "u");
}

function glob(text: string | undefined): RegExp | undefined {
  return text === undefined ? undefined : new RegExp(`^${text.split("*").map(literal).join(".*")}$`, "su");
}

function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
