/** Shell completion. bash and zsh really run; the fish script is checked for the same request. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openTerminal } from "./attached.ts";
import { ROOT, TestHome } from "./home.ts";

/** bash's completions for the line, whose last word is incomplete. */
function offered(home: TestHome, words: readonly string[]): string[] {
  const script = `
    eval "$(holdfast completion bash)"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _holdfast
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...home.env, PATH: `${path.join(ROOT, "bin")}:${home.env.PATH}` };
  const text = execFileSync("bash", ["-c", script, "bash", "holdfast", ...words], { env, cwd: home.root, encoding: "utf8" });
  return text.split("\n").filter(Boolean).sort();
}

test("bash completes commands, flags, sessions, agents, statuses and shells", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "build");
  await home.run("exit 0", "--name", "bundle");
  await home.ended("bundle");
  expect(offered(home, ["st"])).toEqual(["start", "status", "statusline", "stop"]);
  expect(offered(home, [""])).toContain("attach");
  expect(offered(home, [""])).not.toContain("__complete");
  expect(offered(home, ["stop", ""])).toEqual(["build", "bundle"]);
  expect(offered(home, ["stop", "bui"])).toEqual(["build"]);
  expect(offered(home, ["stop", "build", "bun"])).toEqual(["bundle"]);
  expect(offered(home, ["stop", "--g"])).toEqual(["--grace"]);
  expect(offered(home, ["logs", "build", "--r"])).toEqual(["--raw", "--run"]);
  expect(offered(home, ["ls", "--status", "d"])).toEqual(["done"]);
  expect(offered(home, ["spawn", ""])).toEqual(["aider", "claude", "codex", "demo", "gemini", "model", "opencode", "q", "qwen", "shell"]);
  expect(offered(home, ["ls", "--agent", "s"])).toEqual(["shell"]);
  expect(offered(home, ["completion", ""])).toEqual(["bash", "fish", "zsh"]);
  expect(offered(home, ["events", "--session", "bun"])).toEqual(["bundle"]);
  expect(offered(home, ["help", "att"])).toEqual(["attach"]);
});

test("bash completes groups, their members and their keys", async () => {
  await using home = new TestHome();
  for (const name of ["build", "bundle"]) await home.run("exec sleep 1000", "--name", name);
  await home.ok(["group", "join", "team/research", "build"]);
  await home.ok(["group", "share", "team", "goal", "1"]);
  await home.ok(["group", "share", "team/research", "port", "1"]);
  expect(offered(home, ["group", "co"])).toEqual(["coordinator"]);
  expect(offered(home, ["group", "show", ""])).toEqual(["team", "team/research"]);
  expect(offered(home, ["group", "join", "team", ""])).toEqual(["build", "bundle"]);
  expect(offered(home, ["group", "leave", "team/research", ""])).toEqual(["build"]);
  expect(offered(home, ["group", "get", "team/research", ""])).toEqual(["goal", "port"]);
  expect(offered(home, ["group", "get", "team", ""])).toEqual(["goal"]);
  expect(offered(home, ["spawn", "demo", "--group", "team/"])).toEqual(["team/research"]);
});

test("bash completes files where Holdfast has no candidates: for --cwd and for the command of `run`", async () => {
  await using home = new TestHome();
  mkdirSync(path.join(home.root, "project"));
  await home.ok(["up"]);
  expect(offered(home, ["run", "--cwd", "pro"])).toEqual(["project"]);
  expect(offered(home, ["run", "--", "./pro"])).toEqual(["./project"]);
});

test("a key press starts no daemon and does not fail without one", async () => {
  await using home = new TestHome();
  expect(await home.cli(["__complete", "stop", ""])).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(home.processes()).toEqual([]);
});

test("Tab completes in an interactive bash", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "build");
  using terminal = openTerminal(home);
  terminal.line("exec bash --norc --noprofile");
  terminal.line("PS1='ready> '; eval \"$(holdfast completion bash)\"; clear");
  await terminal.shows(/^ready>$/m);
  terminal.tmux("send-keys", "-t", "terminal", "-l", "holdfast stop bui");
  terminal.keys("Tab");
  await terminal.shows("holdfast stop build");
  terminal.keys("Enter");
  await terminal.shows("build stopped");
});

test("open approvals and queued messages are completed by id", async () => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "fix", "--prompt", "tool shell touch x", "--", "--fast"]);
  await home.until("fix", ({ status }) => status === "waiting");
  await home.ok(["send", "fix", "and then", "--no-wait"]);
  const [message] = await home.json<{ id: string }[]>(["messages"]);
  const [approval] = await home.json<{ id: string }[]>(["approvals"]);
  const offered = async (...words: string[]) => (await home.ok(["__complete", ...words])).trim().split("\n");
  expect(await offered("messages", "")).toEqual(["fix", "cancel"]);
  expect(await offered("messages", "cancel", "")).toEqual([message?.id]);
  expect(await offered("approvals", "allow", "")).toEqual([approval?.id]);
});

/** A shell that waits for a key, in a terminal. */
async function shellIn(home: TestHome, shell: string, prepare: string) {
  const terminal = openTerminal(home, { columns: 100 });
  terminal.line(`exec ${shell}`);
  terminal.line(`PS1='ready> '; ${prepare}; clear`);
  await terminal.shows(/^ready>$/m);
  return terminal;
}

test.each([
  [
    "bash",
    "bash --norc --noprofile",
    'eval "$(holdfast completion bash)"',
    /build +\(working · sleep 1000\)\s+fix-2 +\(idle .* · say it: \[a\] \*\)/,
  ],
  [
    "zsh",
    "zsh -f",
    'autoload -U compinit; compinit -u -D; eval "$(holdfast completion zsh)"',
    /build +-- working · sleep 1000\nfix-2 +-- idle .* · say it: \[a\] \*/,
  ],
])("Tab shows the status of sessions and what commands and flags do, in %s", async (_, shell, prepare, sessions) => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "build", "--objective", "sleep 1000");
  await home.ok(["spawn", "demo", "--name", "fix-2", "say it: [a] *"]);
  await home.until("fix-2", ({ status }) => status === "idle");
  using terminal = await shellIn(home, shell, prepare);
  const offers = async (line: string, shown: RegExp) => {
    terminal.tmux("send-keys", "-t", "terminal", "-l", line);
    terminal.keys("Tab", "Tab");
    await terminal.shows(shown);
    terminal.keys("C-u", "C-l");
    await terminal.shows(/^ready>$/m);
  };
  await offers("holdfast stop ", sessions);
  await offers("holdfast sta", /start .*start a session that was created/);
  await offers("holdfast ls --w", /--watch .*keep running and show changes/);
});

test("the zsh and fish scripts ask the program itself, like the bash script", async () => {
  await using home = new TestHome();
  for (const shell of ["zsh", "fish"]) expect(await home.ok(["completion", shell])).toContain(" __complete --described ");
});
