import { HoldfastError } from "@holdfast/contract/errors";
import { describe, expect, test } from "vitest";
import { type Command, SECTIONS } from "../command.ts";
import { INTERNAL } from "../internal.ts";
import { COMMANDS, findCommand } from "../registry.ts";
import { parseCommandLine } from "./parse.ts";

const command: Command = {
  name: "verb",
  summary: "",
  usage: "",
  arguments: "sessions",
  flags: {
    name: { value: "NAME", summary: "" },
    env: { value: "K=V", multiple: true, summary: "" },
    all: { short: "a", summary: "" },
    tail: { value: "N", short: "n", summary: "" },
  },
  examples: [],
  run: async () => 0,
};

function parse(argv: string[], more: Partial<Command> = {}) {
  const { args, rest, flags } = parseCommandLine({ ...command, ...more }, argv);
  return {
    args,
    rest,
    name: flags.text("name"),
    env: flags.list("env"),
    all: flags.has("all"),
    tail: flags.text("tail"),
    json: flags.has("json"),
  };
}

const NOTHING = { args: [], rest: [], name: undefined, env: [], all: false, tail: undefined, json: false };

function refusal(argv: string[], more: Partial<Command> = {}): HoldfastError {
  try {
    parse(argv, more);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

test.each([
  [[], {}],
  [["a", "b"], { args: ["a", "b"] }],
  [["--name", "x", "a"], { name: "x", args: ["a"] }],
  [["a", "--name=x", "--json"], { name: "x", args: ["a"], json: true }],
  [["--name="], { name: "" }],
  [["--name", "a=b"], { name: "a=b" }],
  [["-a", "-n", "5"], { all: true, tail: "5" }],
  [["-an5"], { all: true, tail: "5" }],
  [["--env", "A=1", "--env", "B=2"], { env: ["A=1", "B=2"] }],
  [["--name", "x", "--name", "y"], { name: "y" }],
  [["a", "--"], { args: ["a"] }],
  [["", "漢字"], { args: ["", "漢字"] }],
])("%j is parsed", (argv, expected) => {
  expect(parse(argv)).toEqual({ ...NOTHING, ...expected });
});

test.each([
  [["npm", "test", "--watch", "--json"], { rest: ["npm", "test", "--watch", "--json"] }],
  [["--name", "x", "npm", "--name", "y"], { name: "x", rest: ["npm", "--name", "y"] }],
  [["--name=x", "npm"], { name: "x", rest: ["npm"] }],
  [["--json", "--", "npm", "--", "x"], { json: true, rest: ["npm", "--", "x"] }],
  [["-n", "5", "-a", "npm", "-n"], { tail: "5", all: true, rest: ["npm", "-n"] }],
  [["--env", "A=1", "--", "--help"], { env: ["A=1"], rest: ["--help"] }],
  [["--"], {}],
  [[""], { rest: [""] }],
])("a command that runs another command stops parsing flags at its name: %j", (argv, expected) => {
  expect(parse(argv, { passesOn: true })).toEqual({ ...NOTHING, ...expected });
});

test("an unknown or malformed flag is refused with a suggestion", () => {
  expect(refusal(["--nam", "x"])).toMatchObject({ code: "usage", message: "verb has no flag --nam", candidates: ["--name"] });
  expect(refusal(["-x"])).toMatchObject({ code: "usage", message: "verb has no flag -x" });
  expect(refusal(["--constructor"])).toMatchObject({ code: "usage", message: "verb has no flag --constructor" });
  expect(refusal(["--name"])).toMatchObject({ code: "usage", message: "--name needs a value: --name NAME" });
  expect(refusal(["--name", "--all"])).toMatchObject({ code: "usage", hint: expect.stringContaining("--name=-") });
  expect(refusal(["--all=yes"])).toMatchObject({ code: "usage", message: "--all takes no value" });
});

test("a command without arguments refuses one, unless --help is given", () => {
  const { arguments: _none, ...without } = command;
  expect(() => parseCommandLine(without, ["x"])).toThrow(
    expect.objectContaining({ code: "usage", message: 'verb takes no arguments, got "x"' }),
  );
  expect(parseCommandLine(without, ["x", "--help"]).flags.has("help")).toBe(true);
});

test("arguments after -- are passed on by commands that accept them, and refused by all others", () => {
  const argv = ["a", "--", "--json", "-x", "--"];
  expect(parse(argv, { takesRest: true })).toEqual({ ...NOTHING, args: ["a"], rest: ["--json", "-x", "--"] });
  expect(refusal(argv)).toMatchObject({ code: "usage", message: "verb takes no arguments after --" });
});

describe("a flag with an optional value", () => {
  const tree = { flags: { ...command.flags, tree: { value: "BRANCH", optional: true, summary: "" } } };
  const of = (argv: string[], more: Partial<Command> = {}) => {
    const { args, rest, flags } = parseCommandLine({ ...command, ...tree, ...more }, argv);
    return { args, rest, tree: flags.text("tree") };
  };
  test.each<[string[], { args: string[]; tree: string | undefined }]>([
    [["a"], { args: ["a"], tree: undefined }],
    [["a", "--tree"], { args: ["a"], tree: "" }],
    [["a", "--tree", "fix"], { args: ["a"], tree: "fix" }],
    [["a", "--tree", "fix the login"], { args: ["a", "fix the login"], tree: "" }],
    [["--tree", "a", "fix the login"], { args: ["a", "fix the login"], tree: "" }],
    [["--tree", "fix", "a", "fix the login"], { args: ["a", "fix the login"], tree: "fix" }],
    [["--tree", "fix", "a"], { args: ["a"], tree: "fix" }],
    [["--tree", "a"], { args: ["a"], tree: "" }],
    [["--tree=fix", "a"], { args: ["a"], tree: "fix" }],
    [["a", "--tree", "--name", "n"], { args: ["a"], tree: "" }],
    [["--name", "n", "--tree", "a"], { args: ["a"], tree: "" }],
  ])("%j", (argv, expected) => expect(of(argv)).toEqual({ rest: [], ...expected }));
  test.each<[string[], { rest: string[]; tree: string | undefined }]>([
    [["--tree", "--", "make"], { rest: ["make"], tree: "" }],
    [["--tree", "fix", "--", "make", "x"], { rest: ["make", "x"], tree: "fix" }],
    [["--tree=fix", "make", "x"], { rest: ["make", "x"], tree: "fix" }],
    [["--tree", "make", "x"], { rest: ["make", "x"], tree: "" }],
  ])("with a command to run: %j", (argv, expected) => expect(of(argv, { passesOn: true })).toEqual({ args: [], ...expected }));
});

test.each(["constructor", "toString", "__proto__", "hasOwnProperty", "", "run2"])("%j is not a command", (name) => {
  expect(findCommand(name)).toBeUndefined();
});

test("every command declares its section of the help, and the registry has their order", async () => {
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => (await load()).command));
  for (const { name, section } of commands) expect(SECTIONS, name).toContain(section);
  const sections = commands.map(({ section }) => section);
  expect(sections).toEqual(SECTIONS.flatMap((title) => sections.filter((section) => section === title)));
});

test("every command declares what help and completion need, under its own name", async () => {
  const outer = await Promise.all(
    Object.entries({ ...COMMANDS, ...INTERNAL }).map(async ([name, load]) => [name, (await load()).command] as const),
  );
  const inner = outer.flatMap(([name, { verbs = {} }]) => Object.entries(verbs).map(([verb, load]) => [`${name} ${verb}`, load] as const));
  const all = [...outer, ...(await Promise.all(inner.map(async ([name, load]) => [name, (await load()).command] as const)))];
  for (const [name, each] of all) {
    const flags = Object.values(each.flags ?? {});
    expect(each.name).toBe(name);
    expect(each.summary, name).toMatch(/^[a-z]/);
    expect(each.examples.length, name).toBeGreaterThan(0);
    for (const [example] of each.examples) expect(example, name).toContain(`holdfast ${name}`);
    const shorts = flags.flatMap(({ short }) => short ?? []);
    expect(new Set([...shorts, "h"]).size, name).toBe(shorts.length + 1);
    for (const flag of flags) if (flag.value) expect(flag.complete, `${name} ${flag.value}`).toBeDefined();
  }
});
