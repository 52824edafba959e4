import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { filled, structuredCommandOf } from "./profile.ts";
import { Profiles } from "./profiles/index.ts";
import { userProfiles } from "./user-profiles.ts";

function profiles(toml: string): Profiles {
  const { agents } = parse(toml);
  return new Profiles((builtIn) => userProfiles(agents, { file: "config.toml", builtIn }));
}

test("a table with a command defines an agent (CAVE-05 agents)", () => {
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

test("a table with the name of a built-in agent changes only the keys it contains", () => {
  const { all } = profiles(`[agents.claude]\ncommand = ["claude", "--model", "best"]`);
  const claude = all.filter(({ name }) => name === "claude");
  expect(claude).toHaveLength(1);
  expect(claude[0]).toMatchObject({ command: ["claude", "--model", "best"], prompt: ["{prompt}"], description: "Claude Code" });
});

test("a built-in agent keeps its way to fork, unless its table changes resume or fork", () => {
  const fork = (toml: string) => profiles(`[agents.claude]\n${toml}`).get("claude").conversation?.fork;
  expect(fork('command = ["claude", "-v"]')).toEqual(new Profiles().get("claude").conversation?.fork);
  expect(fork('resume = ["-r", "{id}"]')).toBeUndefined();
  expect(fork('fork = ["-f", "{from}"]')).toEqual({ words: ["-f", "{from}"] });
});

test("an agent that speaks only the protocol needs no other command and has no screen", () => {
  const mine = profiles(`[agents.mine]\nstructured = ["my-agent", "--acp"]`).get("mine");
  expect(mine).toMatchObject({ chatOnly: true, command: ["my-agent", "--acp"], structured: ["my-agent", "--acp"] });
  const both = profiles(`[agents.mine]\ncommand = ["my-agent"]\nstructured = ["my-agent", "--acp"]`).get("mine");
  expect(both).toMatchObject({ command: ["my-agent"] });
  expect(both.chatOnly).toBeUndefined();
});

test("a command per turn and a model are agents for conversations", () => {
  const { exec, local, usual } = Object.fromEntries(
    profiles(`
      [agents.exec.exec]
      command = ["llm", "-m", "small"]
      prompt = "argument"
      answer = "stream-json"
      begin = ["--session-id", "{id}"]
      resume = ["--resume={id}"]
      context = { last = 4, tokens = 0 }
      system = "Be brief."

      [agents.local.model]
      endpoint = "http://127.0.0.1:8080/v1"
      model = "small"
      key_env = "LOCAL_KEY"
      key_header = "x-key"
      tools = []
      max_steps = 5
      mode = "auto-edit"

      [agents.usual]
      command = ["usual"]
      model = { context = { first = 0 } }
    `).all.map((profile) => [profile.name, profile]),
  );
  const place = { env: {}, node: "/node", programs: "/dist" };
  expect(exec).toMatchObject({ chatOnly: true, own: true, command: ["llm", "-m", "small"] });
  expect(exec?.ours).toEqual({
    exec: {
      command: ["llm", "-m", "small"],
      prompt: "argument",
      answer: "stream-json",
      context: { first: 2, last: 4, tokens: null, remembers: { begin: ["--session-id", "{id}"], resume: ["--resume={id}"] } },
      model: null,
      system: "Be brief.",
    },
  });
  expect(exec && structuredCommandOf(exec, place)).toEqual(["/node", "/dist/exec-agent.mjs"]);
  expect(local?.ours).toMatchObject({
    model: { api: "openai", model: "small", keyEnv: "LOCAL_KEY", keyHeader: "x-key", tools: [], maxSteps: 5, mode: "auto-edit" },
  });
  expect(local && structuredCommandOf(local, place)).toEqual(["/node", "/dist/model-agent.mjs"]);
  expect(usual?.chatOnly).toBeUndefined();
  expect(usual?.ours).toMatchObject({ model: { api: null, context: { first: 0, last: 10, tokens: 100_000 } } });
});

test.each([
  ["agents = 3", "config.toml: agents is not a table"],
  ["[agents.x]\nprompt = ['{prompt}']", "config.toml: agents.x.command is missing"],
  ["[agents.x]\ncommand = 'x'", "config.toml: agents.x.command is not a list of words"],
  ["[agents.x]\ncommand = []", "config.toml: agents.x.command is not a list of words"],
  ["[agents.x]\ncommand = ['x']\nprompt = ['-i']", "config.toml: agents.x.prompt has no placeholder"],
  ["[agents.x]\ncommand = ['x']\nresume = ['-r']", "config.toml: agents.x.resume has no placeholder"],
  ["[agents.x]\ncommand = ['x']\nsession_id = ['{id}']", "config.toml: agents.x.resume is missing: session_id needs it"],
  ["[agents.x]\ncommand = ['x']\nfork = ['{id}']", "config.toml: agents.x.fork has no placeholder"],
  ["[agents.x]\ncommand = ['x']\nfork = ['{from}']", "config.toml: agents.x.resume is missing: a fork could not be resumed"],
  ["[agents.'my x']\ncommand = ['x']", 'config.toml: agents.my x: the name "my x" is not allowed'],
  ["[agents.x]\ncommand = ['x']\nscreen = 'y'", "config.toml: agents.x.screen is not a list of tables"],
  ["[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nturn = 'working'", "config.toml: agents.x.screen[0].line is missing"],
  [
    "[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = '('\nturn = 'idle'",
    "config.toml: agents.x.screen[0].line is not a regular expression",
  ],
  [
    "[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = 'a'\nturn = 'busy'",
    'config.toml: agents.x.screen[0].turn "busy" is not one of idle, working',
  ],
  ["[agents.x]\ncommand = ['x']\n[[agents.x.screen]]\nline = 'a'", "config.toml: agents.x.screen[0].turn is missing"],
  ["[agents.x]\nexec = 3", "config.toml: agents.x.exec is not a table"],
  ["[agents.x.exec]\nprompt = 'stdin'", "config.toml: agents.x.exec.command is missing"],
  ["[agents.x.exec]\ncommand = ['x']\nprompt = 'file'", 'agents.x.exec.prompt "file" is not one of stdin, argument'],
  ["[agents.x.exec]\ncommand = ['x']\nanswer = 'xml'", 'agents.x.exec.answer "xml" is not one of plain, stream-json'],
  ["[agents.x.exec]\ncommand = ['x']\nbegin = ['{id}']", "agents.x.exec.resume is missing: begin needs it"],
  ["[agents.x.exec]\ncommand = ['x']\nresume = ['{id}']", "agents.x.exec.begin is missing"],
  [
    "[agents.x.exec]\ncommand = ['x']\nbegin = ['-i']\nresume = ['{id}']",
    "agents.x.exec.begin has no placeholder for the conversation's id",
  ],
  ["[agents.x.exec]\ncommand = ['x']\ncontext = { last = -1 }", "agents.x.exec.context.last is not a whole number of at least 0"],
  ["[agents.x.model]\napi = 'soap'", 'agents.x.model.api "soap" is not one of openai, anthropic'],
  ["[agents.x.model]\nendpoint = 'gateway'", "agents.x.model.endpoint is not an address"],
  ["[agents.x.model]\nmax_steps = 0", "agents.x.model.max_steps is not a whole number of at least 1"],
  ["[agents.x.model]\nmode = 'yolo'", 'agents.x.model.mode "yolo" is not one of ask, auto-edit, auto'],
  ["[agents.x]\nmodel = {}\nexec = { command = ['x'] }", "config.toml: agents.x has both exec and model"],
])("invalid settings are refused with the key's name: %j", (toml, message) => {
  expect(() => profiles(toml)).toThrow(message);
});

test("a value in an argument is never read as a flag", () => {
  expect(filled(["-i", "{prompt}"], { prompt: "--help" })).toEqual(["-i", " --help"]);
  expect(filled(["--resume", "{id}"], { id: "a b'c" })).toEqual(["--resume", "a b'c"]);
  expect(filled(["--prompt={prompt}"], { prompt: "-x {id} {prompt}" })).toEqual(["--prompt=-x {id} {prompt}"]);
});
