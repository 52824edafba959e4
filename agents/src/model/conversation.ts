/** A client's request to a model and the model's answer, independent of the API. The four APIs convert to and from these types. */

export interface Tool {
  name: string;
  /** JSON Schema of the arguments. */
  schema: Schema;
  /** Set if the API groups tools into namespaces and needs the namespace in a call. */
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
  /** The tool's namespace, if several tools have this name. */
  namespace?: string;
  /** Incomplete JSON that is sent instead of the arguments. */
  garbled?: string;
}

/** Tokens, as given by the script. */
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
  /** Instructions in addition to the system prompt: codex describes its sandbox there. */
  developer?: string;
  messages: Message[];
  tools: Tool[];
  stream: boolean;
  /** Set if the client requests an answer of this form. */
  schema?: Schema;
  /** Properties of the answer, as given by the script: its tokens, and that it is cut off for its length. */
  spent?: Spent;
  tooLong?: boolean;
}

/** A part of an answer, in order. */
export type Part = { text: string } | { call: Call };

/** The state of the conversation: the user's last prompt, and the tool calls since. */
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

/** A rough, deterministic estimate: about four characters per token. */
export function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function tokensAsked({ system, messages }: Question): number {
  return tokens(system) + messages.reduce((sum, message) => sum + tokens(message.text), 0);
}

/** Tokens of an answer: as given by the script, else estimated from its length. */
export function spentOn(question: Question, said: string): Spent {
  return question.spent ?? { input: tokensAsked(question), output: tokens(said) + 1, cacheRead: 0, cacheWrite: 0 };
}

/** The arguments of a call as a model writes them. */
export function argumentsOf(call: Call): string {
  return call.garbled ?? JSON.stringify(call.arguments);
}

/** A call id that is unique within the server. */
export function callId(): string {
  lastCall++;
  return `call_${lastCall.toString().padStart(4, "0")}`;
}

let lastCall = 0;

/** Removes text that a client adds to a prompt for its model only. News of a background task stays: the client begins a turn with it. */
export function withoutReminders(text: string): string {
  const news = (reminder: string) => /<task-notification>[\s\S]*<\/task-notification>/.exec(reminder)?.[0] ?? "";
  return text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, news).trim();
}

/** Converts any value to an object, because bodies come from other programs. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Parses arguments as a model writes them: JSON in a string. */
export function parsed(json: unknown): Record<string, unknown> {
  try {
    return record(JSON.parse(string(json)));
  } catch {
    return {};
  }
}
