/**
 * A STAND-IN for the coding agents in the documentation, for the test that runs the documentation. It has no model. Started as `node main.ts NAME
 * ARGUMENTS`, it accepts the arguments of that agent, shows the composer of Claude Code, and reports to the hooks of Claude Code, Codex and Qwen
 * Code. With the arguments of an agent's structured mode it behaves like the demo agent in that mode.
 *
 * A prompt with the word `bug` asks for permission to run `npm test`, one with `commit` commits a file, and one with `which` asks a question. A
 * script of the demo agent (`say hello; wait 3s`) is played. Any other prompt is answered at once.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Composer } from "../demo/composer.ts";
import { Hooks } from "../demo/hooks.ts";
import { Memory } from "../demo/memory.ts";
import { playTurn } from "../demo/turn.ts";
import { parseScript } from "../model/script.ts";
import { ClaudeScreen } from "./claude-screen.ts";

const [name = "", ...words] = process.argv.slice(2);

/** Flags with a value in the next argument. */
const VALUES = /^(--(agents?|permission-mode|settings|session-id|resume|model|prompt|input-file|output-format|mcp-config)|-[icms])$/;

const given = readWords(words);

if (words.includes("--version")) console.log(`1.0.0 (stand-in for ${name})`);
else if (name.endsWith("-acp") || words.includes("--acp") || words[0] === "acp") await structured();
else if (words.includes("-p") || words.includes("--print")) console.log(`${name}: ${given.prompt || readFileSync(0, "utf8").trim()}`);
else await terminal();

async function structured(): Promise<void> {
  const { serveAcp } = await import("../acp/serve.ts");
  const { stdin: input, stdout: output } = process;
  return serveAcp({ input, output, exit: (code) => process.exit(code), fast: true, lateHistory: false });
}

async function terminal(): Promise<void> {
  const conversation = given.conversation ?? randomUUID();
  const screen = new ClaudeScreen();
  const composer = new Composer(screen);
  const hooks = new Hooks({ ...hookCommands(), conversation });
  const memory = new Memory(conversation);
  const exit = (code: number): never => {
    screen.close();
    composer.close();
    process.exit(code);
  };
  process.on("SIGTERM", () => exit(143)).on("SIGHUP", () => exit(129));
  screen.open();
  composer.open();
  screen.print(`${name}, a stand-in`);
  await hooks.tell("SessionStart", { source: "startup" });
  let number = memory.turns().length;
  const turn = (prompt: string) => {
    memory.add({ prompt });
    number++;
    return composer.interruptible(async (signal) => {
      await hooks.tell("UserPromptSubmit", { prompt, submitted_prompt: prompt, turn_id: String(number) });
      if (/\bcommit\b/.test(prompt)) commit();
      const played = { screen, composer, hooks, prompt: scriptOf(prompt), number, fast: true, signal, asked: () => {} };
      const { said } = await playTurn(played);
      if (said === undefined) return;
      memory.add({ said });
      await hooks.tell("Stop", { last_assistant_message: said, turn_id: String(number) });
    });
  };
  if (given.prompt) {
    screen.print(`> ${given.prompt}`);
    await turn(given.prompt);
  }
  for (let text = await composer.next(); text !== undefined; text = await composer.next()) await turn(text);
  exit(0);
}

function scriptOf(prompt: string): string {
  const [first = ""] = prompt.split("\n");
  if (parseScript(first).length > 0) return first;
  if (/\bbug\b/.test(first)) return "tool shell npm test\nsay All tests pass.";
  if (/\bwhich\b/.test(first)) return "ask Which colour? | Blue | Green";
  return `say Done: ${first}`;
}

function commit(): void {
  appendFileSync("src.txt", `${name}\n`);
  execFileSync("git", ["add", "--all"]);
  execFileSync("git", ["commit", "--quiet", "--message", `Work of ${name}`]);
}

function readWords(all: readonly string[]): { prompt: string; conversation: string | undefined } {
  let prompt = "";
  let conversation: string | undefined;
  for (let i = 0; i < all.length; i++) {
    const word = all[i] ?? "";
    const value = VALUES.test(word) ? (all[++i] ?? "") : undefined;
    if (word === "--session-id" || (word === "--resume" && conversation === undefined)) conversation = value;
    else if (word === "-i" || word === "--prompt") prompt = value ?? "";
    else if (value === undefined && !word.startsWith("-")) prompt = word;
  }
  return { prompt, conversation };
}

/** The hook commands that Holdfast configured for this run, in each agent's format. */
function hookCommands(): { command: string | undefined; askCommand: string | undefined } {
  const settings = words[words.indexOf("--settings") + 1] ?? "";
  const defaults = process.env.QWEN_CODE_SYSTEM_DEFAULTS_PATH ?? "";
  for (const file of [words.includes("--settings") ? settings : "", name === "qwen" ? defaults : ""]) {
    if (!existsSync(file)) continue;
    const { hooks } = JSON.parse(readFileSync(file, "utf8"));
    return { command: hooks.Stop?.[0].hooks[0].command, askCommand: hooks.PermissionRequest?.[0].hooks[0].command };
  }
  const of = (event: string) => {
    const option = words.find((word) => word.startsWith(`hooks.${event}=`));
    const quoted = option && /command=("(?:[^"\\]|\\.)*")/.exec(option)?.[1];
    return quoted === undefined || quoted === "" ? undefined : (JSON.parse(quoted) as string);
  };
  return { command: of("Stop"), askCommand: of("PermissionRequest") };
}
