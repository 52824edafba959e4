/** Plans: sessions, groups and shared values declared in a file. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

const TEAM = `
[groups.team]
limit = 4
coordinator = "lead"
context = { goal = "ship 1.0", ports = [3000, 3001] }

[groups."team/research"]
context.question = "which database?"

[sessions.helper]
agent = "demo"
chat = true
groups = ["team", "team/research"]
prompt = "say hello"

[sessions.lead]
agent = "demo"
chat = true
group = "team"
mode = "auto"
env = { COLOUR = "green" }

[sessions.watch]
command = ["sleep", "1000"]
`;

interface Applied {
  file: string;
  dryRun: boolean;
  steps: { do: string; done: boolean; name?: string }[];
  notes: { why: string; name?: string; key?: string }[];
  left: { do: string }[];
}

function declare(home: TestHome, text: string): string {
  const file = path.join(home.root, "team.toml");
  writeFileSync(file, text);
  return file;
}

/** The position of the last event. */
async function place(home: TestHome): Promise<number> {
  return ((await events(home)).at(-1)?.seq ?? 0) as number;
}

async function events(home: TestHome): Promise<AnyEvent[]> {
  const printed = await home.ok(["events"]);
  return printed
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
}

const names = async (home: TestHome) => (await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name).sort();

test("apply creates the sessions, groups, values and coordinator of a file; a second apply changes nothing, even after a daemon restart (NEW-15 together)", async () => {
  await using home = new TestHome();
  const file = declare(home, TEAM);
  const planned = await home.json<Applied>(["apply", file, "--dry-run"]);
  expect(planned).toMatchObject({ file, dryRun: true, notes: [], left: [] });
  expect(planned.steps.map((step) => step.do)).toEqual([
    ...["create_group", "share", "share", "create_group", "share"],
    ...["start", "start", "start", "set_coordinator"],
  ]);
  expect(await names(home)).toEqual([]);

  const first = await home.ok(["apply", file]);
  expect(first).toContain("+ session lead: demo, a conversation in ");
  expect(first).toMatch(/\n9 changes\.\n$/);
  using client = home.client();
  const team = await client.call("getGroup", { params: { group: "team" } });
  expect(team).toMatchObject({ limit: 4, coordinator: { name: "lead" }, keys: 2, children: ["team/research"] });
  expect(team.members.map(({ name }) => name)).toEqual(["helper", "lead"]);
  expect((await client.call("getValue", { params: { group: "team", key: "ports" } })).value).toEqual([3000, 3001]);
  await home.until("helper", ({ status, turns }) => status === "idle" && turns === 1);
  await home.until("lead", ({ status }) => status === "idle");
  expect(await home.ok(["send", "lead", "env COLOUR\nabout", "--wait"])).toMatch(/green\s+mode auto/);

  const before = await place(home);
  expect(await home.ok(["apply", "team.toml"])).toBe("Nothing to change for team.toml: 3 sessions, 2 groups, 3 values.\n");
  await home.killDaemon();
  expect((await home.json<Applied>(["apply", file, "--prune", "--yes"])).steps).toEqual([]);
  const since = (await events(home)).filter(({ seq }) => seq > before).map(({ type }) => type);
  expect(since.filter((type) => /^(plan|group|session\.created|session\.removed)/.test(type))).toEqual([]);
});

test("apply changes or reports differences from the file, and keeps the changes of agents and people (NEW-15 together)", async () => {
  await using home = new TestHome();
  const file = declare(home, TEAM);
  await home.ok(["apply", file]);
  using client = home.client();
  await client.call("shareValue", { params: { group: "team", key: "ports" }, body: { value: "taken" } });
  await home.until("helper", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["rename", "lead", "boss"]);
  declare(
    home,
    TEAM.replace("1.0", "2.0").replace("3001", "3002").replace("say hello", "say bye").replace('"team", "team/research"', '"team"'),
  );
  const applied = await home.json<Applied>(["apply", file]);
  expect(applied.steps.map((step) => step.do)).toEqual(["share", "leave"]);
  expect(applied.notes.map(({ why }) => why)).toEqual(["value_changed", "differs", "renamed"]);
  expect((await client.call("getValue", { params: { group: "team", key: "goal" } })).value).toBe("ship 2.0");
  expect((await client.call("getValue", { params: { group: "team", key: "ports" } })).value).toBe("taken");
  expect(await names(home)).toEqual(["boss", "helper", "watch"]);
  const told = await home.ok(["apply", file]);
  expect(told).toContain('helper was started with prompt "say hello" (the file: "say bye"); that cannot be changed');
  expect(told).toContain("lead is now named boss");
  expect(told).toContain("Nothing to change");

  await home.ok(["stop", "watch"]);
  expect(await home.ok(["apply", file])).toContain("watch has ended (stopped); start it again: holdfast resume watch, or apply --resume");
  expect(await home.ok(["apply", file, "--resume"])).toContain("~ session watch is resumed");
  expect(await home.session("watch")).toMatchObject({ status: "working", runs: 2 });
});

test("--prune removes sessions, groups and values that the file no longer declares, after confirmation, and nothing made by others (NEW-15 together)", async () => {
  await using home = new TestHome();
  const file = declare(home, TEAM);
  await home.ok(["apply", file]);
  await home.ok(["spawn", "--chat", "demo", "--name", "mine"]);
  const other = path.join(home.root, "other.toml");
  writeFileSync(other, '[sessions.else]\nagent = "demo"\nchat = true\n');
  await home.ok(["apply", other]);
  declare(
    home,
    '[groups.team]\ncontext = { goal = "ship 1.0" }\n\n[sessions.helper]\nagent = "demo"\nchat = true\ngroup = "team"\nprompt = "say hello"\n',
  );
  expect(await home.ok(["apply", file, "--dry-run"])).toMatch(
    /! no longer in the file: ports of team; session lead; session watch; group team\/research\. To remove them: --prune/,
  );
  expect((await home.cli(["apply", file, "--prune"])).stderr).toMatch(/confirmation needed; pass --yes\n.*--dry-run, then pass --yes/);
  expect(await names(home)).toEqual(["else", "helper", "lead", "mine", "watch"]);

  using terminal = openTerminal(home, { columns: 120, rows: 40 });
  await terminal.command(`cd ${home.root}; holdfast apply team.toml --prune`);
  await terminal.shows(/- session watch \(working\), stopped first[\s\S]*Remove these 4\? \[y\/N\]/);
  terminal.keys("n", "Enter");
  await terminal.shows(/! no longer in the file: ports of team/);
  expect(await names(home)).toHaveLength(5);
  await terminal.command("clear; holdfast apply team.toml --prune");
  await terminal.shows("[y/N]");
  terminal.keys("y", "Enter");
  await terminal.shows(/^4 changes\.$/m);
  expect(await names(home)).toEqual(["else", "helper", "mine"]);
  using client = home.client();
  const { groups } = await client.call("listGroups", {});
  expect(groups.map(({ path: group, keys }) => [group, keys])).toEqual([["team", 1]]);
  expect((await home.json<Applied>(["apply", file, "--prune", "--yes"])).steps).toEqual([]);
});

test("the next apply completes a killed one and recognizes everything it made", async () => {
  await using home = new TestHome();
  const many = Array.from(
    { length: 12 },
    (_, index) => `[sessions.s${index}]\ncommand = ["sleep", "1000"]\ngroup = "g${index % 3}"\n`,
  ).join("\n");
  const file = declare(home, many);
  await home.ok(["up"]);
  using client = home.client();
  const { cursor } = await client.call("listSessions", {});
  const killed = home.start(["apply", file]);
  const ended = new Promise((resolve) => killed.on("close", resolve));
  let seen = 0;
  for await (const _ of client.events({ query: { after: cursor, type: ["session.created"] } })) if (++seen === 2) break;
  killed.kill("SIGKILL");
  await ended;
  const made = (await names(home)).length;
  expect(made).toBeLessThan(12);
  await home.ok(["apply", file]);
  expect(await names(home)).toHaveLength(12);
  expect((await events(home)).filter(({ type }) => type === "session.created")).toHaveLength(12);
  declare(home, "[groups.g0]\n");
  const { steps } = await home.json<Applied>(["apply", file, "--prune", "--yes"]);
  expect(steps.filter((step) => step.do === "remove_session" && step.done)).toHaveLength(12);
  expect(await names(home)).toEqual([]);
});

test("two simultaneous applies of one file create everything once", async () => {
  await using home = new TestHome();
  const file = declare(home, TEAM);
  await home.ok(["up"]);
  const both = await Promise.all([home.cli(["apply", file]), home.cli(["apply", file]), home.cli(["apply", file])]);
  expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual(both.map(() => ({ code: 0, stderr: "" })));
  expect(await names(home)).toEqual(["helper", "lead", "watch"]);
  expect((await home.json<Applied>(["apply", file])).steps).toEqual([]);
  const made = (await events(home)).map(({ type }) => type);
  expect(made.filter((type) => type === "session.created")).toHaveLength(3);
  expect(made.filter((type) => type === "group.created")).toHaveLength(2);
  expect(made.filter((type) => type === "group.value_shared")).toHaveLength(3);
});

test("the first session of a file learns all its peers and the coordinator, like later sessions", async () => {
  await using home = new TestHome();
  const talks = (name: string, more: string) => `[sessions.${name}]\nagent = "demo"\nchat = true\nprompt = "say ${name}"\n${more}\n`;
  const file = declare(
    home,
    `[groups.team]\ncoordinator = "second"\n${talks("first", 'group = "team"')}${talks("second", 'group = "team"\nrole = "reviewer"')}
${talks("deep", 'group = "team/research"')}${talks("alone", 'group = "elsewhere"')}`,
  );
  await home.ok(["apply", file]);
  const told = new Map(
    (await events(home)).flatMap(({ type, data }) => {
      const { text = "" } = data as { text?: string };
      return type === "message.queued" ? [[/^say (\w+)/.exec(text)?.[1], text] as const] : [];
    }),
  );
  expect(told.get("first")).toContain(
    'Your peers:\n- second (demo, the coordinator, "reviewer", not started yet): "say second"\n- deep (demo, not started yet): "say deep"\nWork',
  );
  expect(told.get("second")).toContain('Your peers:\n- first (demo): "say first"\n- deep (demo, not started yet): "say deep"\nWork');
  expect(told.get("deep")).toContain('Your peers:\n- first (demo): "say first"\n- second (demo, "reviewer"): "say second"\nWork');
  expect(told.get("alone")).toContain("It has no other members yet");
});

test("apply and --dry-run find every refusal before anything changes", async () => {
  await using home = new TestHome();
  const { path: project } = new TestRepository(home);
  const sleeps = (name: string, more: string) => `[sessions.${name}]\ncommand = ["sleep", "1000"]\n${more}\n`;
  const tree = (name: string, more: string) => sleeps(name, `cwd = ${JSON.stringify(project)}\n${more}`);
  const faults: [string, RegExp][] = [
    [
      sleeps("a", 'group = "team"') + sleeps("b", 'group = "team"'),
      /team\.toml:1: the group team has a limit of 1, and would have 2 members/,
    ],
    [tree("a", 'worktree = "no..name"'), /team\.toml:1: "no\.\.name" is not a valid branch name/],
    [tree("a", 'worktree = true\nbase = "nowhere"'), /team\.toml:1: there is no branch or commit "nowhere"/],
    [tree("a", 'worktree = "main"'), /team\.toml:1: the branch main is checked out in /],
    [tree("a", 'worktree = "fix"') + tree("b", 'worktree = "fix"'), /team\.toml:5: the session a uses the branch fix too/],
    [tree("a", 'worktree = "fix"') + tree("b", 'worktree = "fix/more"'), /team\.toml:5: the branch fix\/more cannot exist beside fix/],
    [sleeps("a", 'cwd = "team.toml"'), /team\.toml:1: the directory \S+ is not a directory/],
    ['[sessions.a]\ncommand = ["./no-such-program"]\n', /team\.toml:1: cannot find the program/],
  ];
  const config = path.join(home.env.HOME ?? "", ".config/holdfast/config.toml");
  mkdirSync(path.dirname(config), { recursive: true });
  writeFileSync(config, "[groups]\nlimit = 1\n");
  for (const [text, fault] of faults) {
    const file = declare(home, text);
    for (const line of [
      ["apply", file],
      ["apply", file, "--dry-run"],
    ])
      expect(await home.cli(line), text).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(fault) });
  }
  expect(await names(home)).toEqual([]);
  expect(await home.json(["group", "ls"])).toEqual([]);

  // The existing group has its own limit, and a member that the file does not declare.
  await home.ok(["run", "--name", "other", "--group", "team", "--", "sleep", "1000"]);
  const file = declare(home, `[groups.team]\nlimit = 2\n${sleeps("a", 'group = "team"')}${sleeps("b", 'group = "team"')}`);
  expect((await home.cli(["apply", file])).stderr).toMatch(
    /the group team has a limit of 2, and would have 3 members, including its current 1/,
  );
  expect(await names(home)).toEqual(["other"]);
  declare(home, `[groups.team]\nlimit = 3\n${sleeps("a", 'group = "team"')}${sleeps("b", 'group = "team"')}`);
  await home.ok(["apply", file]);
});

test("an unsupported mode or model is reported after the start, and the next apply uses the corrected one", async () => {
  await using home = new TestHome();
  const text = '[sessions.one]\nagent = "demo"\nchat = true\nmode = "auto"\n[sessions.two]\nagent = "demo"\nchat = true\nmode = "odd"\n';
  const file = declare(home, text);
  const failed = await home.cli(["apply", file]);
  expect(failed.code).not.toBe(0);
  expect(failed.stdout).toMatch(/\+ session one: .*\n\+ session two: /);
  expect(failed.stderr).toContain('two was started, but the agent has no mode "odd"; it has ');
  expect((await home.cli(["apply", file])).stderr).toContain('two: the agent has no mode "odd"; it has ');
  declare(home, text.replace("odd", "auto"));
  expect(await home.ok(["apply", file])).toBe("~ session two: mode auto\n1 change.\n");
  expect(await home.ok(["apply", file])).toContain("Nothing to change");
  expect(await home.ok(["send", "two", "about", "--wait"])).toContain("mode auto");
});

test("an invalid file starts nothing; a failure midway names its place, and the next apply continues", async () => {
  await using home = new TestHome();
  const file = declare(home, '[sessions.one]\nagent = "demo"\n\n[sessions.two]\nagent = "nobody"\n');
  expect(await home.cli(["apply", file])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/team\.toml:4: there is no agent "nobody"/),
  });
  expect((await home.cli(["apply", file, "--json"])).stderr).toContain('"code":"plan_invalid"');
  declare(home, '[groups.team]\n[sessions.one]\nagent = "demo"\ncwd = "missing"\n[sessions.two]\nagent = "demo"\nworkspace = "gone"\n');
  const misplaced = await home.cli(["apply", file]);
  expect(misplaced).toMatchObject({ code: 2, stdout: "" });
  expect(misplaced.stderr).toMatch(
    /team\.toml:2: there is no directory \S+missing\n.*team\.toml:5: there is no workspace "gone"; there are none/,
  );
  expect(await home.json(["group", "ls"])).toEqual([]);
  const { path: project } = new TestRepository(home, { ".holdfast/config.toml": '[workspace]\nsetup = "exit 3"\n' });
  const sleeps = (name: string, more = "") => `[sessions.${name}]\ncommand = ["sleep", "1000"]\n${more}`;
  declare(home, sleeps("one") + sleeps("two", `cwd = ${JSON.stringify(project)}\nworktree = true\n`) + sleeps("three"));
  const untrusted = await home.cli(["apply", file]);
  expect(untrusted).toMatchObject({ code: 48, stdout: "", stderr: expect.stringContaining("run   exit 3") });
  const failed = await home.cli(["apply", file, "--trust"]);
  expect(failed).toMatchObject({ code: 31, stdout: expect.stringMatching(/^\+ session one: .*\n$/) });
  expect(failed.stderr).toMatch(
    /two: the set-up of two \(exit 3\) failed[\s\S]*not done:\n *\+ session two: .*\n *\+ session three: [\s\S]*holdfast apply/,
  );
  const again = await home.json<Applied>(["apply", file]);
  expect(again.steps).toMatchObject([
    { name: "two", done: true },
    { name: "three", done: true },
  ]);
  rmSync(file);
  expect((await home.cli(["apply", file])).stderr).toMatch(/there is no file/);
});

test("goals and budgets apply to existing groups and sessions; impossible changes are refused before anything changes (mend 16)", async () => {
  await using home = new TestHome();
  const text =
    '[groups.team]\ngoal = "ship 1.0"\n\n[sessions.lead]\nagent = "demo"\nchat = true\ngroup = "team"\nbudget = { turns = 40, cost = 5 }\n';
  const file = declare(home, text);
  await home.ok(["apply", file]);
  expect(await home.ok(["group", "goal", "team"])).toBe("ship 1.0\n");
  await home.ok(["stop", "lead"]);
  declare(home, text.replace("1.0", "2.0").replace("turns = 40, cost = 5", "turns = 9").concat('env = { COLOUR = "green" }\n'));
  const applied = await home.json<Applied>(["apply", file, "--resume"]);
  expect(applied.steps.map((step) => step.do)).toEqual(["change_goal", "set_budget", "resume"]);
  expect(applied.steps[2]).toMatchObject({ name: "lead", env: ["COLOUR"] });
  expect(applied.notes).toEqual([]);
  expect(await home.ok(["group", "goal", "team"])).toBe("ship 2.0\n");
  expect((await home.session("lead")).budget?.limits).toMatchObject([{ limit: "turns", allowed: 9 }]);
  expect(await home.ok(["chat", "lead", "-p", "env COLOUR"])).toContain("green");
  expect(await home.ok(["apply", file])).toContain("Nothing to change");

  await home.ok(["spawn", "--chat", "demo", "--name", "mine"]);
  const foreign = '[sessions.mine]\nagent = "demo"\nchat = true\ngroup = "team"\nprompt = "say hello"\nenv = { COLOUR = "red" }\n';
  const other = path.join(home.root, "other.toml");
  writeFileSync(other, foreign);
  const refused = await home.cli(["apply", other]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("other.toml:1: this file did not start the session mine, so it cannot set its prompt, env");
  expect((await home.session("mine")).groups).toEqual([]);
  writeFileSync(other, foreign.replace(/prompt[\s\S]*/, "budget = { turns = 3 }\n"));
  await home.ok(["apply", other]);
  expect(await home.session("mine")).toMatchObject({ groups: ["team"], budget: { limits: [{ limit: "turns", allowed: 3 }] } });
});
