import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { filled } from "./profile.ts";
import { Profiles } from "./profiles/index.ts";
import { userProfiles } from "./user-profiles.ts";

function profiles(toml: string): Profiles {
  const { agents } = parse(toml);
  return new Profiles((builtIn) => userProfiles(agents, { file: "config.toml", builtIn }));
}

test("an agent of one's own is a table with a command (CAVE-05 agents)", () => {
  const mine = profiles(`
    [agents.mine]
    command = ["my-agent", "--fast"]
    description = "what I use"
    prompt = ["-i", "{prompt}"]
    resume = ["--resume", "{id}"]
    session_id = ["--id", "{id}"]

    [[agents.mine.screen]]
    name = "busy"
    line = 'esc to \\w+'
    turn = "working"

    [[agents.mine.screen]]
    name = "asks"
    title = "^\\\\?"
    waits = "question"
  `).get("mine");
  expect(mine).toMatchObject({
    name: "mine",
    kind: "terminal",
    command: ["my-agent", "--fast"],
    prompt: ["-i", "{prompt}"],
    conversation: { begin: ["--id", "{id}"], resume: ["--resume", "{id}"] },
    own: true,
  });
  expect(mine.screen).toEqual([
    { name: "busy", line: /esc to \w+/u, turn: "working", calm: true },
    { name: "asks", title: /^\?/u, waits: "question" },
  ]);
});

test("a table with the name of a built-in agent changes what it names and leaves the rest", () => {
  const { all } = profiles(`[agents.claude]\ncommand = ["claude", "--model", "best"]`);
  const claude = all.filter(({ name }) => name === "claude");
  expect(claude).toHaveLength(1);
  expect(claude[0]).toMatchObject({ command: ["claude", "--model", "best"], prompt: ["{prompt}"], description: "Claude Code" });
});

test("how a built-in agent forks is kept, unless it is resumed in another way or forks by other words", () => {
  const fork = (toml: string) => profiles(`[agents.claude]\n${toml}`).get("claude").conversation?.fork;
  expect(fork('command = ["claude", "-v"]')).toEqual(new Profiles().get("claude").conversation?.fork);
  expect(fork('resume = ["-r", "{id}"]')).toBeUndefined();
  expect(fork('fork = ["-f", "{from}"]')).toEqual({ words: ["-f", "{from}"] });
});

test.each([
  ["agents = 3", "config.toml: agents is not a table"],
  ["[agents.x]\nprompt = ['{prompt}']", "config.toml: agents.x.command is missing"],
  ["[agents.x]\ncommand = 'x'", "config.toml: agents.x.command is not a list of words"],
  ["[agents.x]\ncommand = []", "config.toml: agents.x.command is not a list of words"],
  ["[agents.x]\ncommand = ['x']\nprompt = ['-i']", "config.toml: agents.x.prompt has no place for what it is given"],
  ["[agents.x]\ncommand = ['x']\nresume = ['-r']", "config.toml: agents.x.resume has no place for what it is given"],
  ["[agents.x]\ncommand = ['x']\nsession_id = ['{id}']", "config.toml: agents.x.resume is missing: session_id is of no use without it"],
  ["[agents.x]\ncommand = ['x']\nfork = ['{id}']", "config.toml: agents.x.fork has no place for what it is given"],
  ["[agents.x]\ncommand = ['x']\nfork = ['{from}']", "config.toml: agents.x.resume is missing: a fork could not be resumed"],
  ["[agents.'my x']\ncommand = ['x']", 'config.toml: agents.my x: the name "my x" is not allowed'],
  ["[agents.x]\ncommand = ['x']\nscreen = 'y'", "config.toml: agents.x.screen is not a list of tables"],
  ["[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nturn = 'working'", "config.toml: agents.x.screen[0].line is missing"],
  [
    "[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = '('\nturn = 'idle'",
    "config.toml: agents.x.screen[0].line is no regular expression",
  ],
  [
    "[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = 'a'\nturn = 'busy'",
    'config.toml: agents.x.screen[0].turn "busy" is none of idle, working',
  ],
  ["[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = 'a'", "config.toml: agents.x.screen[0].turn is missing"],
])("what makes no sense is refused by name: %j", (toml, message) => {
  expect(() => profiles(toml)).toThrow(message);
});

test("what is put into an argument is never taken for a flag", () => {
  expect(filled(["-i", "{prompt}"], { prompt: "--help" })).toEqual(["-i", " --help"]);
  expect(filled(["--resume", "{id}"], { id: "a b'c" })).toEqual(["--resume", "a b'c"]);
  expect(filled(["--prompt={prompt}"], { prompt: "-x {id} {prompt}" })).toEqual(["--prompt=-x {id} {prompt}"]);
});
