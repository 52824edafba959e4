import { setTimeout as sleep } from "node:timers/promises";
import type { Screen } from "./screen.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

export type Turn = { prompt: string; number: number; fast: boolean; signal: AbortSignal };

/** One turn as a coding agent shows it: a spinner, the steps it takes, an answer. */
export async function playTurn(screen: Screen, { prompt, number, fast, signal }: Turn): Promise<void> {
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
  screen.print(signal.aborted ? "Interrupted" : answer({ prompt, number, file }));
}

type Spin = { began: number; ms: number; signal: AbortSignal };

async function spin(screen: Screen, { began, ms, signal }: Spin): Promise<void> {
  const until = Date.now() + ms;
  for (let frame = 0; !signal.aborted; frame++) {
    const seconds = Math.floor((Date.now() - began) / 1000);
    screen.status(`${FRAMES[frame % FRAMES.length]} Thinking… ${seconds}s (esc to interrupt)`);
    const left = Math.max(0, until - Date.now());
    // Also when nothing is left: without a pause a fast loop would never see a key or a signal.
    await pause(Math.min(FRAME_MS, left), signal);
    if (left === 0) return;
  }
}

/** Ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

const fileFor = (prompt: string): string => /[a-z]{4,}/i.exec(prompt)?.[0].toLowerCase() ?? "main";

function answer({ prompt, number, file }: { prompt: string; number: number; file: string }): string {
  const [first = "", ...more] = prompt.split("\n");
  const quote = more.length > 0 ? `“${first} …” (${more.length + 1} lines)` : `“${first}”`;
  return `Turn ${number}: ${quote} is done. I changed ${file}; the tests pass.`;
}
