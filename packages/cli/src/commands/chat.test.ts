import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ScriptedDaemon } from "../../test/scripted-daemon.ts";
import { parseCommandLine } from "../line/parse.ts";
import { answerOnce } from "../repl/once.ts";
import { talk } from "../repl/repl.ts";
import { command } from "./chat.ts";

vi.mock("../repl/once.ts", () => ({ answerOnce: vi.fn(async () => 0) }));
vi.mock("../repl/repl.ts", () => ({ talk: vi.fn(async () => 0) }));
vi.mock("../console/read-input.ts", () => ({ readInput: async () => piped }));

let piped = "";

beforeEach(() => {
  piped = "";
  terminal(true);
  vi.clearAllMocks();
});

afterEach(() => terminal(undefined));

function terminal(isTTY: true | undefined): void {
  Object.defineProperty(process.stdin, "isTTY", { value: isTTY, configurable: true });
}

function run(...argv: string[]) {
  const line = parseCommandLine(command, argv);
  return command.run({ ...new ScriptedDaemon().context(), ...line, json: line.flags.has("json") });
}

const NOTHING = {
  existing: undefined,
  orAgent: true,
  name: undefined,
  agent: undefined,
  persona: undefined,
  model: undefined,
  mode: undefined,
  args: [],
};

test.each([
  [[], {}],
  [["fix"], { existing: "fix" }],
  [["--resume", "fix"], { existing: "fix", orAgent: false }],
  [["--session", "fix"], { orAgent: false, name: "fix" }],
  [["demo", "--session", "fix"], { orAgent: false, name: "fix", agent: "demo" }],
  [["demo", "--agent", "demo"], { agent: "demo" }],
  [["fix", "--agent", "demo", "--model", "m", "--mode", "auto"], { name: "fix", agent: "demo", model: "m", mode: "auto" }],
  [["--persona", "reviewer", "--", "--fast"], { persona: "reviewer", args: ["--fast"] }],
])("chat %j opens the requested conversation", async (argv, wanted) => {
  expect(await run(...argv)).toBe(0);
  expect(vi.mocked(talk).mock.lastCall?.[1]).toEqual({ ...NOTHING, ...wanted });
});

test("-p runs one turn, and the prompt can come from standard input", async () => {
  await run("demo", "-p", "say hello");
  expect(vi.mocked(answerOnce).mock.lastCall?.slice(1)).toEqual([{ ...NOTHING, existing: "demo" }, "say hello"]);
  piped = "from a pipe\n";
  await run("demo", "-p", "-");
  expect(vi.mocked(answerOnce).mock.lastCall?.[2]).toBe("from a pipe");
  terminal(undefined);
  await run("demo");
  expect(vi.mocked(answerOnce).mock.lastCall?.[2]).toBe("from a pipe");
  expect(talk).not.toHaveBeenCalled();
});

test.each([
  [["one", "two"], 'expected one conversation, got "one" and "two"'],
  [["one", "--agent", "demo", "--session", "two"], 'expected one conversation, got "one" and "two"'],
  [["one", "--resume", "two"], 'expected one conversation, got "one" and "two"'],
  [["demo", "-p", " "], "the prompt is empty"],
  [["demo", "--json"], "--json needs -p"],
])("chat %j is refused", async (argv, message) => {
  await expect(run(...argv)).rejects.toMatchObject({ code: "usage", message });
});
