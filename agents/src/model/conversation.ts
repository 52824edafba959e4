/** What a client asks of a model, whichever API it speaks, and what the model answers. The four APIs translate to and from this. */

export interface Tool {
  name: string;
  /** JSON Schema of its arguments. */
  schema: Schema;
  /** Where the API sorts tools into such, and wants it back with a call. */
  namespace?: string;
}

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
}

export interface Call {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Of the tool, where several have its name. */
  namespace?: string;
  /** What is sent in their place: JSON that was not written to its end. */
  garbled?: string;
}

/** Tokens, where the script says how many. */
export interface Spent {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export type Message =
  | { from: "user"; text: string }
  | { from: "model"; text: string; calls: Call[] }
  | { from: "tool"; call: string; name: string; text: string };

export interface Question {
  model: string;
  system: string;
  /** Instructions beside the system's: where Codex says what its sandbox permits. */
  developer?: string;
  messages: Message[];
  tools: Tool[];
  stream: boolean;
  /** Set when the client wants an answer in this form. */
  schema?: Schema;
  /** Of the answer, as the script has it: what it costs, and whether it is too long to be given whole. */
  spent?: Spent;
  tooLong?: boolean;
}

/** A piece of an answer, in the order it is said. */
export type Part = { text: string } | { call: Call };

/** Where the conversation stands: what the user said last, and what was called since. */
export function sinceLastPrompt({ messages }: Question): { prompt: string; calls: Call[]; results: string[] } {
  const at = messages.findLastIndex((message) => message.from === "user" && message.text.trim() !== "");
  const prompt = messages[at];
  const after = messages.slice(at + 1);
  return {
    prompt: prompt?.from === "user" ? prompt.text : "",
    calls: after.flatMap((message) => (message.from === "model" ? message.calls : [])),
    results: after.flatMap((message) => (message.from === "tool" ? [message.text] : [])),
  };
}

/** Rough, and the same for the same text: about four characters a token. */
export function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function tokensAsked({ system, messages }: Question): number {
  return tokens(system) + messages.reduce((sum, message) => sum + tokens(message.text), 0);
}

/** What an answer costs: as the script says, else by the length of what was said. */
export function spentOn(question: Question, said: string): Spent {
  return question.spent ?? { input: tokensAsked(question), output: tokens(said) + 1, cacheRead: 0, cacheWrite: 0 };
}

/** The arguments of a call as a model writes them. */
export function argumentsOf(call: Call): string {
  return call.garbled ?? JSON.stringify(call.arguments);
}

/** Names calls so that no two of one server are the same. */
export function callId(): string {
  lastCall++;
  return `call_${lastCall.toString().padStart(4, "0")}`;
}

let lastCall = 0;

/** What a client wraps around a prompt for its model only. */
export function withoutReminders(text: string): string {
  return text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "").trim();
}

/** A value as an object, whatever it is: bodies come from other programs. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Arguments as a model writes them: JSON in a string. */
export function parsed(json: unknown): Record<string, unknown> {
  try {
    return record(JSON.parse(string(json)));
  } catch {
    return {};
  }
}
