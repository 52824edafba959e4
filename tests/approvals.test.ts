import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Approval, NewToken } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";

const KEYS =
  "id run for tool input text directory channel expiresAt otherwise reasons session name agent status requestedAt endedAt answeredBy reason answers digest"
    .split(" ")
    .sort();

/** A demo agent with an open request to create a file. */
async function asking(home: TestHome, { name = "fix", command = "touch made.txt", args = [] as string[] } = {}): Promise<Approval> {
  const open = (await home.json<Approval[]>(["approvals"])).length;
  await home.ok(["spawn", "demo", "--name", name, "--prompt", `tool shell ${command}; say done`, "--", "--fast", ...args]);
  const approvals = await waiting(home, open + 1);
  const last = approvals.at(-1);
  if (!last) throw new Error("nothing waits");
  return last;
}

function waiting(home: TestHome, count = 1): Promise<Approval[]> {
  return eventually(async () => {
    const approvals = await home.json<Approval[]>(["approvals"]);
    return approvals.length === count && approvals;
  });
}

function made(home: TestHome): string {
  return path.join(home.root, "made.txt");
}

async function prints(home: TestHome, name: string, text: string): Promise<void> {
  await eventually(async () => (await home.ok(["logs", name])).includes(text));
}

function configure(home: TestHome, text: string): void {
  const directory = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), text);
}

test("a permission request waits in the inbox, runs once allowed, and the audit names the approver (BG-17 agents, NEW-04 agents)", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  expect(Object.keys(asked).sort()).toEqual(KEYS);
  expect(asked).toMatchObject({
    for: "approval",
    tool: "Bash",
    input: { command: "touch made.txt" },
    text: "Bash: touch made.txt",
    directory: home.root,
    name: "fix",
    agent: "demo",
    status: "open",
    channel: "hook",
  });
  expect(await home.session("fix")).toMatchObject({ status: "waiting", attention: { for: "approval", text: asked.text } });
  const shown = await home.ok(["approvals"]);
  for (const part of [asked.id, "fix", "demo", "Bash: touch made.txt", "answer within", "its own screen"]) expect(shown).toContain(part);
  expect(await home.ok(["approvals", "show", "fix"])).toContain("command: touch made.txt");
  expect(existsSync(made(home))).toBe(false);

  expect(await home.ok(["approvals", "allow", "fix"])).toContain("allowed by user:");
  await eventually(() => existsSync(made(home)));
  await home.until("fix", ({ status }) => status === "idle");
  expect(await home.ok(["audit"])).toMatch(/user:\S+ +allowed fix: Bash: touch made\.txt/);
  expect(await home.ok(["approvals"])).toBe("No open requests.\n");
  expect(await home.json<Approval[]>(["approvals", "ls", "--all"])).toMatchObject([{ id: asked.id, status: "allowed" }]);
  expect(await home.ok(["approvals", "ls", "--all"])).toMatch(/\n {2}allowed by user:/);
  expect(await home.cli(["approvals", "allow", asked.id])).toMatchObject({
    code: 27,
    stderr: expect.stringContaining("was already allowed"),
  });
});

test("a denied command does not run, and the agent reads the reason", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  await home.ok(["approvals", "deny", asked.id.slice(0, 5), "--reason", "not on a Friday"]);
  await prints(home, "fix", "not on a Friday");
  await home.until("fix", ({ status }) => status === "idle");
  expect(existsSync(made(home))).toBe(false);
});

test("a daemon killed during an open approval changes nothing, and the next one takes the answer", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  await home.killDaemon();
  expect(await waiting(home)).toMatchObject([{ id: asked.id }]);
  await home.killDaemon();
  await home.ok(["approvals", "allow", "fix"]);
  await eventually(() => existsSync(made(home)));
  await home.until("fix", ({ status }) => status === "idle");
});

test("an answer on the agent's own screen closes the approval in the inbox", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  await home.ok(["keys", "fix", "y"]);
  await waiting(home, 0);
  expect(await home.json<Approval>(["approvals", "show", asked.id])).toMatchObject({ status: "elsewhere", answeredBy: null });
  await eventually(() => existsSync(made(home)));
});

test("stopping a session resolves its approvals", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  await home.ok(["stop", "fix"]);
  expect(await home.json<Approval>(["approvals", "show", asked.id])).toMatchObject({ status: "run_ended" });
  expect(await home.json<Approval[]>(["approvals"])).toEqual([]);
  await home.ok(["rm", "fix"]);
  expect((await home.cli(["approvals", "show", asked.id])).code).toBe(3);
});

test("several approvals are listed oldest first, and answered together or one by one", async () => {
  await using home = new TestHome();
  const first = await asking(home, { name: "one", command: "touch a" });
  const second = await asking(home, { name: "two", command: "touch b" });
  expect((await home.json<Approval[]>(["approvals"])).map(({ id }) => id)).toEqual([first.id, second.id]);
  expect((await home.json<Approval[]>(["approvals", "ls", "--session", "two"])).map(({ id }) => id)).toEqual([second.id]);
  const completed = await home.ok(["__complete", "approvals", "allow", first.id.slice(0, 4)]);
  expect(completed.trim().split("\n")).toContain(first.id);
  const answered = await home.json<Approval[]>(["approvals", "allow", "one", "two"]);
  expect(answered.map(({ status }) => status)).toEqual(["allowed", "allowed"]);
  await eventually(() => existsSync(path.join(home.root, "a")) && existsSync(path.join(home.root, "b")));
});

test("without an id, approvals commands use the only open request; several requests are listed with their commands", async () => {
  await using home = new TestHome();
  expect(await home.cli(["approvals", "allow"])).toMatchObject({ code: 3, stderr: expect.stringContaining("no request is open") });
  const first = await asking(home, { name: "one", command: "touch a" });
  expect(await home.ok(["approvals", "show"])).toContain(first.id);
  expect(await home.cli(["approvals", "answer", "one"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("holdfast approvals answer one TEXT"),
  });
  const second = await asking(home, { name: "two", command: "touch b" });
  const { code, stderr } = await home.cli(["approvals", "deny"]);
  expect(code).toBe(4);
  expect(stderr).toContain("2 requests are open; name one:");
  expect(stderr).toMatch(
    new RegExp(`one: Bash: touch a\n +holdfast approvals deny ${first.id}\n +two: Bash: touch b\n +holdfast approvals deny ${second.id}\n`),
  );
  // The listed commands keep the given reason.
  const { stderr: reasoned } = await home.cli(["approvals", "deny", "--reason", "not now"]);
  expect(reasoned).toContain(`holdfast approvals deny ${first.id} --reason 'not now'\n`);
  await home.ok(["approvals", "deny", "one"]);
  expect(await home.json<Approval[]>(["approvals", "allow"])).toMatchObject([{ id: second.id, status: "allowed" }]);
  await home.ok(["spawn", "demo", "ask Which colour? | Red | Blue", "--name", "three", "--", "--fast"]);
  await waiting(home);
  await home.ok(["approvals", "answer", "Blue"]);
  await prints(home, "three", "The tool answered: Blue");
});

test("a question takes an answer but no allow, and a permission request takes no answer text", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "fix", "--prompt", "ask Which colour? | Red | Blue", "--", "--fast"]);
  const [asked] = await waiting(home);
  expect(asked).toMatchObject({ for: "question", text: "Which colour? | Red | Blue" });
  expect(await home.ok(["approvals", "show", "fix"])).toMatch(/\n {2}Which colour\?\n {4}- Red.*\n {4}- Blue/);
  expect(await home.cli(["approvals", "allow", "fix"])).toMatchObject({ code: 27, stderr: expect.stringContaining("approvals answer") });
  await home.ok(["approvals", "answer", "fix", "Blue"]);
  await prints(home, "fix", "The tool answered: Blue");
});

test("rules in config.toml allow and deny by the whole command, and appear in the audit by name", async () => {
  await using home = new TestHome();
  configure(
    home,
    `[[approvals.rules]]
name = "files"
agent = "demo"
tool = "Bash"
pattern = "touch [a-z.]+"
directory = "${home.root}"
decision = "allow"

[[approvals.rules]]
tool = "Bash"
pattern = "rm"
decision = "deny"
reason = "nothing is deleted here"
`,
  );
  await home.ok(["spawn", "demo", "--name", "a", "--prompt", "tool shell touch made.txt", "--", "--fast"]);
  await eventually(() => existsSync(made(home)));
  await home.ok(["spawn", "demo", "--name", "b", "--prompt", "tool shell rm made.txt", "--", "--fast"]);
  await prints(home, "b", "nothing is deleted here");
  expect(existsSync(made(home))).toBe(true);
  // The script's own steps end at a semicolon.
  await asking(home, { name: "c", command: "touch x && mv x y" });
  const audit = await home.ok(["audit"]);
  expect(audit).toContain("rule:files  allowed a: Bash: touch made.txt");
  expect(audit).toContain("rule:2  denied b: Bash: rm made.txt (nothing is deleted here)");
  expect(await home.ok(["audit", "--actor", "rule:files"])).not.toContain("denied");
});

test("an invalid rule stops the daemon from starting, and the error names its place", async () => {
  await using home = new TestHome();
  configure(home, '# mine\n[[approvals.rules]]\ntool = "Bash"\npatern = "ls"\ndecision = "allow"\n');
  const { code, stderr } = await home.cli(["up"]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("config.toml, line 2: approvals rule 1");
  expect(stderr).toContain('"patern"');
  const findings = (await home.cli(["doctor", "--json"])).stdout;
  expect(JSON.parse(findings)).toContainEqual(
    expect.objectContaining({ id: "configuration", level: "problem", what: expect.stringContaining("line 2: approvals rule 1") }),
  );
  configure(home, "");
});

test("an observer may not answer, and a session answers neither for itself nor for another", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  const token = async (scope: string) => (await home.json<NewToken>(["token", "create", "--scope", scope])).token;
  for (const scope of ["observer", "driver"]) {
    const env = { HOLDFAST_TOKEN: await token(scope) };
    expect((await home.json<Approval[]>(["approvals"], { env })).length).toBe(1);
    expect((await home.cli(["approvals", "allow", "fix"], { env })).code, scope).toBe(20);
  }
  const out = path.join(home.root, "out");
  await home.run(
    `holdfast() { '${path.join(import.meta.dirname, "../bin/holdfast")}' "$@"; }; holdfast approvals --json > ${out}; holdfast approvals allow ${asked.id} 2>> ${out}; echo "code $?" >> ${out}`,
    "--name",
    "other",
  );
  await eventually(() => existsSync(out) && /code \d+/.test(readFileSync(out, "utf8")));
  expect(readFileSync(out, "utf8")).toMatch(/^\[\]\n(.|\n)*code 20/);
  expect(existsSync(made(home))).toBe(false);
  await home.ok(["approvals", "allow", "fix"], { env: { HOLDFAST_TOKEN: await token("approver") } });
  await eventually(() => existsSync(made(home)));
});

test("a session cannot approve its child's request by keys or messages", async () => {
  await using home = new TestHome();
  const out = path.join(home.root, "out");
  const holdfast = path.join(import.meta.dirname, "../bin/holdfast");
  await home.run(
    `h='${holdfast}'; $h spawn demo --name child --prompt 'tool shell touch made.txt' -- --fast; until $h approvals | grep -q touch; do :; done
    for what in 'keys child y' 'send child y --force' 'send child y'; do $h $what >> ${out} 2>&1; echo "code $?" >> ${out}; done`,
    "--name",
    "parent",
  );
  await eventually(() => existsSync(out) && readFileSync(out, "utf8").match(/code \d+/g)?.length === 3);
  // A message waits until another principal has answered.
  expect(readFileSync(out, "utf8").match(/code \d+|queued/g)).toEqual(["code 20", "code 20", "queued", "code 0"]);
  expect(await home.session("child")).toMatchObject({ parent: (await home.session("parent")).id, status: "waiting" });
  expect(await home.ok(["audit"])).toContain("which a session cannot give");
  expect(existsSync(made(home))).toBe(false);
});

test("a user's own agent with an open approval takes input only with --force, and never from a session", async () => {
  await using home = new TestHome();
  const asks = "printf 'Go on? [y/n] '; read -r x; touch made.txt; cat";
  configure(home, `[agents.mine]\ncommand = ["sh", "-c", "${asks}"]\n[[agents.mine.screen]]\nline = "Go on"\nwaits = "approval"\n`);
  const out = path.join(home.root, "out");
  await home.run(
    `h='${path.join(import.meta.dirname, "../bin/holdfast")}'; $h spawn mine --name child; $h wait child --for waiting; $h send child y 2>> ${out}; echo "code $?" >> ${out}`,
    "--name",
    "parent",
  );
  await eventually(() => existsSync(out) && /code \d+/.test(readFileSync(out, "utf8")));
  expect(readFileSync(out, "utf8")).toMatch(/a session cannot give(.|\n)*code 20/);
  expect(await home.cli(["send", "child", "y"])).toMatchObject({ code: 17, stderr: expect.stringContaining("--force") });
  expect(existsSync(made(home))).toBe(false);
  await home.ok(["send", "child", "y", "--force"]);
  await eventually(() => existsSync(made(home)));
});

test("control characters of a permission request do not reach the terminal", async () => {
  await using home = new TestHome();
  await asking(home, { command: "printf '\u001b]0;owned\u0007\u202egnp.exe' \u001b[2J" });
  for (const args of [["approvals"], ["approvals", "show", "fix"], ["audit"]]) {
    const text = await home.ok(args);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that there are none
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f\u202e]/);
  }
  await home.ok(["approvals", "deny", "fix", "--reason", "\u001b[2Jno"]);
  expect(await home.ok(["audit"])).not.toContain("\u001b");
});

test("a watcher sees each approval and its outcome, across a daemon kill (BG-04 agents)", async () => {
  await using home = new TestHome();
  await home.ok(["up"]);
  const watcher = home.start(["approvals", "watch", "--json"]);
  let seen = "";
  watcher.stdout.setEncoding("utf8").on("data", (chunk) => {
    seen += chunk;
  });
  const asked = await asking(home);
  const statuses = () =>
    seen
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as Approval).status);
  await eventually(() => statuses().join() === "open");
  await home.killDaemon();
  await home.ok(["approvals", "allow", asked.id]);
  await eventually(() => statuses().join() === "open,allowed");
  watcher.kill("SIGINT");
  const events = (await home.ok(["events", "--type", "approval.requested,approval.answered"])).trim().split("\n");
  const [requested, answered] = events.map((line) => JSON.parse(line) as AnyEvent);
  expect(requested).toMatchObject({ type: "approval.requested", actor: "daemon", data: { id: asked.id, text: asked.text } });
  expect(answered).toMatchObject({ type: "approval.answered", data: { id: asked.id, decision: "allow", reason: null } });
});

test("an approval known only from the screen is in the inbox, and is answered by keys", async () => {
  await using home = new TestHome();
  // An agent with its own hook has none of Holdfast's hooks.
  const asked = await asking(home, { args: ["--hook", "true"] });
  expect(asked).toMatchObject({
    channel: "screen",
    reasons: false,
    expiresAt: null,
    input: { screen: expect.stringContaining("touch made.txt") },
  });
  expect(await home.cli(["approvals", "deny", "fix", "--reason", "x"])).toMatchObject({
    code: 27,
    stderr: expect.stringMatching(/takes no reason\n.*holdfast send fix TEXT/),
  });
  // Only possible answers are offered.
  expect(await home.ok(["approvals", "show", "fix"])).toMatch(/approvals allow \w+\nholdfast approvals deny \w+\n$/);
  await home.ok(["approvals", "allow", "fix"]);
  await eventually(() => existsSync(made(home)));
  expect(await home.json<Approval>(["approvals", "show", asked.id])).toMatchObject({ status: "allowed", answers: [] });
  // The agent has no hooks of Holdfast; a false claim of hooks would make a message wait for them in vain.
  expect(await home.ok(["explain", "--json", "fix"])).not.toContain('"source":"hook"');
  const second = await asking(home, { name: "again", args: ["--hook", "true"] });
  await home.ok(["keys", "again", "n"]);
  await waiting(home, 0);
  expect(await home.json<Approval>(["approvals", "show", second.id])).toMatchObject({ status: "elsewhere" });
  for (const args of [
    ["ls", "--all"],
    ["show", second.id],
  ])
    expect(await home.ok(["approvals", ...args])).toContain("answered on its own screen");
});

test("keys that the agent did not take are never reported as an approval, not even by the next daemon", async () => {
  await using home = new TestHome();
  const asked = await asking(home, { args: ["--hook", "true"] });
  const { pid } = await home.session("fix");
  process.kill(pid ?? 0, "SIGSTOP");
  expect(await home.cli(["approvals", "allow", "fix"])).toMatchObject({
    code: 27,
    stderr: expect.stringMatching(/fix \(demo\) ignored the pressed keys.*\n.*holdfast screen fix/),
  });
  const allowing = home.cli(["approvals", "allow", "fix"]);
  await eventually(async () => (await home.ok(["events", "--type", "approval.answering"])).trim().split("\n").length === 2);
  await home.killDaemon();
  await allowing;
  expect(await waiting(home)).toMatchObject([{ id: asked.id, status: "open" }]);
  expect(await home.ok(["events", "--type", "approval.answered"])).toBe("");
  expect(await home.ok(["audit"])).toMatch(/ pressed keys to allow fix: /);
  process.kill(pid ?? 0, "SIGCONT");
  await waiting(home, 0);
  expect(await home.json<Approval>(["approvals", "show", asked.id])).toMatchObject({ status: "elsewhere", answeredBy: null });
});

test("an answer without effect is reported as such, and the approval opens again from the agent's screen (truth 1)", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  const { pid } = await home.session("fix");
  await eventually(async () => (await home.ok(["screen", "fix"])).includes("[y/n]"));
  process.kill(pid ?? 0, "SIGSTOP");
  expect(await home.cli(["approvals", "allow", "fix"])).toMatchObject({
    code: 27,
    stdout: "",
    stderr: expect.stringMatching(/fix \(demo\) did not accept the answer: it still asks on its own screen\n.*open again/),
  });
  const [again] = await waiting(home);
  expect(again).toMatchObject({ id: asked.id, channel: "screen", answeredBy: null, text: asked.text, answers: ["allow", "deny"] });
  expect(again?.input).toMatchObject({ command: "touch made.txt", screen: expect.stringContaining("touch made.txt") });
  expect(await home.session("fix")).toMatchObject({ status: "waiting", attention: { for: "approval" } });
  // The agent gets the answer after all.
  process.kill(pid ?? 0, "SIGCONT");
  await waiting(home, 0);
  await home.until("fix", ({ status }) => status === "idle");
});

test("the next daemon tracks an answer whose effect a killed daemon did not see (truth 1)", async () => {
  await using home = new TestHome();
  const asked = await asking(home);
  const { pid } = await home.session("fix");
  await eventually(async () => (await home.ok(["screen", "fix"])).includes("[y/n]"));
  process.kill(pid ?? 0, "SIGSTOP");
  const allowing = home.cli(["approvals", "allow", "fix"]);
  await eventually(async () => (await home.ok(["events", "--type", "approval.answered"])) !== "");
  await home.killDaemon();
  await allowing;
  expect(await waiting(home)).toMatchObject([{ id: asked.id, channel: "screen" }]);
  process.kill(pid ?? 0, "SIGCONT");
  await waiting(home, 0);
});

test("a request right after an answer by keys is in the inbox at once", async () => {
  await using home = new TestHome();
  const first = await asking(home, { args: ["--hook", "true"], command: "touch made.txt; tool shell touch more.txt" });
  await home.ok(["approvals", "allow", first.id]);
  const [second] = await waiting(home);
  expect(second).toMatchObject({ status: "open", input: { screen: expect.stringContaining("touch more.txt") } });
  expect(
    Date.parse(second?.requestedAt ?? "") - Date.parse((await home.json<Approval>(["approvals", "show", first.id])).endedAt ?? ""),
  ).toBeLessThan(5000);
});

test("a request that only the screen can answer is not offered in the inbox, which says where to answer", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "fix", "--prompt", "ask Which colour? | Red | Blue", "--", "--fast", "--hook", "true"]);
  const [asked] = await waiting(home);
  expect(asked).toMatchObject({ for: "question", channel: "screen", answers: [], text: expect.stringContaining("Which colour?") });
  expect(await home.ok(["approvals"])).toContain("answer it on its own screen");
  const shown = await home.ok(["approvals", "show", "fix"]);
  expect(shown).toContain("holdfast attach fix");
  expect(shown).not.toContain("approvals answer");
  expect(await home.cli(["approvals", "answer", "fix", "Blue"])).toMatchObject({ code: 27, stderr: expect.stringContaining("attach fix") });
});

test("an empty message approves nothing: it presses no Enter in an agent", async () => {
  await using home = new TestHome();
  await asking(home);
  for (const [args, input] of [[["send", "fix", ""]], [["send", "fix", "-"], "\n"]] as const) {
    const sent = await home.cli(args, { input: input ?? "" });
    expect([sent.code, sent.stderr]).toEqual([2, expect.stringContaining("is empty")]);
  }
  expect(await home.session("fix")).toMatchObject({ status: "waiting" });
  expect(existsSync(made(home))).toBe(false);
});

test("unattached agents start with the model and approval policy of [agents.background]; an agent's own keys and rules win (BG-18 mend)", async () => {
  await using home = new TestHome();
  configure(home, '[agents.background]\nmodel = "demo-large"\napproval = "deny"\n[[approvals.rules]]\ntool = "Read"\ndecision = "ask"\n');
  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  expect(await home.ok(["send", "talk", "about", "--wait"])).toContain("demo-large");
  const denied = await home.ok(["send", "talk", "tool shell touch made.txt; say done", "--wait"]);
  expect(denied).toContain("denied");
  expect(existsSync(made(home))).toBe(false);
  const audit = await home.ok(["audit"]);
  expect(audit).toContain("agents.background");
  // A model given at the start wins.
  await home.ok(["spawn", "--chat", "demo", "--name", "small", "--model", "demo-small"]);
  expect(await home.ok(["send", "small", "about", "--wait"])).toContain("demo-small");
  // A terminal agent is denied the same, until its own table says otherwise.
  await home.ok(["spawn", "demo", "--name", "typed", "--prompt", "tool shell touch made.txt; say done", "--", "--fast"]);
  await home.until("typed", ({ status, turns }) => status === "idle" && turns === 1);
  expect(existsSync(made(home))).toBe(false);
  await home.ok(["down"]);
  configure(home, '[agents.background]\napproval = "deny"\n[agents.demo.background]\napproval = "ask"\n');
  await home.ok(["spawn", "--chat", "demo", "--name", "asks", "--prompt", "tool shell touch made.txt"]);
  expect(await waiting(home)).toMatchObject([{ name: "asks" }]);
});

test("a trust dialog takes any of its choices by text or number, and nothing else (mend 17)", async () => {
  await using home = new TestHome();
  const spawn = (name: string) => home.ok(["spawn", "demo", "--name", name, "--", "--fast", "--ask-trust"]);
  const waits = (name: string) => eventually(async () => (await home.json<Approval[]>(["approvals"])).find((each) => each.name === name));
  for (const name of ["words", "number", "plain"]) await spawn(name);
  for (const name of ["words", "number", "plain"]) expect(await waits(name)).toMatchObject({ answers: ["allow", "deny", "answer"] });
  expect(await home.ok(["approvals", "show", "words"])).toContain("holdfast approvals answer");
  const none = await home.cli(["approvals", "answer", "words", "Perhaps"]);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('the dialog of words has no choice "Perhaps"') });
  expect(none.stderr).toContain("No, exit; Yes, I trust this folder; Yes, and the folder above it");
  expect(await home.ok(["approvals", "answer", "words", "yes, and the folder above it"])).toContain("answered by user:");
  expect(await home.ok(["approvals", "answer", "number", "3"])).toContain("answered by user:");
  // This is the choice that `allow` takes.
  expect(await home.ok(["approvals", "answer", "plain", "2"])).toContain("allowed by user:");
  for (const name of ["words", "number", "plain"]) await home.until(name, ({ status }) => status === "idle");
  const over = await home.json<Approval[]>(["approvals", "ls", "--all"]);
  expect(over.find(({ name }) => name === "number")).toMatchObject({ status: "answered", reason: "Yes, and the folder above it" });
});
