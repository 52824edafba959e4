/** A program gets its first prompt once; a later run gets it only on request. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

const PROMPT = "deploy to production";

/** An agent whose state is unknown. It logs its arguments. */
function darkAgent(home: TestHome, { body, more = "" }: { body: string; more?: string }): () => string[] {
  const runs = path.join(home.root, "runs.log");
  const program = path.join(home.root, "dark-agent");
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "words: $*" >> '${runs}'\n${body}\n`, { mode: 0o755 });
  const directory = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  appendFileSync(path.join(directory, "config.toml"), `[agents.dark]\ncommand = ["${program}"]\nprompt = ["{prompt}"]\n${more}`);
  return () => (existsSync(runs) ? readFileSync(runs, "utf8").trimEnd().split("\n") : []);
}

function handedOver(runs: readonly string[]): number {
  return runs.filter((line) => line.includes(PROMPT)).length;
}

/** Ways to pass a first prompt. */
const WAYS = [
  { way: "--prompt", words: ["--prompt", PROMPT] },
  { way: "own arguments", words: ["--", "--fast", PROMPT] },
];

test.each(WAYS)("resume and restore do not repeat the first prompt of $way, and say so (mend 11)", async ({ words }) => {
  await using home = new TestHome();
  const runs = darkAgent(home, { body: "exec sleep 1000" });
  await home.ok(["spawn", "dark", "--name", "api", "--host", "native", ...words]);
  await eventually(() => runs().length === 1);
  expect(await home.session("api")).toMatchObject({ turns: null, promptedRun: 1 });

  await home.ok(["stop", "api"]);
  const resumed = await home.ok(["resume", "api"]);
  expect(resumed).toContain("the first prompt was delivered to an earlier run and may have been executed");
  expect(resumed).toContain("holdfast resume api --repeat-prompt");
  await eventually(() => runs().length === 2);

  await home.killDaemon();
  for (const each of home.processes()) process.kill(each.pid, "SIGKILL");
  await eventually(() => home.processes().length === 0);
  expect(await home.ok(["restore"])).toContain("did not get the first prompt again");
  await eventually(() => runs().length === 3);
  expect(handedOver(runs())).toBe(1);
  expect(await home.ok(["show", "api"])).toContain("delivered to run 1");

  await home.ok(["stop", "api"]);
  expect(await home.json(["resume", "api", "--repeat-prompt"])).toMatchObject({ prompt: "repeated", promptedRun: 4 });
  await eventually(() => runs().length === 4);
  expect(handedOver(runs())).toBe(2);
});

test.each(WAYS)("a restart by policy does not repeat the first prompt of $way (mend 11)", async ({ words }) => {
  await using home = new TestHome();
  const runs = darkAgent(home, { body: "exit 3" });
  await home.ok(["spawn", "dark", "--name", "api", "--restart", "on-failure", ...words]);
  await eventually(() => runs().length >= 3);
  expect(handedOver(runs())).toBe(1);
  await home.ok(["stop", "api"]);
  expect(await home.ok(["digest", "api"])).toContain("without the first prompt");
});

test.each(WAYS)("a run whose program never started leaves the first prompt of $way to the next run (mend 11)", async ({ words }) => {
  await using home = new TestHome();
  const runs = darkAgent(home, { body: "exec sleep 1000" });
  await home.ok(["spawn", "dark", "--name", "api", "--host", "native", ...words]);
  await eventually(() => runs().length === 1);
  await home.ok(["stop", "api"]);
  // The state after a daemon that died before the launch.
  writeFileSync(path.join(home.path, "sessions", (await home.session("api")).id, "runs/1/prompt.pending"), "");
  expect(await home.json(["resume", "api"])).toMatchObject({ prompt: "given", promptedRun: 2 });
  await eventually(() => runs().length === 2);
  expect(handedOver(runs())).toBe(2);
});

test("restarted members of a plan or a tournament get no prompt twice (mend 11)", async () => {
  await using home = new TestHome();
  const runs = darkAgent(home, { body: "exit 3" });
  const file = path.join(home.root, "team.toml");
  const table = (name: string, how: string) => `[sessions.${name}]\nagent = "dark"\nrestart = "on-failure"\n${how}\n`;
  writeFileSync(file, table("a", `args = ["--fast", "a: ${PROMPT}"]`) + table("b", `prompt = "b: ${PROMPT}"`));
  await home.ok(["apply", file, "--yes"]);
  const repository = new TestRepository(home);
  const words = ["spawn", "dark", "--best-of", "2", "--name", "fix", "--restart", "on-failure", "--prompt", `c: ${PROMPT}`];
  await home.ok(words, { cwd: repository.path });
  const names = ["a", "b", "fix-1", "fix-2"];
  for (const name of names) await home.until(name, (session) => (session.runs ?? 0) >= 3);
  const said = (mark: string) => runs().filter((line) => line.includes(`${mark}: ${PROMPT}`)).length;
  expect(["a", "b", "c"].map(said)).toEqual([1, 1, 2]);
});

test("a conversation without an observed turn is resumed (mend 11)", async () => {
  await using home = new TestHome();
  const more =
    'session_id = ["--id", "{id}"]\nresume = ["--resume", "{id}"]\n\n[[agents.dark.screen]]\nline = "never shown"\nturn = "working"\n';
  const runs = darkAgent(home, { body: "exec sleep 1000", more });
  const { conversation } = await home.json<Session>(["spawn", "dark", "--name", "api", "--prompt", PROMPT]);
  await eventually(() => runs().length === 1);
  expect(await home.session("api")).toMatchObject({ turns: null, conversations: [{ turns: null }] });
  await home.ok(["stop", "api"]);
  expect(await home.ok(["resume", "api"])).toContain(`continues its conversation ${conversation}`);
  await eventually(() => runs().length === 2);
  expect(runs().at(-1)).toBe(`words: --resume ${conversation}`);
});

/** A stand-in for `my-agent` of the guide: it takes the arguments and shows the lines of the example. */
const MY_AGENT = `#!/bin/sh
[ "$1" = --version ] && { echo 1.2.3; exit 0; }
keeps="$HOME/.my-agent"; mkdir -p "$keeps"; prompt=
while [ $# -gt 0 ]; do
  case "$1" in
    -i) prompt="$2"; shift ;;
    --id) own="$2"; shift ;;
    --resume) from="$2"; own="\${own:-$2}"; [ -f "$keeps/$2" ] || { echo "no conversation $2"; exit 1; }; shift ;;
    --copy-to) own="$2"; cp "$keeps/$from" "$keeps/$own"; shift ;;
  esac
  shift
done
[ -f "$keeps/$own" ] && cat "$keeps/$own"
turn() {
  echo "you: $1" | tee -a "$keeps/$own"
  printf 'thinking (esc to cancel)\\r'; sleep 1; printf '\\033[2K'
  case "$1" in *delete*) printf 'Allow deleting? '; read -r answer; echo "answered $answer" ;; esac
  echo "me: done with $1" | tee -a "$keeps/$own"
}
[ -n "$prompt" ] && turn "$prompt"
while printf '> '; read -r line; do turn "$line"; done
`;

test("the example profile of the guide works: first prompt, turns, approval, resume and fork (mend 11)", async () => {
  await using home = new TestHome();
  const guide = readFileSync(new URL("../docs/reference/agents.md", import.meta.url), "utf8");
  const example = [...guide.matchAll(/```toml\n([^`]*)```/g)].map(([, text]) => text ?? "").find((text) => text.includes("[agents.mine]"));
  const [configuration, programs] = [path.join(home.env.HOME ?? "", ".config/holdfast"), path.join(home.root, "programs")];
  for (const directory of [configuration, programs]) mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(configuration, "config.toml"), example ?? "");
  writeFileSync(path.join(programs, "my-agent"), MY_AGENT, { mode: 0o755 });
  home.env.PATH = `${programs}:${home.env.PATH ?? ""}`;

  const { conversation } = await home.json<Session>(["spawn", "mine", "--name", "api", "--prompt", "greet the world"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["send", "api", "please delete it"]);
  expect(await home.until("api", ({ status }) => status === "waiting")).toMatchObject({ attention: { for: "approval" } });
  await home.ok(["send", "api", "yes", "--force"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 2);

  await home.ok(["stop", "api"]);
  expect(await home.json(["resume", "api"])).toMatchObject({ resumed: "conversation", conversation, prompt: null });
  await home.until("api", ({ status }) => status === "idle");
  const screen = await home.ok(["screen", "api"]);
  expect(screen.match(/you: greet the world/g)).toHaveLength(1);
  await home.ok(["fork", "api", "--name", "copy", "--cwd", home.root]);
  await home.until("copy", ({ status }) => status === "idle");
  expect(await home.ok(["screen", "copy"])).toContain("done with greet the world");
  expect((await home.json<{ name: string; version: string | null }[]>(["agents"])).find(({ name }) => name === "mine")?.version).toContain(
    "1.2.3",
  );
});

test("ls shows the first prompt of an agent that was started without one, however it came", async () => {
  await using home = new TestHome();
  for (const name of ["typed", "sent"]) await home.ok(["spawn", "demo", "--name", name]);
  await home.ok(["spawn", "--chat", "demo", "--name", "talk"]);
  for (const name of ["typed", "sent", "talk"]) await home.until(name, ({ status }) => status === "idle");
  await home.ok(["send", "typed", "--force", "--no-enter", "say typed here"]);
  await home.ok(["keys", "typed", "Enter"]);
  await home.ok(["send", "sent", "say sent here\nand more"]);
  await home.ok(["send", "talk", "say said here"]);
  const firsts = { typed: "say typed here", sent: "say sent here", talk: "say said here" };
  for (const [name, firstPrompt] of Object.entries(firsts)) await home.until(name, (session) => session.firstPrompt === firstPrompt);
  for (const name of Object.keys(firsts)) await home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["send", "talk", "say something else", "--wait"]);
  expect(await home.ok(["ls"])).toMatch(/sent .*say sent here.*\n.*talk .*say said here.*\n.*typed .*say typed here/);
});
