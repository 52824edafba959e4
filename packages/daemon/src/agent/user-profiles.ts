/**
 * User-defined agents, from config.toml:
 *
 *   [agents.mine]
 *   command = ["my-agent", "--fast"]
 *   prompt = ["-i", "{prompt}"]
 *
 *   [[agents.mine.screen]]
 *   name = "working"
 *   line = "esc to cancel"
 *   turn = "working"
 *
 * A table with the name of a built-in agent changes only the keys it contains. own-agent.ts reads `exec` and `model`.
 */
import { checkName, type HoldfastError, type KnownKeys, WAITS } from "@holdfast/contract";
import { BACKGROUND, BACKGROUND_KEYS, readBackground } from "./background.ts";
import { BUDGET_KEYS, readBudget } from "./budget.ts";
import { OWN_AGENT_KEYS, readOwnAgent, structuredFor } from "./own-agent.ts";
import type { Profile } from "./profile.ts";
import type { ScreenRule } from "./status/screen-rules.ts";
import { TableReader } from "./table-reader.ts";

/** Every key that is read below. Any other key is most likely a mistake. */
export const AGENT_KEYS = {
  command: {
    about: "The command that starts the agent in a terminal. Words after `--` are added to it.",
    takes: "a list of words",
    usual: null,
    example: 'command = ["my-agent", "--fast"]',
  },
  structured: {
    about: "The command that speaks the Agent Client Protocol on standard input and output, for conversations (chat).",
    takes: "a list of words",
    usual: null,
    example: 'structured = ["my-agent", "--acp"]',
  },
  ...OWN_AGENT_KEYS,
  prompt: {
    about: "Arguments for a first prompt. Without them, start the agent without a prompt and use send.",
    takes: "a list of words with {prompt}",
    usual: null,
    example: 'prompt = ["-i", "{prompt}"]',
  },
  resume: {
    about: "Arguments that continue the agent's conversation {id}.",
    takes: "a list of words with {id}",
    usual: null,
    example: 'resume = ["--resume", "{id}"]',
  },
  session_id: {
    about: "Arguments that give a new conversation the id {id}. Needs `resume`.",
    takes: "a list of words with {id}",
    usual: null,
    example: 'session_id = ["--session-id", "{id}"]',
  },
  fork: {
    about: "Arguments that continue a copy of the conversation {from}. Needs `resume`.",
    takes: "a list of words with {from}",
    usual: null,
    example: 'fork = ["--fork", "{from}"]',
  },
  description: {
    about: "The description that `holdfast agents` shows.",
    takes: "a text",
    usual: null,
    example: 'description = "our own agent"',
  },
  version: { about: "Arguments that print the version.", takes: "a list of words", usual: null, example: 'version = ["--version"]' },
  interrupt: {
    about: "Keys that interrupt a turn, in tmux's notation.",
    takes: "a list of keys",
    usual: null,
    example: 'interrupt = ["Escape"]',
  },
  budget: BUDGET_KEYS,
  background: BACKGROUND_KEYS,
  screen: {
    name: { about: "The name of the rule, for `holdfast explain`.", takes: "a text", usual: null, example: 'name = "working"' },
    title: { about: "The terminal title matches this.", takes: "a regular expression", usual: null, example: "title = '^busy'" },
    foot: {
      about: "A line at the bottom of the screen matches this.",
      takes: "a regular expression",
      usual: null,
      example: "foot = '\\? for shortcuts'",
    },
    line: { about: "A line of the screen matches this.", takes: "a regular expression", usual: null, example: 'line = "esc to cancel"' },
    without: {
      about: "No line of the screen matches this.",
      takes: "a regular expression",
      usual: null,
      example: 'without = "esc to cancel"',
    },
    turn: { about: "The state of the turn when the rule matches.", takes: '"idle" or "working"', usual: null, example: 'turn = "working"' },
    waits: {
      about: "The kind of input that the agent waits for when the rule matches.",
      takes: WAITS.map((wait) => JSON.stringify(wait)).join(", "),
      usual: null,
      example: 'waits = "approval"',
    },
  },
} as const satisfies KnownKeys;

export function userProfiles(table: unknown, context: { file: string; builtIn(name: string): Profile | undefined }): Profile[] {
  if (table === undefined) return [];
  const read = new TableReader(context.file, "agents");
  return Object.entries(read.table(table))
    .filter(([name]) => name !== BACKGROUND)
    .map(([name, value]) => profileOf(read.under(name), { name, table: value, base: context.builtIn(name) }));
}

function profileOf(read: TableReader, { name, table, base }: { name: string; table: unknown; base: Profile | undefined }): Profile {
  checkAgentName(read, name);
  const values = read.table(table);
  const words = (key: string) => (values[key] === undefined ? undefined : read.words(values[key], key));
  /** Without the placeholder its value would be silently lost. */
  const template = (key: string, place: string) => {
    const given = words(key);
    if (!given || given.some((word) => word.includes(place))) return given;
    throw read.wrong(key, `has no placeholder`, `for example: ${key} = ["--flag", "${place}"]`);
  };
  const ours = readOwnAgent(read, values);
  const structured = ours ? structuredFor(ours) : words("structured");
  // An agent without a screen needs this program to be installed.
  const command = words("command") ?? base?.command ?? (ours && "exec" in ours ? ours.exec.command : structured);
  if (!command) throw read.wrong("command", "is missing", 'for example: command = ["my-agent"]');
  const resume = template("resume", "{id}") ?? base?.conversation?.resume;
  const begin = template("session_id", "{id}") ?? base?.conversation?.begin;
  if (begin && !resume) throw read.wrong("resume", "is missing: session_id needs it", 'for example: resume = ["--resume", "{id}"]');
  const forkWords = template("fork", "{from}");
  if (forkWords && !resume)
    throw read.wrong("resume", "is missing: a fork could not be resumed", 'for example: resume = ["--resume", "{id}"]');
  // A different `resume` means a different program, which may not fork the same way.
  const fork = forkWords ? { words: forkWords } : values.resume === undefined ? base?.conversation?.fork : undefined;
  const screen =
    values.screen === undefined
      ? base?.screen
      : read.list(values.screen, "screen").map((rule, i) => ruleOf(read.under(`screen[${i}]`), rule));
  const own: Profile = {
    ...(base ?? { kind: "terminal" }),
    name,
    description: read.text(values.description, "description") ?? base?.description ?? name,
    command,
    own: true,
  };
  const more = {
    version: words("version"),
    prompt: template("prompt", "{prompt}"),
    interrupt: words("interrupt"),
    structured,
    ours,
    chatOnly: structured && values.command === undefined && !base ? true : undefined,
    screen,
  };
  if (values.budget !== undefined) own.budget = readBudget(values.budget, { file: read.file, path: `${read.path}.budget` });
  if (values.background !== undefined) own.background = readBackground(read.under(BACKGROUND), values.background);
  for (const [key, value] of Object.entries(more)) if (value !== undefined) Object.assign(own, { [key]: value });
  const { fork: _, ...kept } = base?.conversation ?? {};
  if (resume) own.conversation = { ...kept, ...(begin ? { begin } : {}), resume, ...(fork ? { fork } : {}) };
  return own;
}

function checkAgentName(read: TableReader, name: string): void {
  try {
    checkName(name);
  } catch (error) {
    const { message, hint = "" } = error as HoldfastError;
    throw read.refusal(`: ${message}`, hint);
  }
}

function ruleOf(read: TableReader, value: unknown): ScreenRule {
  const table = read.table(value);
  const rule: ScreenRule = { name: read.text(table.name, "name") ?? "a rule of your own" };
  for (const key of ["title", "foot", "line", "without"] as const) {
    const pattern = read.pattern(table[key], key);
    if (pattern) rule[key] = pattern;
  }
  if (!rule.title && !rule.foot && !rule.line && !rule.without)
    throw read.wrong("line", "is missing", 'a rule needs a pattern: line = "esc to cancel"');
  const turn = read.oneOf(table.turn, "turn", ["idle", "working"] as const);
  const waits = read.oneOf(table.waits, "waits", WAITS);
  if (turn) rule.turn = turn;
  if (waits) rule.waits = waits;
  else if (turn) rule.calm = true;
  if (!turn && !waits) throw read.wrong("turn", "is missing", 'a rule needs a result: turn = "working", or waits = "approval"');
  return rule;
}
