/** The Working Context as people use it by CLI and API, and as agents learn about it by their first prompt. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ContextFile, HoldfastError, Message, Session, WorkingContext, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

const NAMES = ["background.md", "plan.md", "working-log.md", "results-summary.md"];
const POINTER = /\n\n\[Working Context: \.holdfast\/context\/ [^\n]*\]$/;

/** The scripted agent logs each prompt that starts a turn. */
class Prompted {
  readonly log: string;
  readonly #home: TestHome;

  constructor(home: TestHome) {
    this.#home = home;
    this.log = path.join(home.root, "prompts");
    writeFileSync(this.log, "");
  }

  spawn(name: string, flags: string[], cwd: string): Promise<Session> {
    return this.#home.json<Session>(["spawn", "demo", "--name", name, ...flags, "--", "--log", this.log], { cwd });
  }

  /** The first prompt with these words. */
  with(words: string): Promise<string> {
    return eventually(() =>
      readFileSync(this.log, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { prompt: string }).prompt)
        .find((prompt) => prompt.includes(words)),
    );
  }
}

function layOut(home: TestHome, cwd: string): Promise<string> {
  return home.ok(["context", "edit"], { cwd, env: { EDITOR: "true" } });
}

test("a new workspace has a Working Context whose background states the objective, and its agent is pointed to it (CAVE-03 workspaces)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const agents = new Prompted(home);
  const words = "say *hello*\nsay and more";
  const { workspace, objective } = await agents.spawn("one", ["--worktree", "--prompt", words], repository.path);
  expect(await agents.with("hello")).toMatch(POINTER);
  expect((await agents.with("hello")).startsWith(`${words}\n\n[`)).toBe(true);
  expect(objective).toBe("say *hello*");

  const context = await home.json<WorkingContext>(["context", "show", "one"]);
  expect(Object.keys(context).sort()).toEqual(["directory", "exists", "files", "root"]);
  expect(Object.keys(context.files[0] ?? {}).sort()).toEqual("bytes changedAt cut digest name path state text".split(" "));
  expect(context.files.map(({ name, state }) => [name, state])).toEqual(NAMES.map((name, i) => [name, i === 0 ? "written" : "empty"]));
  expect(context.files[0]?.text).toContain(`\n\n${words}\n`);
  const { path: tree, dirty, notes } = await home.json<Workspace>(["workspace", "show", workspace?.name ?? ""]);
  expect([context.root, dirty, notes]).toEqual([tree, false, []]);

  // The next agent, of any kind, gets the same pointer; the existing files stay unchanged.
  writeFileSync(path.join(context.directory, "plan.md"), "# Plan\n\n- carry on\n");
  await agents.spawn("two", ["--workspace", "one", "--prompt", "say I am the second"], repository.path);
  expect(await agents.with("the second")).toMatch(/^say I am the second\n\n\[Working Context/);
  expect((await home.json<WorkingContext>(["context", "show", "two"])).files[1]?.text).toBe("# Plan\n\n- carry on\n");
});

test("the Working Context is not mentioned where it does not exist, was not wanted, or the prompt is an agent's own command", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const agents = new Prompted(home);
  await agents.spawn("without", ["--prompt", "say there is none"], repository.path);
  expect(await agents.with("there is none")).toBe("say there is none");
  await agents.spawn("unwanted", ["--worktree", "--no-context", "--prompt", "say I want none"], repository.path);
  expect(await agents.with("want none")).toBe("say I want none");
  expect(await home.cli(["context", "show", "unwanted"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("no Working Context in"),
  });

  await layOut(home, repository.path);
  await agents.spawn("here", ["--prompt", "say there is one"], repository.path);
  expect(await agents.with("there is one")).toMatch(POINTER);
  await agents.spawn("told-not-to", ["--no-context", "--prompt", "say not to me"], repository.path);
  expect(await agents.with("not to me")).toBe("say not to me");
  const { command } = await agents.spawn("slash", ["--prompt", "/help"], repository.path);
  expect(command.at(-1)).toBe("/help");

  repository.commit({ ".holdfast/config.toml": "[workspace]\ncontext = false\n" }, "no context");
  await agents.spawn("project", ["--prompt", "say the project wants none"], repository.path);
  expect(await agents.with("project wants none")).toBe("say the project wants none");
  await agents.spawn("project-tree", ["--worktree", "--prompt", "say neither in a worktree"], repository.path);
  expect(await agents.with("neither in a worktree")).toBe("say neither in a worktree");
});

test("an agent started without a prompt gets the pointer with its first message only", async () => {
  await using home = new TestHome();
  const agents = new Prompted(home);
  await layOut(home, home.root);
  await agents.spawn("waits", [], home.root);
  for (const words of ["say the first", "say the second"]) await home.ok(["send", "waits", words, "--wait"]);
  expect((await agents.with("the first")).startsWith("say the first\n\n[Working Context")).toBe(true);
  expect(await agents.with("the second")).toBe("say the second");
  const messages = await home.json<Message[]>(["messages", "waits"]);
  expect(messages.map(({ text, state, addition }) => [text, state, addition !== null])).toEqual([
    ["say the first", "replied", true],
    ["say the second", "replied", false],
  ]);

  await agents.spawn("prompted", ["--prompt", "say hello"], home.root);
  await home.ok(["send", "prompted", "say the third", "--wait"]);
  expect(await agents.with("the third")).toBe("say the third");
  await agents.spawn("unwanted", ["--no-context"], home.root);
  await home.ok(["send", "unwanted", "say the fourth", "--wait"]);
  expect(await agents.with("the fourth")).toBe("say the fourth");
});

test("a first message keeps its pointer when the daemon dies before delivery", async () => {
  await using home = new TestHome();
  const agents = new Prompted(home);
  await layOut(home, home.root);
  const { id } = await agents.spawn("dies", [], home.root);
  await home.ok(["send", "dies", "say after the death", "--no-wait"]);
  await home.killDaemon();
  await eventually(async () => (await home.json<Message[]>(["messages", id]))[0]?.state === "replied");
  expect(await agents.with("after the death")).toMatch(POINTER);
});

test("people read, write and export the Working Context with the CLI", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const cwd = repository.path;
  const none = await home.cli(["context"], { cwd });
  expect(none).toMatchObject({ code: 3, stdout: "" });
  expect(none.stderr).toContain("create one: holdfast context edit background");

  const editor = { EDITOR: `sh -c 'echo "- step one" >> "$0"'` };
  const file = await home.json<ContextFile>(["context", "edit", "plan"], { cwd, env: editor });
  expect(file).toMatchObject({ name: "plan.md", state: "written", path: path.join(cwd, ".holdfast/context/plan.md") });
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe("");
  mkdirSync(path.join(cwd, "src"));
  expect(await home.ok(["context"], { cwd: path.join(cwd, "src") })).toBe(
    `${path.join(cwd, ".holdfast/context")}\n\nplan.md\n${file.text}\nStill empty: background.md, working-log.md, results-summary.md\n`,
  );
  const failing = await home.cli(["context", "edit", "log"], { cwd, env: { EDITOR: "no-such-editor" } });
  expect(failing).toMatchObject({ code: 14, stderr: expect.stringContaining('the editor "no-such-editor" failed: not found') });

  const exported = await home.json<{ file: string; bytes: number }>(["context", "export", "all.md"], { cwd });
  const text = readFileSync(path.join(cwd, "all.md"), "utf8");
  expect(exported).toEqual({ file: path.join(cwd, "all.md"), bytes: text.length });
  expect(text).toMatch(/^# Working Context of app\n\n## Plan\n\n[^#]*- step one\n/);
  expect(await home.ok(["context", "export", "-"], { cwd })).toBe(text);
  expect(await home.cli(["context", "export", "all.md"], { cwd })).toMatchObject({ code: 5 });
  await home.ok(["context", "export", "all.md", "--force"], { cwd });
  expect(await home.ok(["audit"])).toContain(`created the Working Context of ${cwd}`);
});

test("a remote write replaces nothing that its writer has not read, and cannot leave the directory", async () => {
  await using home = new TestHome();
  await layOut(home, home.root);
  using client = home.client();
  const directory = home.root;
  const refusal = (body: Parameters<typeof client.call<"writeContext">>[1]["body"]) =>
    client.call("writeContext", { body }).then(
      () => undefined,
      (error: HoldfastError) => error.code,
    );
  const [, plan] = (await client.call("getContext", { query: { directory } })).files;
  const written = await client.call("writeContext", { body: { directory, write: { file: "plan.md", text: "one", digest: plan?.digest } } });
  expect(written.files[1]).toMatchObject({ text: "one", state: "written" });
  expect(await refusal({ directory, write: { file: "plan.md", text: "two", digest: plan?.digest } })).toBe("context_changed");
  expect(await refusal({ directory, write: { file: "plan.md", text: "x".repeat(1_000_001) } })).toBe("usage");
  expect(await refusal({ directory, write: { file: "../../prompts" as "plan.md", text: "x" } })).toBe("usage");
  expect(await refusal({ directory: "elsewhere" })).toBe("cwd_unusable");
  expect(await refusal({ directory: path.join(directory, "gone") })).toBe("workspace_removed");
  expect(await refusal({})).toBe("usage");

  const outside = path.join(home.root, "outside");
  writeFileSync(outside, "mine");
  const file = path.join(written.directory, "plan.md");
  rmSync(file);
  symlinkSync(outside, file);
  expect(await refusal({ directory, write: { file: "plan.md", text: "x" } })).toBe("file_unusable");
  expect(await home.cli(["context"])).toMatchObject({ code: 14, stderr: expect.stringContaining("plan.md is a symbolic link") });
  expect(readFileSync(outside, "utf8")).toBe("mine");
});

test("an agent reaches only its own workspace's Working Context with its token", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const other = await repository.workspace("other");
  const script = `for what in "" inside other "${other.path}"; do
      case "$what" in /*) cd "$what"; ${HOLDFAST} context show > /dev/null 2>&1;; *) ${HOLDFAST} context show $what > /dev/null 2>&1;; esac
      echo "[$what]: $?"; done; EDITOR="sh -c 'echo done >> \\$0'" ${HOLDFAST} context edit results inside 2> /dev/null; echo "edit: $?"`;
  await home.ok(["run", "--name", "inside", "--worktree", "--", "sh", "-c", script], { cwd: repository.path });
  await home.ended("inside");
  const said = await home.ok(["logs", "inside"]);
  expect(said).toContain(`[]: 0\n[inside]: 0\n[other]: 20\n[${other.path}]: 20\nedit: 0\n`);
  expect((await home.json<WorkingContext>(["context", "show", "inside"])).files[3]?.text).toMatch(/done\n$/);
});
