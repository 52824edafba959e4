/** Runs the model's tool calls one after the other: shown, permitted, executed, reported. Every call gets a result, whatever happens. */
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import type { ToolResultPart } from "ai";
import type { ToolUse, Turn } from "../context/turn.ts";
import type { Place } from "../conversation.ts";
import { Refusal } from "./inside.ts";
import type { Leave } from "./leave.ts";
import { resultOf } from "./messages.ts";
import type { ToolCall } from "./step.ts";
import type { AgentTool, Change, Prepared } from "./tools/tool.ts";

interface Using {
  tools: readonly AgentTool[];
  root: string;
  place: Place;
  leave: Leave;
  turn: Turn;
  signal: AbortSignal;
}

const REFUSED = "Permission was denied. Do not try it by other means.";

export async function useTools(calls: readonly ToolCall[], using: Using): Promise<ToolResultPart[] | "cancelled"> {
  const results: ToolResultPart[] = [];
  for (const call of calls) {
    const used = await useTool(call, using);
    if (used === "cancelled") return "cancelled";
    results.push(resultOf({ toolCallId: call.id, toolName: call.name, text: used.text, ok: used.ok }));
  }
  return results;
}

interface Result {
  text: string;
  ok: boolean;
}

async function useTool({ id, name, input, error }: ToolCall, using: Using): Promise<Result | "cancelled"> {
  const { root, place, turn, signal } = using;
  const tool = using.tools.find((each) => each.name === name);
  const told = {
    toolCallId: id,
    name,
    title: error === null && tool ? tool.title(input) : name,
    kind: tool?.kind ?? ("other" as const),
    rawInput: input,
  };
  const use: ToolUse = { kind: "tool", id, name, title: told.title, tool: told.kind, input, output: "", ok: null };
  turn.said.push(use);
  const finish = async ({ text, ok }: Result, changes: readonly Change[] = []): Promise<Result> => {
    Object.assign(use, { output: text, ok });
    const content = changes.length > 0 && ok ? changes.map(diffOf) : [textOf(text)];
    await place.tell({ sessionUpdate: "tool_call_update", toolCallId: id, status: ok ? "completed" : "failed", content });
    return { text, ok };
  };

  await place.tell({ sessionUpdate: "tool_call", status: "pending", ...told });
  if (tool === undefined || error !== null) return finish({ text: error ?? `there is no tool ${name}`, ok: false });
  try {
    const prepared: Prepared = await tool.prepare(input, root);
    const locations = prepared.files.map((path) => ({ path }));
    const asked = { ...told, locations, content: prepared.changes.map(diffOf) };
    const leave = await using.leave.for(tool, asked, signal);
    if (leave === "cancelled" || signal.aborted) {
      await finish({ text: "[cancelled]", ok: false });
      return "cancelled";
    }
    if (leave !== "allowed") return await finish({ text: refusedText(leave.refused), ok: false });
    await place.tell({ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress", locations });
    const tell = (text: string) => {
      const content = [textOf(text)];
      // If the client is gone, the result will report that too.
      place.tell({ sessionUpdate: "tool_call_update", toolCallId: id, status: "in_progress", content }).catch(() => {});
    };
    const result = await finish(await prepared.run(signal, tell), prepared.changes);
    return signal.aborted ? "cancelled" : result;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return finish({ text: thrown.message, ok: false });
  }
}

function refusedText(reason: string | null): string {
  return reason === null ? REFUSED : `${REFUSED} Reason: ${reason}`;
}

function textOf(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function diffOf({ path, old, new: text }: Change): ToolCallContent {
  return { type: "diff", path, oldText: old, newText: text };
}
