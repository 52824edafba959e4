/**
 * Rules of config.toml that answer approvals automatically: `[[approvals.rules]]`. The first rule that matches wins.
 *
 * Text from a model must not slip past the rules. An `allow` must match the whole text of a request, and never matches a command that is more than
 * one (`git status; rm -rf x`, `$(…)`, a redirection) unless the rule says `compound = true`. Paths and the symbolic links on them are resolved
 * before they are matched. If the arguments name several things, an `allow` must match all of them; a `deny` or an `ask` matches if any part of
 * any of them does. Rules never answer questions.
 */
import { readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from "node:path";
import { type KnownKeys, PATHS, type Principal, rulePrincipal, tellingOf } from "@holdfast/contract";
import { WrongSetting } from "@holdfast/platform";
import type { ApprovalRecord } from "../projection/approvals.ts";

export interface Rule {
  /** The configured name, else the rule's position in the file, from 1. */
  name: string;
  agent: RegExp | undefined;
  tool: RegExp | undefined;
  pattern: RegExp | undefined;
  /** Absolute; `*` stands for one name. Also matches everything below. */
  directory: RegExp | undefined;
  decision: "allow" | "deny" | "ask";
  reason: string | undefined;
  compound: boolean;
}

/** Longer texts are left to people: a model could keep a careless pattern busy forever. */
const LONGEST = 10_000;

/** Characters that make a shell do more than run one program with these words. */
const OPERATORS = /[;&|<>`$()\p{Cc}]/u;

export const RULE_KEYS = {
  name: { about: "The name of the rule, for the audit.", takes: "a text without spaces", usual: null, example: 'name = "git-reads"' },
  agent: { about: "Only requests of this agent. * stands for any text.", takes: "an agent name", usual: null, example: 'agent = "claude"' },
  tool: { about: "Only requests for this tool. * stands for any text.", takes: "a tool name", usual: null, example: 'tool = "Bash"' },
  pattern: {
    about: "The pattern that the command, path or address must match. An allow rule must match all of it.",
    takes: "a regular expression",
    usual: null,
    example: "pattern = 'git (status|diff)'",
  },
  directory: {
    about: "Only requests in this directory or below it. * stands for one name.",
    takes: "an absolute path; ~ is your home",
    usual: null,
    example: 'directory = "~/code/*"',
  },
  decision: {
    about: "The answer. With `ask` the request waits for you. Every rule needs it.",
    takes: '"allow", "deny" or "ask"',
    usual: null,
    example: 'decision = "allow"',
  },
  reason: {
    about: "Why, for the agent. Only with deny.",
    takes: "a text",
    usual: null,
    example: '# with decision = "deny": reason = "use the Makefile"',
  },
  compound: {
    about: "Whether an allow rule may match a command that a shell would run as several (;, |, $(…), redirections).",
    takes: "true or false",
    usual: "false",
    example: "compound = true",
  },
} as const satisfies KnownKeys;

const KEYS = Object.keys(RULE_KEYS);

export type Asking = Pick<ApprovalRecord, "for" | "agent" | "tool" | "input" | "directory">;

/** Undefined: no rule decided, and the request waits. */
export function decide(
  rules: readonly Rule[],
  asked: Asking,
): { decision: "allow" | "deny"; rule: Principal; reason: string | null } | undefined {
  if (asked.for === "question" || asked.tool === null) return undefined;
  const subjects = subjectsOf(asked);
  if (subjects.some((text) => text.length > LONGEST)) return undefined;
  const rule = rules.find((rule) => fits(rule, asked, subjects));
  if (!rule || rule.decision === "ask") return undefined;
  return { decision: rule.decision, rule: rulePrincipal(rule.name), reason: rule.reason ?? null };
}

function fits({ agent, tool, directory, pattern, decision, compound }: Rule, asked: Asking, subjects: readonly string[]): boolean {
  if (agent && !agent.test(asked.agent)) return false;
  if (tool && !tool.test(asked.tool ?? "")) return false;
  const fit = (texts: readonly string[], wanted: RegExp | undefined) =>
    !wanted || (decision === "allow" ? texts.every((text) => wanted.test(text)) : texts.some((text) => wanted.test(text)));
  if (!fit(placesOf(asked), directory) || !fit(subjects, pattern)) return false;
  return (
    decision !== "allow" || compound || !COMMANDS.some((key) => key in argumentsOf(asked)) || !subjects.some((text) => OPERATORS.test(text))
  );
}

const COMMANDS = ["command", "cmd"];

const ADDRESS = "url";

/** Arguments that name the directory of a command. */
const PLACES = ["directory", "dir_path", "workdir", "cwd"];

/**
 * The texts that a pattern is matched against: the command, the path (relative to the directory if inside it), the address, or else the tool's
 * main argument. There are several if the model gave several, needed or not, or if a path leads elsewhere through a link.
 */
function subjectsOf(asked: Asking): string[] {
  const given = argumentsOf(asked);
  const named = [...COMMANDS, ...PATHS, ADDRESS].flatMap((key) => {
    const value = given[key];
    if (value === undefined || value === null) return [];
    if (!PATHS.includes(key)) return [Array.isArray(value) ? value.join(" ") : textOf(value)];
    return [value].flat().flatMap((path) => pathsOf(textOf(path), asked.directory));
  });
  return named.length > 0 ? named : [tellingOf(asked.input)?.text ?? JSON.stringify(asked.input ?? null)];
}

function placesOf(asked: Asking): string[] {
  const given = argumentsOf(asked);
  const named = PLACES.flatMap((key) => (typeof given[key] === "string" ? [resolve(asked.directory, given[key])] : []));
  return [asked.directory, ...named].map((place) => normalize(`${place}/`));
}

function argumentsOf({ input }: Asking): Record<string, unknown> {
  return typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The path as written, and its real path if that differs. */
function pathsOf(text: string, directory: string): string[] {
  const path = resolve(directory, text.replace(/^~(?=\/|$)/, homedir()));
  return [...new Set([within(directory, path), within(realOf(directory), realOf(path))])];
}

function within(directory: string, path: string): string {
  const inside = relative(directory, path);
  return inside === ".." || inside.startsWith("../") || isAbsolute(inside) ? path : inside || ".";
}

/** The real path. For a path that does not exist yet, where it would be, even behind a dangling link. */
function realOf(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    if (path === dirname(path)) return path;
    const here = join(realOf(dirname(path), links), basename(path));
    const target = links < MOST_LINKS ? linkAt(here) : undefined;
    return target === undefined ? here : realOf(resolve(dirname(here), target), links + 1);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Number of links that the system follows. */
const MOST_LINKS = 40;

/** The rules of `[approvals]`. Invalid entries are refused with file, line and name: a half-understood rule may allow too much. */
export function readRules({ table, file, text }: { table: unknown; file: string; text: string }): Rule[] {
  if (table === undefined) return [];
  const rules = (table as { rules?: unknown } | null)?.rules ?? [];
  const keys = typeof table === "object" && table !== null && !Array.isArray(table) ? Object.keys(table) : ["?"];
  if (!Array.isArray(rules) || keys.some((key) => key !== "rules" && key !== "parents")) {
    const key = keys.find((each) => each !== "rules" && each !== "parents");
    throw new WrongSetting({
      file,
      key: key === undefined || key === "?" ? "approvals" : `approvals.${key}`,
      called: "[approvals]",
      what: "has only the keys rules and parents",
      hint: "write each as [[approvals.rules]]",
    });
  }
  const lines = text.split("\n").flatMap((line, i) => (/^\s*\[\[\s*approvals\s*\.\s*rules\s*\]\]/.test(line) ? [i + 1] : []));
  return rules.map((rule: unknown, i) => {
    return readRule(rule, { file, line: lines[i], number: i + 1 });
  });
}

/** True if a session may answer its children's approvals: `[approvals] parents`. */
export function parentsAnswer({ table, file }: { table: unknown; file: string }): boolean {
  const { parents = true } = (table ?? {}) as { parents?: unknown };
  if (typeof parents === "boolean") return parents;
  throw new WrongSetting({ file, key: "approvals.parents", what: "is neither true nor false", hint: "for example: parents = false" });
}

function readRule(value: unknown, { file, line, number }: { file: string; line: number | undefined; number: number }): Rule {
  const refuse = (what: string, hint = 'for example: tool = "Bash", pattern = "git (status|diff)", decision = "allow"') =>
    new WrongSetting({ file, line, key: `approvals.rules[${number - 1}]`, called: `approvals rule ${number}`, what, hint });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refuse("is not a table");
  const rule = value as Record<string, unknown>;
  const strange = Object.keys(rule).find((key) => !KEYS.includes(key));
  if (strange !== undefined) throw refuse(`has the unknown key ${JSON.stringify(strange)}`, `its keys: ${KEYS.join(", ")}`);
  const word = (key: string): string | undefined => {
    const given = rule[key];
    if (given === undefined || (typeof given === "string" && given !== "")) return given;
    throw refuse(`has a ${key} that is not a text`);
  };
  const { decision, compound = false } = rule;
  if (decision !== "allow" && decision !== "deny" && decision !== "ask") throw refuse("has no decision: allow, deny or ask");
  if (typeof compound !== "boolean") throw refuse("has a compound that is neither true nor false");
  const [agent, tool, pattern, directory, name, reason] = ["agent", "tool", "pattern", "directory", "name", "reason"].map(word);
  if (!agent && !tool && !pattern && !directory) throw refuse(`matches everything, and so would ${decision} everything`);
  if (name !== undefined && !/^\S+$/.test(name)) throw refuse("has a name with spaces");
  if (reason !== undefined && decision !== "deny") throw refuse("has a reason, but only a deny rule takes one");
  return {
    name: name ?? String(number),
    agent: glob(agent),
    tool: glob(tool),
    pattern:
      pattern === undefined
        ? undefined
        : patternOf(pattern, decision, (why) => refuse(`has a pattern that is not a regular expression: ${why}`)),
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
