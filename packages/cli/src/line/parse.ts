import { parseArgs } from "node:util";
import { HoldfastError } from "@holdfast/contract/errors";
import { isSimilar } from "@holdfast/platform/edit-distance";
import { shellWord } from "@holdfast/platform/shell";
import { type Declaration, type Flag, type Flags, JSON_FLAG, type Line } from "../command.ts";

export interface CommandLine extends Line {
  rest: string[];
}

/** Flags of every command. */
export const COMMON_FLAGS: Readonly<Record<string, Flag>> = { json: JSON_FLAG, help: { short: "h", summary: "show help" } };

/** Accepted by every command, because every command has help. */
export const PAGER_FLAG: Readonly<Record<string, Flag>> = { "no-pager": { summary: "print long output directly, without a pager" } };

export function parseCommandLine(command: Declaration, argv: readonly string[]): CommandLine {
  // Node's parser is compiled on its first call, which costs half a millisecond of CPU.
  if (argv.length === 0) return { args: [], rest: [], flags: flagsOf({}) };
  const flags = { ...COMMON_FLAGS, ...PAGER_FLAG, ...command.flags };
  const cut = command.passesOn ? firstArgument(argv, flags) : argv.indexOf("--");
  const given = cut < 0 ? argv : argv.slice(0, cut);
  const own = withOptionalValues(given, flags, command.arguments !== undefined && !command.passesOn);
  const rest = cut < 0 ? [] : argv.slice(argv[cut] === "--" ? cut + 1 : cut);
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      {
        type: flag.value ? ("string" as const) : ("boolean" as const),
        multiple: flag.multiple ?? false,
        ...(flag.short ? { short: flag.short } : {}),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...own], options, allowPositionals: true, strict: true });
    if (positionals.length > 0 && !command.arguments && !values.help) throw tooMany(command, positionals[0] ?? "");
    if (rest.length > 0 && !command.passesOn && !command.takesRest && !values.help) throw notPassedOn(command);
    return { args: positionals, rest, flags: flagsOf(values as Values) };
  } catch (error) {
    throw error instanceof HoldfastError ? error : refused(error as NodeJS.ErrnoException, { command, flags, argv });
  }
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function flagsOf(values: Values): Flags {
  return {
    text: (name) => (typeof values[name] === "string" ? values[name] : undefined),
    list: (name) => [values[name] ?? []].flat().flatMap((value) => (typeof value === "string" ? [value] : [])),
    has: (name) => values[name] === true,
  };
}

/** Index of the first argument that is neither a flag nor a flag's value, or of `--`. */
function firstArgument(argv: readonly string[], flags: Readonly<Record<string, Flag>>): number {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    if (word === "--" || !word.startsWith("-")) return i;
    const flag = word.startsWith("--") ? flags[word.slice(2)] : Object.values(flags).find(({ short }) => word === `-${short}`);
    if (flag?.optional ? hasWord(argv, i) && argv.includes("--", i + 2) : flag?.value) i++;
  }
  return -1;
}

/**
 * Node's parser has no optional values. A value that follows is joined to its flag; a missing value becomes an empty string. In `spawn
 * --worktree claude` the word is the required argument. A word with a space is never the value: in `spawn claude --worktree 'fix the login'` it
 * is the prompt.
 */
function withOptionalValues(argv: readonly string[], flags: Readonly<Record<string, Flag>>, needsArgument: boolean): readonly string[] {
  const at = argv.findIndex((word) => word.startsWith("--") && flags[word.slice(2)]?.optional);
  if (at < 0) return argv;
  const takes = hasWord(argv, at) && (!needsArgument || countArguments(argv, flags) > 1);
  const joined = `${argv[at]}=${takes ? argv[at + 1] : ""}`;
  return [...argv.slice(0, at), joined, ...withOptionalValues(argv.slice(at + (takes ? 2 : 1)), flags, needsArgument && !takes)];
}

function hasWord(argv: readonly string[], flagAt: number): boolean {
  const word = argv[flagAt + 1];
  return word !== undefined && !word.startsWith("-") && !/\s/.test(word);
}

/** Counts words that are not flags, not required values of flags, and contain no space. */
function countArguments(argv: readonly string[], flags: Readonly<Record<string, Flag>>): number {
  return argv.filter((word, index) => {
    const before = argv[index - 1] ?? "";
    const of = before.startsWith("--") ? flags[before.slice(2)] : Object.values(flags).find(({ short }) => short && before === `-${short}`);
    return !word.startsWith("-") && !/\s/.test(word) && !(of?.value && !of.optional);
  }).length;
}

function tooMany(command: Declaration, argument: string): HoldfastError {
  return new HoldfastError("usage", `${command.name} takes no arguments, got ${JSON.stringify(argument)}`, {
    hint: command.withArgument?.(shellWord(argument)) ?? `see: holdfast ${command.name} --help`,
  });
}

function notPassedOn(command: Declaration): HoldfastError {
  return new HoldfastError("usage", `${command.name} takes no arguments after --`, {
    hint: `see: holdfast ${command.name} --help`,
  });
}

/** Replaces the parser's error, whose advice is about Node's parser. */
function refused(
  error: NodeJS.ErrnoException,
  of: { command: Declaration; flags: Readonly<Record<string, Flag>>; argv: readonly string[] },
): HoldfastError {
  const written = (/--[^\s'<=]+/.exec(error.message) ?? /-[^\s',]/.exec(error.message))?.[0] ?? error.message;
  const name = written.replace(/^--?/, "");
  const isMachine = written === "-H" || written === "--machine";
  const hint = isMachine
    ? `-H goes before the command: holdfast -H MACHINE ${of.command.name}`
    : of.command.takesRest && /^-\d/.test(written)
      ? "put a negative number last, after --"
      : `see: holdfast ${of.command.name} --help`;
  if (error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    const { instead = {}, name: command } = of.command;
    const other = Object.hasOwn(instead, name) ? instead[name]?.(of.argv) : undefined;
    if (other)
      throw new HoldfastError("usage", `${command} has no flag ${written}`, { hint: `use: holdfast ${other.map(shellWord).join(" ")}` });
    const known = Object.keys(of.flags).filter((flag) => of.command.pages || !Object.hasOwn(PAGER_FLAG, flag));
    const candidates = known.filter((flag) => isSimilar(flag, name));
    return new HoldfastError("usage", `${of.command.name} has no flag ${written}`, {
      hint,
      candidates: candidates.map((flag) => `--${flag}`),
    });
  }
  const value = of.flags[name]?.value;
  if (value === undefined) return new HoldfastError("usage", `${written} takes no value`, { hint });
  const ambiguous = error.message.includes("ambiguous");
  return new HoldfastError("usage", `${written} needs a value: ${written} ${value}`, {
    hint: ambiguous ? `if the value starts with a dash: ${written}=-…` : hint,
  });
}
