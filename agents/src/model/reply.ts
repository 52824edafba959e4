/** Plays the steps of one request: what is said, as it is said. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Part, type Question, sinceLastPrompt } from "./conversation.ts";
import { isCall, parseScript, type Step, stepsOf } from "./script.ts";
import { callFor, plainValue, withoutSearches } from "./tools.ts";

/** An answer that is none: the status, and what goes with it. `resetsIn` (s): all that was paid for is used up until then. */
export type Failure = { status: number; overflow: boolean; retryAfter?: number; resetsIn?: number };

/** How a stream is spoilt behind what was said. */
export type Spoilt = "garbage" | "cut";

export type Reply =
  | { kind: "failure"; failure: Failure }
  | { kind: "answer"; parts: (signal: AbortSignal) => AsyncGenerator<Part>; end: "whole" | Spoilt };

/** Words one after another take this long: a screen shows them coming, a test does not wait for them. */
const WORD_MS = 15;

export class Player {
  /** How often a failure that ends by itself was given, by the script it stands in. */
  readonly #failures = new Map<string, number>();

  reply(question: Question): Reply {
    if (question.schema !== undefined) return text(JSON.stringify(plainValue(question.schema)));
    const { prompt, calls, results } = sinceLastPrompt(question);
    if (isSuggestion(prompt)) return text(suggestionIn(question));
    if (isSideQuestion(question)) return text("Scripted session");
    const steps = stepsOf(parseScript(prompt), withoutSearches(calls).length);
    const failure = this.#failure(steps, prompt);
    if (failure !== undefined) return { kind: "failure", failure };
    return {
      kind: "answer",
      parts: (signal) => play({ question, steps: steps.length > 0 || results.length > 0 ? steps : quote(prompt), signal }),
      end: steps.some((step) => step.do === "garbage") ? "garbage" : steps.some((step) => step.do === "cut") ? "cut" : "whole",
    };
  }

  #failure(steps: readonly Step[], prompt: string): Failure | undefined {
    for (const step of steps) {
      if (step.do === "overflow") return { status: 400, overflow: true };
      if (step.do === "limit") return { status: 429, overflow: false, retryAfter: step.seconds, resetsIn: step.seconds };
      if (step.do !== "error") continue;
      const before = this.#failures.get(prompt) ?? 0;
      this.#failures.set(prompt, before + 1);
      if (before < step.times) return { status: step.status, overflow: false, retryAfter: step.retryAfter };
    }
    return undefined;
  }
}

type Play = { question: Question; steps: readonly Step[]; signal: AbortSignal };

async function* play({ question, steps, signal }: Play): AsyncGenerator<Part> {
  const { calls, results } = sinceLastPrompt(question);
  const result = results.at(-1);
  if (result !== undefined && withoutSearches(calls.slice(-1)).length > 0) yield* say(`The tool answered: ${short(result)}\n`, signal);
  let spoke = false;
  for (const step of steps) {
    if (spoke && (step.do === "say" || step.do === "talk")) yield { text: " " };
    spoke ||= step.do === "say" || step.do === "talk";
    if (step.do === "say") yield* say(step.text, signal);
    if (step.do === "recall") yield* say(recalled(question), signal);
    if (step.do === "talk") yield* talk(step.ms, signal);
    if (step.do === "wait") await sleep(step.ms, undefined, { signal });
    if (!isCall(step)) continue;
    const call = callFor(step, question, calls);
    if (call !== undefined) yield { call };
    else yield* say(`None of the tools on offer does this: ${step.do === "tool" ? step.name : step.do}.`, signal);
  }
}

async function* say(text: string, signal: AbortSignal): AsyncGenerator<Part> {
  for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
    yield { text: word };
    await sleep(WORD_MS, undefined, { signal });
  }
}

/** Words, no two the same: agents take repetition for a loop. */
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

/** Clients also want titles and summaries of a conversation; a script in it must not play twice. */
function isSideQuestion({ system, messages, tools }: Question): boolean {
  if (tools.length > 0) return false;
  const last = messages.at(-1);
  return /\b(title|summar|suggest|topic)/i.test(`${system}\n${last?.from === "user" ? last.text : ""}`);
}

/** Some agents let the model guess what the user types next; a guess would stand in the composer like a draft. */
function isSuggestion(prompt: string): boolean {
  return prompt.includes("SUGGESTION MODE");
}

function suggestionIn({ messages }: Question): string {
  const prompts = messages.flatMap((message) => (message.from === "user" && !isSuggestion(message.text) ? [message.text] : []));
  const step = parseScript(prompts.at(-1) ?? "").find((each) => each.do === "suggest");
  return step?.do === "suggest" ? step.text : "";
}

/** All that was said before, as far as the client still knows it. */
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
  };
}
