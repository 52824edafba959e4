/** Finds every problem of a configuration file, not only the first: removes each wrong key and checks the rest again. */
import type { ConfigurationProblem } from "@holdfast/contract/configuration/configured";
import { HoldfastError } from "@holdfast/contract/errors";
import { WrongSetting } from "@holdfast/platform";
import { readCommonBackground } from "./agent/background.ts";
import { readBudget } from "./agent/budget.ts";
import { readServers } from "./agent/mcp.ts";
import { Profiles } from "./agent/profiles/index.ts";
import { userProfiles } from "./agent/user-profiles.ts";
import { parentsAnswer, readRules } from "./approval/rules.ts";
import { checkScalars, parseToml, unknownIn } from "./configuration.ts";
import { MACHINE_KEYS } from "./configuration-schema.ts";
import { lineOf } from "./unknown-keys.ts";
import { readPrices } from "./usage/prices.ts";
import { checkWorkspace } from "./workspace/setup/project.ts";

type Values = Record<string, unknown>;

interface File {
  file: string;
  text: string;
}

/** More problems than this come from one mistake. */
const MOST = 100;

export function problemsOfUser({ file, text }: File): ConfigurationProblem[] {
  const values = parsed({ file, text });
  if (!("values" in values)) return [values.problem];
  const checks: ((values: Values) => void)[] = [
    (all) => checkScalars({ file, text, values: all }),
    ({ budget }) => void readBudget(budget, { file, path: "budget" }),
    ({ agents }) => void readCommonBackground(agents, file),
    ...namesIn(values.values.agents).map((name) => ({ agents }: Values) => {
      const table = (agents as Values)[name];
      new Profiles((builtIn) => userProfiles({ [name]: table }, { file, builtIn }));
    }),
    ({ agents }) => refuseNoTable(agents, { file, key: "agents" }),
    ...namesIn(values.values.mcp).map(
      (name) =>
        ({ mcp }: Values) =>
          void readServers({ table: { [name]: (mcp as Values)[name] }, file }),
    ),
    ({ mcp }) => refuseNoTable(mcp, { file, key: "mcp" }),
    ...namesIn(values.values.prices).map((name) => ({ prices }: Values) => {
      readPrices({ table: { [name]: (prices as Values)[name] }, file });
    }),
    ({ prices }) => refuseNoTable(prices, { file, key: "prices" }),
    ({ approvals }) => void readRules({ table: approvals, file, text }),
    ({ approvals }) => void parentsAnswer({ table: approvals, file }),
    ({ machines }) => checkMachines(machines, file),
  ];
  const unknown = unknownIn(values.values, text).map(({ key, line, meant }): ConfigurationProblem => {
    const fix = meant === null ? "remove it; docs/reference/configuration.md lists every key" : `did you mean ${meant}?`;
    return { file, line, column: null, key, level: "warning", what: "is not a setting, and is ignored", fix };
  });
  const wrong = checks.flatMap((check) => collected(check, structuredClone(values.values), { file, text }));
  return [...wrong, ...unknown].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

export function problemsOfProject({ file, text }: File): ConfigurationProblem[] {
  const values = parsed({ file, text });
  if (!("values" in values)) return [values.problem];
  const others = Object.keys(values.values).filter((key) => key !== "workspace");
  const unknown = others.map((key): ConfigurationProblem => {
    const fix = `a project's file has only [workspace]; ${key} belongs into your own: holdfast config path`;
    return {
      file,
      line: lineOf(text, key),
      column: null,
      key,
      level: "warning",
      what: "is not a setting of a project, and is ignored",
      fix,
    };
  });
  const check = ({ workspace = {} }: Values) => {
    refuseNoTable(workspace, { file, key: "workspace" });
    checkWorkspace(file, workspace as Values);
  };
  return [...collected(check, structuredClone(values.values), { file, text }), ...unknown];
}

/** Repeats a check, each time without the value that was wrong, and returns all problems. */
function collected(check: (values: Values) => void, values: Values, { file, text }: File): ConfigurationProblem[] {
  const found: ConfigurationProblem[] = [];
  const stoodIn = new Map<string, number>();
  while (found.length < MOST) {
    try {
      check(values);
      return found;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      const key = error instanceof WrongSetting ? error.key : null;
      // A removed key is then reported as missing, which is the same mistake. A placeholder lets the check continue with other keys.
      if (key !== null && found.some((each) => each.key === key)) {
        const tries = stoodIn.get(key) ?? 0;
        if (tries === STAND_INS.length || !standIn(values, pathOf(key), STAND_INS[tries])) return found;
        stoodIn.set(key, tries + 1);
        continue;
      }
      const what = error instanceof WrongSetting ? error.what : error.message;
      const line = key === null ? null : nearestLine(text, key);
      found.push({ file, line, column: null, key, level: "problem", what, fix: error.hint ?? "correct it there" });
      if (key === null || !setAside(values, pathOf(key))) return found;
    }
  }
  return found;
}

/** For a missing key, or one inside an inline table: the line of the table that it belongs to. */
function nearestLine(text: string, key: string): number | null {
  const path = pathOf(key);
  for (let length = path.length; length > 0; length--) {
    const line = lineOf(text, written(path.slice(0, length)));
    if (line !== null) return line;
  }
  return null;
}

function written(path: readonly (string | number)[]): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}

/** `agents.mine.screen[1].line`, `prices."my.model".input`. */
export function pathOf(key: string): (string | number)[] {
  return [...key.matchAll(/"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^.[\]"]+)/g)].map(([, quoted, number, plain = ""]) =>
    quoted === undefined ? (number === undefined ? plain : Number(number)) : (JSON.parse(`"${quoted}"`) as string),
  );
}

function setAside(values: Values, path: readonly (string | number)[]): boolean {
  let at: unknown = values;
  for (const part of path.slice(0, -1)) at = (at as Values | undefined)?.[part];
  const last = path.at(-1);
  if (typeof at !== "object" || at === null || last === undefined || !Object.hasOwn(at, last)) return false;
  // A valid entry takes the place of a wrong one, so that the others keep their numbers in messages.
  if (Array.isArray(at)) at[last as number] = path.includes("rules") ? { agent: "-", decision: "ask" } : { line: "-", turn: "idle" };
  else delete (at as Values)[last];
  return true;
}

/** Placeholders: for a list of words, and for a text. */
const STAND_INS: readonly unknown[] = [["{prompt} {id} {from}"], "x"];

function standIn(values: Values, path: readonly (string | number)[], value: unknown): boolean {
  let at: unknown = values;
  for (const part of path.slice(0, -1)) at = (at as Values | undefined)?.[part];
  if (typeof at !== "object" || at === null) return false;
  (at as Values)[path.at(-1) ?? ""] = value;
  return true;
}

function parsed({ file, text }: File): { values: Values } | { problem: ConfigurationProblem } {
  try {
    return { values: parseToml(file, text) };
  } catch (error) {
    const { message, hint, cause } = error as HoldfastError & { cause?: { line?: number; column?: number } };
    const what = `is not valid TOML: ${message.split(": ").slice(1).join(": ")}`;
    const { line = null, column = null } = cause ?? {};
    return { problem: { file, line, column, key: null, level: "problem", what, fix: hint ?? "correct it there" } };
  }
}

function namesIn(table: unknown): string[] {
  return typeof table === "object" && table !== null && !Array.isArray(table) ? Object.keys(table) : [];
}

function refuseNoTable(table: unknown, { file, key }: { file: string; key: string }): void {
  if (table === undefined || (typeof table === "object" && table !== null && !Array.isArray(table))) return;
  throw new WrongSetting({ file, key, what: "is not a table", hint: `for example: [${key}.NAME]` });
}

function checkMachines(table: unknown, file: string): void {
  refuseNoTable(table, { file, key: "machines" });
  for (const name of namesIn(table)) {
    const machine = (table as Values)[name];
    refuseNoTable(machine, { file, key: `machines.${quoted(name)}` });
    for (const [key, { example }] of Object.entries(MACHINE_KEYS)) {
      const value = (machine as Values)[key];
      if (value === undefined || (typeof value === "string" && value !== "")) continue;
      throw new WrongSetting({ file, key: `machines.${quoted(name)}.${key}`, what: "is not a text", hint: `for example: ${example}` });
    }
  }
}

/** Quotes a name as it is written in a key. */
export function quoted(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}
