/** Tool calls in the client's terms: which of the offered tools runs a command or asks a person, and its arguments. */
import { type Call, callId, type Question, type Schema, type Tool } from "./conversation.ts";
import type { Step } from "./script.ts";

/** Names of such tools in known agents. */
const SHELL = ["run_shell_command", "Bash", "exec_command", "shell", "shell_command", "bash", "run_command"];
const ASK = ["AskUserQuestion", "ask_user_question", "ask_user", "question", "request_user_input"];
/** Agents with many tools offer most of them only after a search. */
const SEARCH = ["tool_search", "ToolSearch"];

/** The call for a step; undefined if no such tool is offered. */
export function callFor(
  step: Extract<Step, { do: "shell" | "ask" | "tool" | "garble" }>,
  question: Question,
  calls: readonly Call[],
): Call | undefined {
  if (step.do === "garble") {
    const whole = callFor({ do: "shell", command: step.command, background: false }, question, calls);
    return whole && { ...whole, garbled: JSON.stringify(whole.arguments).slice(0, -2) };
  }
  if (step.do === "tool") return named(step.name, step.arguments, question, calls);
  const tool = offered(question, step.do === "shell" ? SHELL : ASK);
  if (tool !== undefined)
    return call(tool.name, fill(tool.schema, step.do === "shell" ? shellArguments(step, question) : askArguments(step)));
  const deferred = step.do === "ask" ? ASK.find((name) => question.system.includes(name) || saysReminder(question, name)) : undefined;
  return deferred === undefined ? undefined : named(deferred, askArguments(step as Extract<Step, { do: "ask" }>), question, calls);
}

/** The script's own calls, without searches for a tool. */
export function withoutSearches(calls: readonly Call[]): Call[] {
  return calls.filter(({ name }) => !SEARCH.includes(name));
}

function named(name: string, values: Record<string, unknown>, question: Question, calls: readonly Call[]): Call | undefined {
  const within = question.tools.find((each) => each.namespace !== undefined && `${each.namespace}.${each.name}` === name);
  if (within?.namespace !== undefined) return { ...call(within.name, values), namespace: within.namespace };
  const tool = question.tools.find((each) => each.name === name);
  if (tool !== undefined) return call(name, values);
  const search = offered(question, SEARCH);
  if (search === undefined) return undefined;
  const searched = calls.at(-1) !== undefined && SEARCH.includes(calls.at(-1)?.name ?? "");
  if (!searched) return call(search.name, fill(search.schema, { query: `select:${name}` }));
  const through = question.tools.find((each) => each.name === "tool_call");
  return through === undefined ? call(name, values) : call(through.name, { name, arguments: values });
}

function call(name: string, values: Record<string, unknown>): Call {
  return { id: callId(), name, arguments: values };
}

function offered({ tools }: Question, names: readonly string[]): Tool | undefined {
  return names.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])[0];
}

function saysReminder({ messages }: Question, name: string): boolean {
  return messages.some((message) => message.from === "user" && message.text.includes(name));
}

/** The command under every argument name that agents use; arguments that a tool does not have are left out. */
function shellArguments({ command, background }: Extract<Step, { do: "shell" }>, question: Question): Record<string, unknown> {
  // Codex asks a person only about a command that leaves the sandbox, and rejects such a command in modes that never ask.
  const isForbidden = question.developer?.includes("Do not provide the `sandbox_permissions`") ?? false;
  return {
    command,
    cmd: command,
    description: `Run ${command}`,
    ...(background ? { run_in_background: true, is_background: true } : { is_background: false }),
    ...(isForbidden ? {} : { sandbox_permissions: "require_escalated", justification: `May I run ${command}?` }),
  };
}

function askArguments({ question, choices }: Extract<Step, { do: "ask" }>): Record<string, unknown> {
  const options = choices.map((label) => ({ label, description: `Choose ${label}` }));
  return { questions: [{ id: "choice", question, header: "Choice", type: "choice", options, multiSelect: false, multiple: false }] };
}

/** Keeps the values that the schema has, in its types, and adds a plain value for other required properties. */
export function fill(schema: Schema, values: Record<string, unknown>): Record<string, unknown> {
  const filled: Record<string, unknown> = {};
  for (const [name, wanted] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    if (name in values) filled[name] = fit(wanted, values[name]);
    else if (isRequired) filled[name] = plainValue(wanted);
  }
  return filled;
}

function fit(schema: Schema, value: unknown): unknown {
  const type = typeOf(schema);
  if (type === "array" && typeof value === "string") return ["bash", "-lc", value];
  if (type === "array" && Array.isArray(value) && schema.items !== undefined) return value.map((each) => fit(schema.items ?? {}, each));
  if (schema.properties !== undefined && typeof value === "object" && value !== null) return fill(schema, value as Record<string, unknown>);
  return value;
}

/** The smallest value that satisfies a schema. */
export function plainValue(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  const type = typeOf(schema);
  if (type === "string") return "scripted";
  if (type === "integer" || type === "number") return 0;
  if (type === "boolean") return false;
  if (type === "array") return [];
  return fill(schema, {});
}

/** Gemini writes types in capitals. */
function typeOf({ type }: Schema): string {
  return (Array.isArray(type) ? (type[0] ?? "") : (type ?? "object")).toLowerCase();
}
