/**
 * The steps with which a prompt scripts a turn: one per line, or several in a line separated by `;`. Other lines are ignored. Steps of the terminal
 * demo agent and of the scripted model work too: `wait 3s`, `until FILE`, `talk 3s`, `tool shell COMMAND`, `ask QUESTION | A | B`, `error 500`.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { type AvailableCommand, RequestError, type StopReason } from "@agentclientprotocol/sdk/unstable";
import { parseScript, type Step, wordsOf } from "../model/script.ts";
import { ask, mayUse, question, read, run, write } from "./tools.ts";
import type { Turn } from "./turn.ts";

type Play = (turn: Turn) => void | Promise<void>;
type Found = (string | undefined)[];
type Word = { usage: string; does: string; pattern: RegExp; play(turn: Turn, ...found: Found): void | Promise<void> };

const WORDS: Word[] = [
  { usage: "help", does: "this list", pattern: /^\/?help$/, play: (turn) => turn.say(help()) },
  { usage: "say TEXT", does: "say it, word by word", pattern: /^say (.+)$/, play: (turn, said = "") => turn.say(said) },
  { usage: "think TEXT", does: "think it", pattern: /^think (.+)$/, play: (turn, thought = "") => turn.think(thought) },
  {
    usage: "stream N [RATE]",
    does: "N chunks of text, RATE a second, else at once",
    pattern: /^stream (\d+)(?: (\d+))?$/,
    play: (turn, count, rate) => turn.stream(Number(count), rate === undefined ? undefined : Number(rate)),
  },
  { usage: "plan", does: "a plan of three steps, done one by one", pattern: /^plan$/, play: plan },
  { usage: "ask TOOL", does: "ask for permission", pattern: /^ask ([^|]+)$/, play: (turn, tool = "") => ask(turn, tool, "usual") },
  {
    usage: "ask-first TOOL",
    does: "the same, and the call is shown afterwards",
    pattern: /^ask-first (.+)$/,
    play: (turn, tool = "") => ask(turn, tool, "asked first"),
  },
  {
    usage: "ask-only TOOL",
    does: "the same, and the call is never shown",
    pattern: /^ask-only (.+)$/,
    play: (turn, tool = "") => ask(turn, tool, "never shown"),
  },
  {
    usage: "read PATH [LINE [LIMIT]]",
    does: "read a file, through the client if that can; PATH has a dot or a slash",
    pattern: /^read (\S*[./]\S*)(?: (\d+))?(?: (\d+))?$/,
    play: (turn, path = "", line, limit) =>
      read(turn, path, { ...(line === undefined ? {} : { line: Number(line) }), ...(limit === undefined ? {} : { limit: Number(limit) }) }),
  },
  {
    usage: "write PATH TEXT",
    does: "write a file, with a diff",
    pattern: /^write (\S*[./]\S*) (.+)$/,
    play: (turn, path = "", text = "") => write(turn, path, text),
  },
  {
    usage: "run COMMAND",
    does: "run it in the client's terminal",
    pattern: /^run (.+)$/,
    play: (turn, command = "") => run(turn, command),
  },
  {
    usage: "tool shell COMMAND",
    does: "the same, when it is allowed",
    pattern: /^tool shell (.+)$/,
    play: (turn, command = "") => askAndRun(turn, command),
  },
  {
    usage: "background COMMAND",
    does: "start it, and leave it running",
    pattern: /^(?:tool )?background (.+)$/,
    play: (turn, command = "") => leave(turn, command),
  },
  { usage: "sleep MS", does: "do nothing for so long", pattern: /^sleep (\d+)$/, play: (turn, ms) => turn.pause(Number(ms)) },
  {
    usage: "remember X",
    does: "keep it in mind in this conversation",
    pattern: /^remember (.+)$/,
    play: (turn, what = "") => turn.say(`I will remember ${what}.`),
  },
  { usage: "recall", does: "say all that was to be remembered", pattern: /^recall$/, play: (turn) => turn.say(recalled(turn)) },
  {
    usage: "usage IN OUT [READ WRITE]",
    does: "tokens of this turn: input, output, from and into the cache",
    pattern: /^usage (\d+) (\d+)(?: (\d+) (\d+))?$/,
    play: (turn, input, output, cacheRead, cacheWrite) => {
      const cached = cacheRead === undefined ? {} : { cachedReadTokens: Number(cacheRead), cachedWriteTokens: Number(cacheWrite) };
      turn.spent = { inputTokens: Number(input), outputTokens: Number(output), ...cached };
    },
  },
  {
    usage: "cost USD",
    does: "what this conversation has cost",
    pattern: /^cost (\d+(?:\.\d+)?)$/,
    play: (turn, amount) => {
      turn.cost = Number(amount);
    },
  },
  {
    usage: "spend IN OUT",
    does: "use so many tokens now, and tell it in the middle of the turn",
    pattern: /^spend (\d+) (\d+)$/,
    play: (turn, input, output) => turn.spend(Number(input), Number(output)),
  },
  {
    usage: "pay USD",
    does: "tell now what this conversation has cost",
    pattern: /^pay (\d+(?:\.\d+)?)$/,
    play: (turn, amount) => turn.pay(Number(amount)),
  },
  {
    usage: "usage-late",
    does: "tell the usage behind the answer to the prompt",
    pattern: /^usage-late$/,
    play: (turn) => {
      turn.usageLate = true;
    },
  },
  { usage: "mode ask|auto", does: "change the mode by itself", pattern: /^mode (ask|auto)$/, play: changeMode },
  {
    usage: "title TEXT",
    does: "name the conversation",
    pattern: /^title (.+)$/,
    play: (turn, title = "") => turn.show({ sessionUpdate: "session_info_update", title }),
  },
  { usage: "about", does: "say mode, model, directory and MCP servers", pattern: /^about$/, play: (turn) => turn.say(about(turn)) },
  { usage: "blocks", does: "say what the prompt was made of", pattern: /^blocks$/, play: (turn) => turn.say(blocks(turn)) },
  {
    usage: "env NAME",
    does: "say an environment variable",
    pattern: /^env (\w+)$/,
    play: (turn, name = "") => turn.say(process.env[name] ?? `${name} is not set`),
  },
  {
    usage: "stop REASON",
    does: "end the turn as max_tokens, max_turn_requests or refusal",
    pattern: /^stop (max_tokens|max_turn_requests|refusal)$/,
    play: (turn, reason) => {
      turn.stopReason = reason as StopReason;
    },
  },
  { usage: "fail [MESSAGE]", does: "answer the prompt with an error", pattern: /^fail(?: (.+))?$/, play: fail },
  { usage: "crash [CODE]", does: "end the process, with 1 or that code", pattern: /^crash(?: (\d+))?$/, play: crash },
  {
    usage: "garbage",
    does: "write a line that is not JSON",
    pattern: /^garbage$/,
    play: ({ session }) => void session.serving.output.write('{"jsonrpc":"2.0","method": garbage\n'),
  },
  { usage: "hang", does: "never end this turn, also when it is cancelled", pattern: /^hang$/, play: () => new Promise<never>(() => {}) },
];

/** The steps of a prompt; empty if it is not a script. */
export function stepsOf(prompt: string): Play[] {
  return wordsOf(prompt).flatMap((line) => stepOf(line) ?? []);
}

/** Commands that a client lists when its user types a slash. */
export function slashCommands(): AvailableCommand[] {
  return [{ name: "help", description: "What this scripted agent understands" }];
}

function stepOf(line: string): Play | undefined {
  for (const { pattern, play } of WORDS) {
    const found = pattern.exec(line);
    if (found !== null) return (turn) => play(turn, ...found.slice(1));
  }
  return parseScript(line).flatMap((step) => sharedStep(step) ?? [])[0];
}

/** Steps of the scripted model that have no entry in the list above. */
function sharedStep(step: Step): Play | undefined {
  if (step.do === "wait") return (turn) => turn.pause(step.ms);
  if (step.do === "until") return (turn) => there(turn, step.file);
  if (step.do === "talk") return (turn) => turn.stream(Math.ceil(step.ms / 100), 10);
  if (step.do === "ask") return (turn) => question(turn, step.question, step.choices);
  if (step.do === "error") return (turn) => fail(turn, `API error ${step.status}`);
  return undefined;
}

async function there(turn: Turn, file: string): Promise<void> {
  while (!existsSync(file)) await turn.pause(20);
}

function help(): string {
  return WORDS.map(({ usage, does }) => `${usage.padEnd(28)}${does}`).join("\n");
}

async function plan(turn: Turn): Promise<void> {
  const steps = ["Look around", "Change the code", "Run the tests"];
  for (let done = 0; done <= steps.length; done++) {
    const entries = steps.map((content, index) => {
      const status = index < done ? ("completed" as const) : index === done ? ("in_progress" as const) : ("pending" as const);
      return { content, priority: "medium" as const, status };
    });
    await turn.show({ sessionUpdate: "plan", entries });
    if (!turn.session.fast) await turn.pause(50);
  }
}

async function askAndRun(turn: Turn, command: string): Promise<void> {
  const { allowed, id } = await mayUse(turn, { title: `Run ${command}`, kind: "execute", input: { command } });
  if (allowed) return run(turn, command, id);
  await turn.finish(id, "failed", []);
  await turn.say("The tool was denied");
}

async function leave(turn: Turn, command: string): Promise<void> {
  const child = spawn("sh", ["-c", command], { cwd: turn.session.cwd, stdio: "ignore" });
  // The directory may be gone; nothing waits for this process.
  child.on("error", () => {}).unref();
  await turn.say(`${command} runs in the background.`);
}

function recalled({ session }: Turn): string {
  const lines = session.memory.turns().flatMap(({ prompt }) => wordsOf(prompt));
  const kept = lines.flatMap((line) => /^remember (.+)$/.exec(line.trim())?.[1] ?? []);
  return kept.length === 0 ? "I remember nothing." : `I remember: ${kept.join(", ")}.`;
}

async function changeMode(turn: Turn, mode = "ask"): Promise<void> {
  turn.session.setMode(mode);
  await turn.show({ sessionUpdate: "current_mode_update", currentModeId: mode });
}

function about({ session }: Turn): string {
  const servers = session.servers.length === 0 ? "none" : session.servers.join(", ");
  return `mode ${session.mode}, model ${session.model}, directory ${session.cwd}, MCP servers: ${servers}`;
}

function blocks(turn: Turn): string {
  return turn.blocks
    .map((block) => {
      if (block.type === "resource_link") return `resource_link ${block.uri}`;
      if (block.type === "resource") return `resource ${block.resource.uri}`;
      return block.type;
    })
    .join(", ");
}

function fail(_: Turn, message = "it was told to fail"): never {
  throw RequestError.internalError({ details: message }, message);
}

function crash({ session }: Turn, code = "1"): Promise<never> {
  console.error("Error: the demo agent crashed because it was told to");
  session.serving.exit(Number(code));
  return new Promise(() => {});
}
