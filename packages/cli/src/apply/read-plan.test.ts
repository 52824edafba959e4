import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { fingerprint, readPlan } from "./read-plan.ts";

const directory = realpathSync(mkdtempSync(path.join(tmpdir(), "hf-plan-")));
const file = path.join(directory, "team.toml");
afterAll(() => rmSync(directory, { recursive: true }));

function read(text: string) {
  writeFileSync(file, text);
  return readPlan(file);
}

/** The error without the file's name. */
async function fault(text: string): Promise<string> {
  const error = await read(text).then(
    () => new Error("it was taken"),
    (thrown: Error) => thrown,
  );
  return error.message.replace(`${file}:`, "");
}

test("a file is read as the requests of spawn and group, with paths relative to the file's real location", async () => {
  const plan = await read(`
[groups."team/research"]
limit = 4
coordinator = "lead"
context = { goal = "ship", since = 2026-11-15T12:00:00Z, "a/b" = [1, { c = 2 }] }

[sessions.lead]
agent = "claude"
chat = true
model = "opus"
prompt = "go"
cwd = "code"
groups = ["team/research", "team/research"]
budget = { turns = 20, cost = 2.5 }
memory = "2G"
recording_limit = "off"
restart = "on-failure"
worktree = "topic"
base = "main"
setup = false
env = { PORT = 3000 }

[sessions.sh]
command = ["make", "watch"]
group = "other"
`);
  expect(plan.file).toBe(file);
  expect(plan.groups).toMatchObject([
    { path: "other", limit: null },
    { path: "team", limit: null, coordinator: null, context: {} },
    {
      path: "team/research",
      limit: 4,
      coordinator: "lead",
      context: { goal: "ship", since: "2026-11-15T12:00:00.000Z", "a/b": [1, { c: 2 }] },
    },
  ]);
  const [lead, sh] = plan.sessions;
  expect(lead).toMatchObject({
    name: "lead",
    line: 7,
    groups: ["team/research"],
    env: { PORT: "3000" },
    request: {
      agent: "claude",
      chat: true,
      cwd: path.join(directory, "code"),
      budget: { turns: 20, cost: 2.5 },
      memoryLimitBytes: 2 ** 31,
      recordingLimitBytes: 0,
      worktree: { branch: "topic", base: "main", setup: false },
    },
  });
  expect(sh?.request).toMatchObject({ agent: "shell", command: ["make", "watch"], cwd: directory });
  mkdirSync(path.join(directory, "elsewhere"));
  symlinkSync(file, path.join(directory, "elsewhere", "link.toml"));
  expect((await readPlan(path.join(directory, "elsewhere", "link.toml"))).file).toBe(file);
});

test("long values and the environment are stored only as fingerprints, which do not depend on key order", async () => {
  const said = async (env: string, prompt: string) =>
    (await read(`[sessions.a]\nagent = "demo"\nprompt = "${prompt}"\n${env}`)).sessions[0]?.said;
  const secret = await said('env = { KEY = "secret", B = "1" }', "short");
  expect(secret).toMatchObject({ agent: '"demo"', prompt: '"short"', env: expect.stringMatching(/^sha256:/) });
  expect(JSON.stringify(secret)).not.toContain("secret");
  expect((await said('env = { B = "1", KEY = "secret" }', "short"))?.env).toBe(secret?.env);
  expect((await said("", "x".repeat(300)))?.prompt).toMatch(/^sha256:\w{32}$/);
  expect(fingerprint({ a: [1], b: 2 })).toBe(fingerprint({ b: 2, a: [1] }));
  expect(fingerprint([1, 2])).not.toBe(fingerprint([2, 1]));
});

test.each([
  ["[sessions.a]\n", "1: the session a has no agent"],
  ['[sessions.a]\nagent = "demo"\nagnet = "x"\n', '3: [sessions.a] has no key "agnet"'],
  ["other = 1\n", '1: the file has no key "other"'],
  ['\n[sessions."a b"]\nagent = "demo"\n', '2: the name "a b" is not allowed'],
  ["[sessions.a]\nagent = 3\n", "2: agent is not a text"],
  ['[sessions.a]\nagent = ""\n', "2: agent is empty"],
  ['[sessions.a]\nagent = "demo"\nchat = "yes"\n', '3: chat must be true or false, not "yes"'],
  ['[sessions.a]\nagent = "demo"\nmodel = "m"\n', "3: model applies only to a conversation"],
  ['[sessions.a]\nagent = "demo"\nargs = "x"\n', "3: args is not a list of texts"],
  ['[sessions.a]\nagent = "demo"\ncommand = ["x"]\n', "3: the agent demo has its own command"],
  ['[sessions.a]\nagent = "demo"\nrestart = "often"\n', '3: restart does not take "often"'],
  ['[sessions.a]\nagent = "demo"\nmemory = "much"\n', '3: memory takes a size, not "much"'],
  ['[sessions.a]\nagent = "demo"\nbudget = { turn = 1 }\n', '3: budget does not take "turn=1"'],
  ['[sessions.a]\nagent = "demo"\nbase = "main"\n', "3: base applies only to a new worktree"],
  ['[sessions.a]\nagent = "demo"\nworktree = true\nworkspace = "w"\n', "4: workspace and worktree cannot be used together"],
  ['[sessions.a]\nagent = "demo"\ngroup = "x"\ngroups = ["y"]\n', "3: group and groups cannot be used together"],
  ['[sessions.a]\nagent = "demo"\ngroup = "x y"\n', '3: "x y" is not a valid group path'],
  ['[sessions.a]\nagent = "demo"\n[sessions.a.env]\n"A-B" = "x"\n', '4: "A-B" is not a variable name'],
  ['[sessions.a]\nagent = "demo"\nenv = { A = [1] }\n', "3: the variable A is not a text"],
  ["[groups.a]\nlimit = 0\n", "2: limit must be a number from 1 to 1000, not 0"],
  ["[groups.a]\nlimits = 3\n", '2: [groups.a] has no key "limits"'],
  ['[groups.a]\ncontext = { "b c" = 1 }\n', '2: the key "b c" is not allowed'],
  ["[groups.a]\ncontext = { b = [nan] }\n", "2: the value of b has a number that JSON cannot represent"],
  ['[groups.a]\ncoordinator = "b"\n', "2: the coordinator b is not a member of a"],
  [
    '[groups.a]\nlimit = 1\n[sessions.b]\nagent = "demo"\ngroup = "a"\n[sessions.c]\nagent = "demo"\ngroup = "a"\n',
    "2: the group a has a limit of 1, but the file puts 2 sessions into it",
  ],
  ["sessions = 3\n", "1: sessions is not a table"],
  ["[sessions.a]\nagent = demo\n", "2: "],
  ["# nothing\n", " declares nothing"],
])("%j is refused with its line and an explanation", async (text, message) => {
  expect((await fault(text)).replace(file, "")).toContain(message);
});

test("a missing file is reported", async () => {
  await expect(readPlan(path.join(directory, "none.toml"))).rejects.toMatchObject({
    code: "file_unusable",
    message: expect.stringMatching(/^there is no file/),
  });
});

test("the line of a fault is found in time, below a long line of blanks", async () => {
  const blanks = `[${" ".repeat(20_000)}!`;
  expect(
    await fault(`[sessions.a]\nagent = "demo"\nprompt = """\n${blanks}\n"""\n\n[ sessions . "b" ] # [second]\nagnt = "demo"\n`),
  ).toMatch(/^7|^8/);
});
