import type { Spent } from "./conversation.ts";

/**
 * The language of scripted prompts: one step per line, or several in a line separated by `;`. Other lines are ignored. A prompt without steps is
 * answered with a sentence that quotes it. agents/README.md lists the steps.
 */

export type Step =
  | { do: "say"; text: string }
  | { do: "talk"; ms: number }
  | { do: "wait"; ms: number }
  | { do: "until"; file: string }
  | { do: "delay"; ms: number }
  | { do: "shell"; command: string; background: boolean }
  | { do: "ask"; question: string; choices: string[] }
  | { do: "tool"; name: string; arguments: Record<string, unknown> }
  | { do: "garble"; command: string }
  | { do: "error"; status: number; times: number; retryAfter?: number }
  | { do: "break"; status: number; times: number }
  | { do: "garbage" | "cut" | "reset"; times: number }
  | { do: "limit"; seconds: number }
  | { do: "usage"; spent: Spent }
  | { do: "suggest"; text: string }
  | { do: "overflow" }
  | { do: "recall" | "noise" | "length" };

/** Steps that fail; those with `times` succeed afterwards. */
export type Fault = Extract<Step, { do: "error" | "break" | "garbage" | "cut" | "reset" | "limit" | "overflow" }>;

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const TIME = "(\\d+(?:\\.\\d+)?)(ms|s|m|h)";

type Match = RegExpExecArray & { groups?: Record<string, string> };

const STEPS: [pattern: RegExp, read: (match: Match) => Step | undefined][] = [
  [/^say (.+)$/, ([, text = ""]) => ({ do: "say", text })],
  [new RegExp(`^talk ${TIME}$`), ([, amount, unit]) => ({ do: "talk", ms: milliseconds(amount, unit) })],
  [new RegExp(`^(wait|delay) ${TIME}$`), ([, word, amount, unit]) => ({ do: word as "wait" | "delay", ms: milliseconds(amount, unit) })],
  [/^until (\S+)$/, ([, file = ""]) => ({ do: "until", file })],
  [/^tool shell (.+)$/, ([, command = ""]) => ({ do: "shell", command, background: false })],
  [/^tool background (.+)$/, ([, command = ""]) => ({ do: "shell", command, background: true })],
  [/^tool (\S+)(?: (\{.*\}))?$/, ([, name = "", json = "{}"]) => readTool(name, json)],
  [/^ask ([^|]+)((?:\|[^|]+){2,})$/, ([, question = "", choices = ""]) => readQuestion(question, choices)],
  [
    /^error ([45]\d\d)(?: x(\d+))?(?: retry-after (\d+))?$/,
    ([, status, times, after]) => ({
      do: "error",
      status: Number(status),
      times: often(times),
      ...(after === undefined ? {} : { retryAfter: Number(after) }),
    }),
  ],
  [new RegExp(`^limit ${TIME}$`), ([, amount, unit]) => ({ do: "limit", seconds: milliseconds(amount, unit) / 1000 })],
  [/^suggest (.+)$/, ([, text = ""]) => ({ do: "suggest", text })],
  [/^break ([45]\d\d)(?: x(\d+))?$/, ([, status, times]) => ({ do: "break", status: Number(status), times: often(times) })],
  [/^(garbage|cut|reset)(?: x(\d+))?$/, ([, word, times]) => ({ do: word as "garbage" | "cut" | "reset", times: often(times) })],
  [/^garble (.+)$/, ([, command = ""]) => ({ do: "garble", command })],
  [
    /^usage (\d+) (\d+)(?: (\d+) (\d+))?$/,
    ([, input, output, read = "0", write = "0"]) => ({
      do: "usage",
      spent: { input: Number(input), output: Number(output), cacheRead: Number(read), cacheWrite: Number(write) },
    }),
  ],
  [/^(recall|overflow|noise|length)$/, ([, word]) => ({ do: word as "recall" | "overflow" | "noise" | "length" })],
];

/** The steps of a prompt; empty if it is not a script. */
export function parseScript(prompt: string): Step[] {
  return wordsOf(prompt).flatMap((line) => readStep(line) ?? []);
}

/** Lines of a message from another session are quoted with `|`. */
export function wordsOf(prompt: string): string[] {
  return prompt.split(/\n|;/).map((line) => line.trim().replace(/^\| ?/, "").trim());
}

/**
 * The steps for one request. A request ends with a tool call, and the next request, with the tool's result, continues after it. The model's behaviour
 * depends only on the conversation, so retries and resumed conversations get the same answer.
 */
export function stepsOf(steps: readonly Step[], callsBefore: number): Step[] {
  const segments: Step[][] = [[]];
  for (const step of steps) {
    segments.at(-1)?.push(step);
    if (isCall(step)) segments.push([]);
  }
  return segments[callsBefore] ?? [];
}

export function isCall(step: Step): step is Extract<Step, { do: "shell" | "ask" | "tool" | "garble" }> {
  return ["shell", "ask", "tool", "garble"].includes(step.do);
}

export function isFault(step: Step): step is Fault {
  return ["error", "break", "garbage", "cut", "reset", "limit", "overflow"].includes(step.do);
}

function readStep(line: string): Step | undefined {
  for (const [pattern, read] of STEPS) {
    const match = pattern.exec(line);
    const step = match === null ? undefined : read(match);
    if (step !== undefined) return step;
  }
  return undefined;
}

function readTool(name: string, json: string): Step | undefined {
  try {
    return { do: "tool", name, arguments: JSON.parse(json) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}

function readQuestion(question: string, choices: string): Step {
  const texts = choices.split("|").map((choice) => choice.trim());
  return { do: "ask", question: question.trim(), choices: texts.filter((choice) => choice !== "") };
}

/** Without a number: always. */
function often(times: string | undefined): number {
  return times === undefined ? Number.POSITIVE_INFINITY : Number(times);
}

function milliseconds(amount = "0", unit = "s"): number {
  return Number(amount) * (UNITS[unit] ?? 1000);
}
