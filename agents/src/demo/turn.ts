import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseScript, type Step } from "../model/script.ts";
import { type Asking, askPermission, askQuestion } from "./permission.ts";
import type { Screen } from "./screen.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

export type Turn = Asking & {
  screen: Screen;
  prompt: string;
  number: number;
  fast: boolean;
  signal: AbortSignal;
  /** Called for each request to a model, before each tool and at the end, with the answer. */
  asked(said: string): void;
};

/** Result of a turn: the answer or the failure; neither if the turn was interrupted. */
export type Outcome = { said?: string; failed?: string };

/** Plays one turn like a coding agent: a spinner, steps, an answer. A prompt that is a script defines the steps. */
export async function playTurn(turn: Turn): Promise<Outcome> {
  const steps = parseScript(turn.prompt);
  const outcome = await (steps.length > 0 ? playScript(turn, steps) : playChore(turn));
  turn.screen.clearStatus();
  if (!turn.signal.aborted) return outcome;
  turn.screen.print("Interrupted");
  return {};
}

async function playChore({ screen, prompt, number, fast, signal }: Turn): Promise<Outcome> {
  const file = `src/${fileFor(prompt)}.ts`;
  const began = Date.now();
  const think = (ms: number) => spin(screen, { began, ms: fast ? 0 : ms, signal });
  await think(2400);
  for (const step of [`Read ${file}`, `Edit ${file} (+${9 + number * 3} −${number + 2})`, "Run npm test"]) {
    if (signal.aborted) break;
    screen.print(`● ${step}`);
    await think(900);
  }
  screen.clearStatus();
  const said = answer({ prompt, number, file });
  if (!signal.aborted) screen.print(said);
  return { said };
}

async function playScript(turn: Turn, steps: readonly Step[]): Promise<Outcome> {
  const { screen, signal } = turn;
  const began = Date.now();
  const said: string[] = [];
  const say = (text: string) => {
    said.push(text);
    screen.print(text);
  };
  await spin(screen, { began, ms: 0, signal });
  for (const step of steps) {
    if (signal.aborted) break;
    if (step.do === "say") say(step.text);
    else if (step.do === "wait") await spin(screen, { began, ms: step.ms, signal });
    else if (step.do === "until") while (!existsSync(step.file) && !signal.aborted) await spin(screen, { began, ms: FRAME_MS, signal });
    else if (step.do === "talk") await talk(turn, began + step.ms);
    else if (step.do === "shell") {
      turn.asked(said.join("\n"));
      say(await runTool(turn, step.command));
    } else if (step.do === "ask") {
      turn.asked(said.join("\n"));
      screen.clearStatus();
      say(`The tool answered: ${await askQuestion(turn, step.question, step.choices)}`);
    } else if (step.do === "error") {
      screen.clearStatus();
      screen.print(`✕ API error ${step.status}`);
      return { failed: step.status === 429 ? "rate_limit" : "server_error" };
    }
  }
  screen.clearStatus();
  return { said: said.join("\n") };
}

async function runTool(turn: Turn, command: string): Promise<string> {
  turn.screen.clearStatus();
  const { behavior, message } = await askPermission(turn, command);
  if (behavior === "deny") {
    turn.screen.print(`Denied: ${command}`);
    return `The tool was denied${message ? `: ${message}` : ""}`;
  }
  turn.screen.print(`● Run ${command}`);
  const response = await shell(command, turn.signal);
  await turn.hooks.tell("PostToolUse", { tool_name: "Bash", tool_input: { command }, tool_response: response });
  return `The tool answered: ${response.trim()}`;
}

function shell(command: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    execFile("sh", ["-c", command], { signal }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

async function talk({ screen, signal }: Turn, until: number): Promise<void> {
  for (let words = 1; Date.now() < until && !signal.aborted; words++) {
    screen.print(`word ${words}`);
    await pause(FRAME_MS, signal);
  }
}

type Spin = { began: number; ms: number; signal: AbortSignal };

async function spin(screen: Screen, { began, ms, signal }: Spin): Promise<void> {
  const until = Date.now() + ms;
  for (let frame = 0; !signal.aborted; frame++) {
    const seconds = Math.floor((Date.now() - began) / 1000);
    screen.status(`${FRAMES[frame % FRAMES.length]} Thinking… ${seconds}s (esc to interrupt)`);
    const left = Math.max(0, until - Date.now());
    // Pause even with no time left: otherwise a fast loop would never see a key or a signal.
    await pause(Math.min(FRAME_MS, left), signal);
    if (left === 0) return;
  }
}

/** Ends early, without an error, if the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

const fileFor = (prompt: string): string => /[a-z]{4,}/i.exec(prompt)?.[0].toLowerCase() ?? "main";

function answer({ prompt, number, file }: { prompt: string; number: number; file: string }): string {
  const [first = "", ...more] = prompt.split("\n");
  const quote = more.length > 0 ? `“${first} …” (${more.length + 1} lines)` : `“${first}”`;
  return `Turn ${number}: ${quote} is done. I changed ${file}; the tests pass.`;
}
