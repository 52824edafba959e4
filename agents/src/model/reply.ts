/** Plays the steps of one request. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Part, type Question, sinceLastPrompt } from "./conversation.ts";
import { type Fault, isCall, isFault, parseScript, type Step, stepsOf } from "./script.ts";
import { callFor, plainValue, withoutSearches } from "./tools.ts";

const LOOK_MS = 20;

/** A failure instead of an answer. `resetsIn` (s): the quota is used up until then. */
export type Failure = { status: number; overflow: boolean; retryAfter?: number; resetsIn?: number };

/** The end of an answer: complete, spoilt after the text so far, or with a failure in the middle of the stream. */
export type End = "whole" | "garbage" | "cut" | "reset" | Failure;

/** The reply starts after `delayMs`. `tells` has the script's properties of the answer. */
export type Reply = { delayMs: number } & (
  | { kind: "failure"; failure: Failure }
  | {
      kind: "answer";
      parts: (signal: AbortSignal) => AsyncGenerator<Piece>;
      end: End;
      tells: Pick<Question, "spent" | "tooLong">;
    }
);

/** `noise` is not part of the answer: meaningless data in between. */
export type Piece = Part | { noise: true };

/** Delay between words: visible on a screen, short enough for tests. */
const WORD_MS = 15;

/** Scripts for prompts in plain language, keyed by the prompt. */
export type Plays = Readonly<Record<string, string>>;

export class Player {
  /** Number of times a limited fault has occurred, by script and position. */
  readonly #given = new Map<string, number>();
  readonly #plays: Plays;

  constructor(plays: Plays = {}) {
    this.#plays = plays;
  }

  reply(question: Question): Reply {
    if (question.schema !== undefined) return text(JSON.stringify(plainValue(question.schema)));
    const { prompt, calls, results } = sinceLastPrompt(question);
    if (isSuggestion(prompt)) return text(suggestionIn(question));
    if (isSideQuestion(question)) return text("Scripted session");
    const before = withoutSearches(calls).length;
    const script = Object.entries(this.#plays).find(([key]) => prompt.includes(key))?.[1];
    const steps = stepsOf(parseScript(script ?? prompt), before);
    const at = steps.findIndex((step, index) => isFault(step) && this.#isDue(step, `${index} ${before} ${prompt}`));
    const fault = steps[at] as Fault | undefined;
    const delayMs = steps.reduce((sum, step) => sum + (step.do === "delay" ? step.ms : 0), 0);
    const failure = fault && failureOf(fault);
    if (failure !== undefined && fault?.do !== "break") return { kind: "failure", failure, delayMs };
    const played = fault === undefined ? steps : steps.slice(0, at);
    return {
      kind: "answer",
      parts: (signal) =>
        play({
          question,
          steps: steps.length > 0 || results.length > 0 ? played : quote(prompt),
          signal,
          quotesResults: script === undefined,
        }),
      end: failure ?? spoiltBy(fault),
      tells: toldBy(steps),
      delayMs,
    };
  }

  #isDue(fault: Fault, place: string): boolean {
    const given = this.#given.get(place) ?? 0;
    if (!("times" in fault)) return true;
    if (given >= fault.times) return false;
    this.#given.set(place, given + 1);
    return true;
  }
}

function failureOf(fault: Fault): Failure | undefined {
  if (fault.do === "overflow") return { status: 400, overflow: true };
  if (fault.do === "limit") return { status: 429, overflow: false, retryAfter: fault.seconds, resetsIn: fault.seconds };
  if (fault.do === "error") return { status: fault.status, overflow: false, retryAfter: fault.retryAfter };
  return fault.do === "break" ? { status: fault.status, overflow: false } : undefined;
}

function spoiltBy(fault: Fault | undefined): End {
  return fault?.do === "garbage" || fault?.do === "cut" || fault?.do === "reset" ? fault.do : "whole";
}

function toldBy(steps: readonly Step[]): Pick<Question, "spent" | "tooLong"> {
  const usage = steps.find((step) => step.do === "usage");
  return {
    ...(usage?.do === "usage" ? { spent: usage.spent } : {}),
    ...(steps.some((step) => step.do === "length") ? { tooLong: true } : {}),
  };
}

type Play = { question: Question; steps: readonly Step[]; signal: AbortSignal; quotesResults: boolean };

async function* play({ question, steps, signal, quotesResults }: Play): AsyncGenerator<Piece> {
  const { calls, results } = sinceLastPrompt(question);
  const result = results.at(-1);
  if (quotesResults && result !== undefined && withoutSearches(calls.slice(-1)).length > 0)
    yield* say(`The tool answered: ${short(result)}\n`, signal);
  let spoke = false;
  for (const step of steps) {
    if (spoke && (step.do === "say" || step.do === "talk")) yield { text: " " };
    spoke ||= step.do === "say" || step.do === "talk";
    if (step.do === "say") yield* say(step.text, signal);
    if (step.do === "recall") yield* say(recalled(question), signal);
    if (step.do === "talk") yield* talk(step.ms, signal);
    if (step.do === "wait") await sleep(step.ms, undefined, { signal });
    if (step.do === "until") while (!existsSync(step.file)) await sleep(LOOK_MS, undefined, { signal });
    if (step.do === "noise") yield { noise: true };
    if (!isCall(step)) continue;
    const call = callFor(step, question, calls);
    if (call !== undefined) yield { call };
    else
      yield* say(
        `None of the tools on offer does this: ${step.do === "tool" ? step.name : step.do === "garble" ? "shell" : step.do}.`,
        signal,
      );
  }
}

async function* say(text: string, signal: AbortSignal): AsyncGenerator<Part> {
  for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
    yield { text: word };
    await sleep(WORD_MS, undefined, { signal });
  }
}

/** All words differ, because agents take repetition for a loop. */
async function* talk(ms: number, signal: AbortSignal): AsyncGenerator<Part> {
  const pause = 100;
  for (let spoken = 0; spoken * pause < ms; spoken++) {
    yield { text: `${word(spoken)} ` };
    await sleep(pause, undefined, { signal });
  }
}

function word(number: number): string {
  const syllables = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
  const at = (place: number) => syllables[Math.floor(number / 16 ** place) % 16] ?? "";
  return `${at(0)}${at(1)}${syllables[(number * 7) % 16]}`;
}

/** Clients also request titles and summaries of a conversation; a script in it must not play twice. */
function isSideQuestion({ system, messages, tools }: Question): boolean {
  if (tools.length > 0) return false;
  const last = messages.at(-1);
  return /\b(title|summar|suggest|topic)/i.test(`${system}\n${last?.from === "user" ? last.text : ""}`);
}

/** Some agents let the model guess the user's next prompt; a guess would appear in the composer like a draft. */
function isSuggestion(prompt: string): boolean {
  return prompt.includes("SUGGESTION MODE");
}

function suggestionIn({ messages }: Question): string {
  const prompts = messages.flatMap((message) => (message.from === "user" && !isSuggestion(message.text) ? [message.text] : []));
  const step = parseScript(prompts.at(-1) ?? "").find((each) => each.do === "suggest");
  return step?.do === "suggest" ? step.text : "";
}

/** The text of all earlier `say` steps that the client still sends. */
function recalled({ messages }: Question): string {
  const prompts = messages.flatMap((message) => (message.from === "user" ? [message.text] : [])).slice(0, -1);
  const words = prompts
    .map((prompt) => parseScript(prompt).find((step) => step.do === "say"))
    .flatMap((step) => (step?.do === "say" ? [step.text] : []));
  return words.length === 0 ? "I remember nothing." : `I remember: ${words.join(", ")}.`;
}

function quote(prompt: string): Step[] {
  return [{ do: "say", text: `You said “${short(prompt)}”, and this is the scripted answer.` }];
}

function short(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

function text(value: string): Reply {
  return {
    kind: "answer",
    parts: async function* () {
      yield { text: value };
    },
    end: "whole",
    tells: {},
    delayMs: 0,
  };
}
