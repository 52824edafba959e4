/** Real agents started outside Holdfast: adopted in place, and resumed with the conversation found in their own files. */
import { spawn, spawnSync } from "node:child_process";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Adoptable, AdoptReply, Message } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually } from "../home.ts";
import { AGENT_NAMES, type AgentName, IDLE } from "./agents.ts";
import { ALLOW } from "./turns.ts";
import { becomes, interrupt, statuses } from "./watching.ts";
import { RealWorld } from "./world.ts";

/** Some agents take half a minute to start on a busy machine, and each starts twice here. */
const SLOW_MS = 300_000;
const PATIENCE_MS = 100_000;

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "in a pane of the user's own tmux it is adopted, has its turn, and is resumed with its memory once its terminal is gone",
    async () => {
      await using world = await RealWorld.open();
      using tmux = await userTmux(world, agent);
      await eventually(() => IDLE[agent].test(tmux.run("capture-pane", "-p", "-t", "work")), PATIENCE_MS, 200);
      const list = await world.home.json<Adoptable[]>(["adopt", "--list"]);
      expect(list.filter(({ socket }) => socket === tmux.socket)).toMatchObject([{ agent, target: "work:0.0" }]);

      const { session } = await world.home.json<AdoptReply>(["adopt", "--tmux", `${tmux.socket}:work`, "--name", agent]);
      expect(session).toMatchObject({ agent, host: "foreign", cwd: tmux.project });
      await becomes(world, agent, "idle");
      await world.prompt(agent, "say periwinkle; talk 2s");
      const told = await becomes(
        world,
        agent,
        ({ status, turns, conversation }) => status === "idle" && turns === 1 && conversation !== null,
      );
      tmux.run("kill-server");
      await becomes(world, agent, ({ endedAt }) => endedAt !== null);

      await world.home.ok(["resume", agent, "--prompt", "recall; talk 2s"]);
      await world.shows(agent, /I remember: periwinkle\./);
      expect(await becomes(world, agent, "idle")).toMatchObject({ runs: 2, host: "tmux", conversation: told.conversation });
    },
    SLOW_MS,
  );
});

describe.each(AGENT_NAMES)("%s", (agent) => {
  test(
    "a message to an adopted agent gets its own answer, and none if its turn was interrupted or failed (truth 12)",
    async () => {
      await using world = await RealWorld.open();
      using tmux = await userTmux(world, agent);
      await eventually(() => IDLE[agent].test(tmux.run("capture-pane", "-p", "-t", "work")), PATIENCE_MS, 200);
      await world.home.ok(["adopt", "--tmux", `${tmux.socket}:work`, "--name", agent]);
      await becomes(world, agent, "idle");
      const ask = (text: string) => world.home.cli(["send", agent, "--wait", "--timeout", "90s", "--", text]);
      for (const word of ["one", "two"]) expect(await ask(`say ${word}`)).toMatchObject({ code: 0, stdout: `${word}\n` });
      const talking = ask("talk 3s; say three");
      await becomes(world, agent, "working");
      expect((await talking).stdout).toMatch(/three\n$/);
      await becomes(world, agent, "idle");
      expect((await world.home.ok(["last", agent])).trim()).toMatch(/three$/);

      const asking = ask("say to be interrupted; talk 100s");
      await world.shows(agent, /^\W*to be interrupted \w+/m);
      await interrupt(world, agent);
      const broken = await asking;
      expect(broken).toMatchObject({ code: 25, stdout: "" });
      expect(broken.stderr).toMatch(/turn was interrupted before it answered|ended without an answer; it may have been interrupted/);
      await becomes(world, agent, "idle");
      await clearComposer(world, agent);
      const failed = await ask("error 400");
      expect(failed).toMatchObject({ code: 25, stdout: "" });
      expect(failed.stderr).toMatch(/turn failed: .*Bad request|turn failed: .*400/);
      expect(await ask("say four")).toMatchObject({ code: 0, stdout: "four\n" });
      expect((await becomes(world, agent, "idle")).turns).toBe(6);
      expect(await receipts(world, agent)).toEqual(["replied", "replied", "replied", "failed", "failed", "replied"]);
    },
    SLOW_MS,
  );

  test(
    "an adopted agent waits for an approval in its turn, and an answer in its terminal or Esc ends the wait (truth 12)",
    async () => {
      await using world = await RealWorld.open();
      using tmux = await userTmux(world, agent);
      await eventually(() => IDLE[agent].test(tmux.run("capture-pane", "-p", "-t", "work")), PATIENCE_MS, 200);
      await world.home.ok(["adopt", "--tmux", `${tmux.socket}:work`, "--name", agent]);
      await becomes(world, agent, "idle");
      const ask = (text: string) => world.home.cli(["send", agent, "--wait", "--timeout", "90s", "--", text]);
      const rests = () => becomes(world, agent, ({ status, attention }) => status === "idle" && attention === null);
      expect(await ask("say one")).toMatchObject({ code: 0, stdout: "one\n" });
      await rests();

      const allowed = ask("say I look; tool shell touch made.txt; say it was made");
      const { turn, attention } = await becomes(world, agent, ({ attention }) => attention?.text?.includes("touch made.txt") ?? false);
      expect([turn, attention?.for]).toEqual(["working", "approval"]);
      await world.answer(agent, ALLOW[agent], "Enter");
      expect(await allowed).toMatchObject({ code: 0, stdout: expect.stringMatching(/it was made\n$/) });
      await rests();

      const refused = ask("say I look; tool shell touch other.txt; say it was made");
      await becomes(world, agent, "waiting");
      await world.answer(agent, ALLOW[agent], "Escape");
      expect(await refused).toMatchObject({ code: 25, stdout: "" });
      const { turns } = await rests();
      // On a starved machine Gemini's turn with a permission prompt was counted twice.
      if (agent !== "gemini") expect(turns).toBe(3);
      expect(await receipts(world, agent)).toEqual(["replied", "replied", "failed"]);
      const had = await statuses(world, agent);
      expect(had.slice(had.indexOf("waiting for approval"))).not.toContain("unknown");
    },
    SLOW_MS,
  );

  test(
    "of two agents in one directory each gives its own answers (truth 12)",
    async () => {
      await using world = await RealWorld.open();
      using tmux = await userTmux(world, agent);
      const [first, second] = ["work:0.0", "work:1.0"] as const;
      const isReady = (pane: string) => IDLE[agent].test(tmux.run("capture-pane", "-p", "-t", pane));
      await eventually(() => isReady(first), PATIENCE_MS, 200);
      tmux.run("new-window", "-t", "work", "-c", tmux.project, "sh");
      tmux.run("send-keys", "-t", second, tmux.command.join(" "), "Enter");
      await eventually(() => isReady(second), PATIENCE_MS, 200);
      await world.home.ok(["adopt", "--tmux", `${tmux.socket}:${first}`, "--name", `${agent}-a`]);
      await world.home.ok(["adopt", "--tmux", `${tmux.socket}:${second}`, "--name", `${agent}-b`]);
      const names = [`${agent}-a`, `${agent}-b`];
      for (const name of names) await becomes(world, name, "idle");
      const askBoth = (text: string) =>
        Promise.all(names.map((name) => world.home.cli(["send", name, "--wait", "--timeout", "90s", "--", `say ${name} ${text}`])));
      await askBoth("begins");
      const said = (await askBoth("goes on")).map(({ stdout }) => stdout);
      for (const [i, name] of names.entries()) {
        const own = `${name} goes on\n`;
        expect(SHARES_FILES.has(agent) ? ["", own] : [own]).toContain(said[i]);
      }
    },
    SLOW_MS,
  );
});

/** Its files do not tell two of them in one directory apart; their answers are unknown then. */
const SHARES_FILES: ReadonlySet<AgentName> = new Set<AgentName>(["gemini"]);

/** The state of each message, oldest first. */
async function receipts(world: RealWorld, name: string): Promise<string[]> {
  const all = await world.home.json<Message[]>(["messages", name]);
  return all.toSorted((a, b) => a.queuedAt.localeCompare(b.queuedAt)).map(({ state }) => state);
}

describe.each(["qwen", "claude"] as const)("%s", (agent) => {
  test(
    "on a terminal outside tmux it is adopted by its process, and is resumed with its memory after its end",
    async () => {
      await using world = await RealWorld.open();
      const { command, env, project } = await world.agent(agent);
      const [program = "", ...args] = [
        ...world.model.prefix,
        "script",
        "-qfc",
        `stty cols 110 rows 35; exec ${command.join(" ")}`,
        "/dev/null",
      ];
      using terminal = spawn(program, args, { cwd: project, env: { ...env, TERM: "xterm-256color", SHELL: "/bin/sh" }, stdio: "pipe" });
      let shown = "";
      terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
        shown += text;
      });
      await eventually(() => IDLE[agent].test(stripVTControlCharacters(shown)), PATIENCE_MS, 200);
      const list = await world.home.json<Adoptable[]>(["adopt", "--list"]);
      const found = list.find(({ cwd }) => cwd === project);
      expect(found).toMatchObject({ agent, socket: null });

      const { session } = await world.home.json<AdoptReply>(["adopt", "--pid", String(found?.pid), "--name", agent]);
      expect(session.conversation).not.toBeNull();
      shown = "";
      terminal.stdin.write("say periwinkle");
      await eventually(() => shown.includes("periwinkle"), PATIENCE_MS, 200);
      const isAsked = async () => (await world.model.asked()).some(({ prompt }) => prompt.includes("periwinkle"));
      // The agent may take an Enter with the text as part of it.
      await eventually(async () => (await isAsked()) || (terminal.stdin.write("\r") && undefined), PATIENCE_MS, 2000);
      await eventually(() => isWrittenDown(world, agent, session.conversation ?? ""), PATIENCE_MS, 500);
      process.kill(session.pid ?? 0, "SIGTERM");
      await becomes(world, agent, ({ endedAt }) => endedAt !== null);

      await world.home.ok(["resume", agent, "--prompt", "recall; talk 2s"]);
      await world.shows(agent, /I remember: periwinkle\./);
      expect(await becomes(world, agent, "idle")).toMatchObject({ runs: 2, conversation: session.conversation });
    },
    SLOW_MS,
  );
});

/** An interrupted prompt may return to the composer. */
async function clearComposer(world: RealWorld, agent: AgentName): Promise<void> {
  if (agent === "qwen" || agent === "gemini") await world.home.ok(["keys", agent, "C-u"]);
}

/** The answer is in the agent's files: an agent that ends earlier does not remember it. */
function isWrittenDown(world: RealWorld, agent: AgentName, conversation: string): boolean {
  const { stdout } = spawnSync("grep", ["-rlE", '"(assistant|model)"', path.join(world.home.root, `home-${agent}`)], { encoding: "utf8" });
  return stdout.split("\n").some((file) => file.includes(`${conversation}.jsonl`));
}

/** A user's own tmux in the model's network, with the agent started from the shell of its session `work`. */
async function userTmux(world: RealWorld, agent: AgentName) {
  const { command, env, project } = await world.agent(agent);
  const socket = path.join(world.home.root, "user-tmux");
  const run = (...words: string[]) => {
    const [program = "", ...args] = [...world.model.prefix, "tmux", "-u", "-S", socket, "-f", "/dev/null", ...words];
    const { status, stdout, stderr } = spawnSync(program, args, {
      encoding: "utf8",
      cwd: project,
      env: { ...env, PS1: "$ ", TERM: "xterm-256color" },
    });
    if (status !== 0) throw new Error(`tmux ${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  run("new-session", "-d", "-s", "work", "-x", "110", "-y", "35", "-c", project, "sh");
  run("send-keys", "-t", "work", command.join(" "), "Enter");
  return { run, socket, project, command, [Symbol.dispose]: () => void spawnSync("tmux", ["-S", socket, "kill-server"]) };
}
