/** The agent's actions on the outside: through the client if it offers them, as agents do, otherwise directly. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { PermissionOption, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk/unstable";
import { Cancelled, type Tool, type Turn, text } from "./turn.ts";

const OUTPUT_BYTES = 64 * 1024;

const YES_OR_NO: PermissionOption[] = [
  { optionId: "allow-once", name: "Yes", kind: "allow_once" },
  { optionId: "allow-always", name: "Yes, and do not ask for this again", kind: "allow_always" },
  { optionId: "reject-once", name: "No", kind: "reject_once" },
];

/** `usual`: the call is shown before the permission request. Some agents ask first, and some never show the call. */
export type Order = "usual" | "asked first" | "never shown";

/** Returns true in `allowed` if the tool may be used. Mode `auto` and always-allowed tools need no permission request. */
export async function mayUse(turn: Turn, tool: Tool, { order = "usual", id = turn.session.callId() }: { order?: Order; id?: string } = {}) {
  const { session } = turn;
  if (order === "usual") await turn.begin(id, tool, "pending");
  if (session.mode === "auto" || session.always.has(tool.title)) {
    if (order === "asked first") await turn.begin(id, tool, "pending");
    return { allowed: true, id };
  }
  const chosen = await choose(turn, { tool, id, options: YES_OR_NO });
  if (order === "asked first") await turn.begin(id, tool, "pending");
  if (chosen === "allow-always") session.always.add(tool.title);
  return { allowed: chosen.startsWith("allow"), id };
}

export async function ask(turn: Turn, title: string, order: Order): Promise<void> {
  const { allowed, id } = await mayUse(turn, { title, kind: "execute", input: { tool: title } }, { order });
  if (order !== "never shown") await turn.finish(id, allowed ? "completed" : "failed", [text(allowed ? "done" : "not allowed")]);
  await turn.say(allowed ? `Allowed: ${title}` : `Denied: ${title}`);
}

/** A question is sent like a permission request, with the possible answers as options. */
export async function question(turn: Turn, title: string, choices: readonly string[]): Promise<void> {
  const id = turn.session.callId();
  const tool: Tool = { title, kind: "other", input: { question: title } };
  await turn.begin(id, tool, "pending");
  const options = choices.map((name, index): PermissionOption => ({ optionId: `choice-${index + 1}`, name, kind: "allow_once" }));
  const chosen = await choose(turn, { tool, id, options });
  const answer = options.find(({ optionId }) => optionId === chosen)?.name ?? chosen;
  await turn.finish(id, "completed", [text(answer)]);
  await turn.say(`The tool answered: ${answer}`);
}

export async function read(turn: Turn, name: string, { line, limit }: { line?: number; limit?: number } = {}): Promise<void> {
  const path = resolve(turn.session.cwd, name);
  let content = "";
  const done = await turn.call({ title: `Read ${name}`, kind: "read", path, input: { path } }, async () => {
    content = await contentOf(turn, path, { ...(line === undefined ? {} : { line }), ...(limit === undefined ? {} : { limit }) });
    return [text(content)];
  });
  if (done) await turn.say(content);
}

export async function write(turn: Turn, name: string, value: string): Promise<void> {
  const path = resolve(turn.session.cwd, name);
  const content = `${value}\n`;
  const done = await turn.call({ title: `Write ${name}`, kind: "edit", path, input: { path, content } }, async () => {
    const oldText = await contentOf(turn, path).catch(() => null);
    const sessionId = turn.session.id;
    if (turn.session.clientCan.write) await turn.orCancelled(turn.client.request("fs/write_text_file", { sessionId, path, content }));
    else writeFileSync(path, content);
    return [{ type: "diff", path, oldText, newText: content }];
  });
  if (done) await turn.say(`I wrote ${name}.`);
}

/** `id` of a call that the permission request has already shown. */
export async function run(turn: Turn, command: string, id?: string): Promise<void> {
  let output = "";
  const does = async (toolCallId: string): Promise<ToolCallContent[]> => {
    if (!turn.session.clientCan.terminal) {
      output = await ownShell(turn, command);
      return [text(output)];
    }
    const terminal = await turn.orCancelled(
      turn.client.request("terminal/create", {
        sessionId: turn.session.id,
        command: "sh",
        args: ["-c", command],
        cwd: turn.session.cwd,
        outputByteLimit: OUTPUT_BYTES,
      }),
    );
    const { terminalId } = terminal;
    const content: ToolCallContent[] = [{ type: "terminal", terminalId }];
    await turn.show({ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content });
    output = await terminalOutput(turn, terminalId);
    return content;
  };
  const done = await turn.call({ title: `Run ${command}`, kind: "execute", input: { command } }, does, id);
  if (done) await turn.say(`The tool answered: ${output.trim()}`);
}

/** The terminal is always released; on cancellation its command is killed first. */
async function terminalOutput(turn: Turn, terminalId: string): Promise<string> {
  const of = { sessionId: turn.session.id, terminalId };
  try {
    const ended = await turn.orCancelled(turn.client.request("terminal/wait_for_exit", { ...of }));
    const shown = await turn.client.request("terminal/output", { ...of });
    return ended.exitCode === 0 ? shown.output : `${shown.output}\n(ended with ${ended.signal ?? ended.exitCode})`;
  } catch (error) {
    if (error instanceof Cancelled) await turn.client.request("terminal/kill", of).catch(() => {});
    throw error;
  } finally {
    await turn.client.request("terminal/release", of).catch(() => {});
  }
}

function ownShell(turn: Turn, command: string): Promise<string> {
  const { signal, session } = turn;
  return turn.orCancelled(
    new Promise((settle) => {
      execFile("sh", ["-c", command], { signal, cwd: session.cwd }, (error, stdout, stderr) => {
        const ended = error === null ? "" : `\n(ended with ${error.code ?? error.signal ?? "an error"})`;
        settle(`${stdout}${stderr}${ended}`);
      });
    }),
  );
}

async function contentOf(turn: Turn, path: string, part: { line?: number; limit?: number } = {}): Promise<string> {
  const sessionId = turn.session.id;
  if (turn.session.clientCan.read)
    return (await turn.orCancelled(turn.client.request("fs/read_text_file", { sessionId, path, ...part }))).content;
  const lines = readFileSync(path, "utf8").split("\n");
  const from = (part.line ?? 1) - 1;
  return lines.slice(from, part.limit === undefined ? undefined : from + part.limit).join("\n");
}

type Choice = { tool: Tool; id: string; options: PermissionOption[] };

async function choose(turn: Turn, { tool, id, options }: Choice): Promise<string> {
  const { title, kind, path, input } = tool;
  const locations = path === undefined ? [] : [{ path }];
  const toolCall: ToolCallUpdate = { toolCallId: id, title, kind, status: "pending", rawInput: input ?? {}, locations };
  const asking = turn.client.request("session/request_permission", { sessionId: turn.session.id, toolCall, options });
  const answer = await turn.orCancelled(asking);
  if (answer.outcome.outcome === "cancelled") throw new Cancelled();
  return answer.outcome.optionId;
}
