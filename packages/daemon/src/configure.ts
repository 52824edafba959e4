/**
 * The program behind `holdfast config`: a request on standard input, a reply on standard output, both JSON (contract/configured.ts). It needs no
 * daemon, starts none, and leaves a running one alone.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EACH, HoldfastError, isSetting, type KnownKeys, type Setting } from "@holdfast/contract";
import type {
  ConfigurationPaths,
  ConfigurationProblem,
  ConfigurationSource,
  ConfiguredValue,
  ConfigureReply,
  ConfigureRequest,
} from "@holdfast/contract/configuration/configured";
import { changeConfiguration, configurationFile, configurationText } from "@holdfast/platform";
import { parse } from "smol-toml";
import { parseToml } from "./configuration.ts";
import { withValue } from "./configuration-edit.ts";
import { pathOf, problemsOfProject, problemsOfUser, quoted } from "./configuration-problems.ts";
import { PROJECT_KEYS, settingsOf, USER_KEYS } from "./configuration-schema.ts";
import { lineOf, nearest } from "./unknown-keys.ts";
import { projectFile } from "./workspace/setup/project.ts";

type Values = Record<string, unknown>;

try {
  const request = JSON.parse(readFileSync(0, "utf8")) as ConfigureRequest;
  process.stdout.write(JSON.stringify(answer(request)));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: HoldfastError.from(error).toBody() }));
}

function answer(request: ConfigureRequest): ConfigureReply {
  const paths = { user: configurationFile(), project: projectFile(topOf(request.cwd)) };
  switch (request.do) {
    case "paths":
      return { paths };
    case "show":
      return { paths, values: shown(paths), known: knownKeys() };
    case "check":
      return { paths, problems: [...problemsOfUser(read(paths.user)), ...problemsOfProject(read(paths.project))] };
    case "check text": {
      const { text, project } = request;
      return { paths, problems: project ? problemsOfProject({ file: paths.project, text }) : problemsOfUser({ file: paths.user, text }) };
    }
    case "set":
      return { paths, written: set(paths, request) };
  }
}

/** The root of the repository that contains the directory, or the directory itself. */
function topOf(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return cwd;
  }
}

function read(file: string): { file: string; text: string } {
  return { file, text: configurationText(file) ?? "" };
}

function shown(paths: ConfigurationPaths): ConfiguredValue[] {
  return (["user", "project"] as const).flatMap((source) => {
    const { file, text } = read(paths[source]);
    const known = source === "user" ? USER_KEYS : PROJECT_KEYS;
    return [...valuesIn({ known, values: parseToml(file, text), prefix: "", named: false }, { source, file, text })];
  });
}

interface Part {
  known: KnownKeys;
  values: unknown;
  prefix: string;
  /** Below a name that the user chose: only written values count, no defaults. */
  named: boolean;
}

function* valuesIn(part: Part, where: { source: ConfigurationSource; file: string; text: string }): Generator<ConfiguredValue> {
  const { known, prefix, named } = part;
  const values = isTable(part.values) ? part.values : {};
  const { source, file, text } = where;
  const written = (key: string, value: unknown): ConfiguredValue => ({ key, value, source, file, line: lineOf(text, key) });
  for (const [name, inside] of Object.entries(known)) {
    const key = prefix + name;
    const value = values[name];
    if (name === EACH) {
      for (const own of Object.keys(values).filter((each) => !Object.hasOwn(known, each)))
        yield* valuesIn({ known: inside as KnownKeys, values: values[own], prefix: `${prefix}${quoted(own)}.`, named: true }, where);
    } else if (isSetting(inside)) {
      if (value !== undefined) yield written(key, value);
      else if (!named) yield { key, value: usualOf(inside), source: "default", file: null, line: null };
    } else if (Array.isArray(value)) yield written(key, value);
    else if (!named && key === "approvals.rules") yield { key, value: [], source: "default", file: null, line: null };
    else yield* valuesIn({ known: inside, values: value, prefix: `${key}.`, named }, where);
  }
}

function usualOf({ usual }: Setting): unknown {
  return usual === null ? null : parse(`value = ${usual}`).value;
}

/** Another change may come in between: then this one is made again, on the new text. */
function set(paths: ConfigurationPaths, { key, value, project }: { key: string; value: string; project: boolean }): ConfiguredValue {
  const path = settable(key, project);
  const source = project ? "project" : "user";
  const file = paths[source];
  for (;;) {
    const before = configurationText(file);
    const { text, meant } = withMeaning({ file, text: before ?? "", project }, path, value);
    const isDone = changeConfiguration({ file, project: project ? dirname(dirname(file)) : null, before, text });
    if (isDone) return { key, value: meant, source, file, line: lineOf(text, key) };
  }
}

/** The text with the first meaning of the value that brings no new problem. */
function withMeaning(
  { file, text, project }: { file: string; text: string; project: boolean },
  path: readonly string[],
  value: string,
): { text: string; meant: unknown } {
  parseToml(file, text);
  const problems = project ? problemsOfProject : problemsOfUser;
  const told = new Set(problems({ file, text }).map(same));
  let refusal: ConfigurationProblem | undefined;
  for (const meant of meanings(value)) {
    const edited = withValue(text, path, meant);
    const wrong = problems({ file, text: edited }).find((problem) => problem.level === "problem" && !told.has(same(problem)));
    if (!wrong) return { text: edited, meant };
    refusal ??= wrong;
  }
  const hint = refusal?.fix;
  throw new HoldfastError("usage", `${refusal?.key ?? path.join(".")} ${refusal?.what ?? "cannot be set"}; nothing was written`, {
    ...(hint ? { hint } : {}),
  });
}

function same({ key, what }: ConfigurationProblem): string {
  return `${key} ${what}`;
}

/** The value as TOML if it is valid (`64`, `true`, `["a"]`), then as plain text (`F12`, `30d`). */
function meanings(value: string): unknown[] {
  try {
    const parsed = parse(`value = ${value}`);
    return Object.keys(parsed).length === 1 && parsed.value !== value ? [parsed.value, value] : [value];
  } catch {
    return [value];
  }
}

function settable(key: string, project: boolean): string[] {
  const path = pathOf(key);
  const known = project ? PROJECT_KEYS : USER_KEYS;
  const isText = path.every((part) => typeof part === "string");
  if (isText && isKey(known, path as string[])) return path as string[];
  const other = isText && isKey(project ? USER_KEYS : PROJECT_KEYS, path as string[]);
  if (other) {
    const hint = project ? "it belongs in your own file: omit --project" : "it belongs in the project's file: add --project";
    throw new HoldfastError("usage", `${key} is not a setting of ${project ? "a project" : "yours"}`, { hint });
  }
  const isList = key.startsWith("approvals.rules") || /^agents\.[^.]+\.screen/.test(key);
  if (isList) throw new HoldfastError("usage", `${key} is in a list of tables`, { hint: "change it by hand: holdfast config edit" });
  const keys = settingsOf(known).map((setting) => setting.key);
  const meant = nearest(key, keys) ?? nearest(key.slice(key.lastIndexOf(".") + 1), keys);
  throw new HoldfastError("usage", `${key} is not a setting`, {
    hint: "see every key: holdfast config show, docs/reference/configuration.md",
    ...(meant === null ? {} : { candidates: [meant] }),
  });
}

/** True for a single value, not for a table. */
function isKey(known: KnownKeys, path: readonly string[]): boolean {
  let at: KnownKeys | Setting | undefined = known;
  for (const name of path) {
    if (at === undefined || isSetting(at)) return false;
    at = Object.hasOwn(at, name) ? at[name] : at[EACH];
  }
  const isListed = path.join(".").startsWith("approvals.rules") || (path[0] === "agents" && path[2] === "screen");
  return at !== undefined && isSetting(at) && !isListed;
}

function knownKeys(): string[] {
  return [...settingsOf(USER_KEYS), ...settingsOf(PROJECT_KEYS)].map(({ key }) => key);
}

function isTable(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
