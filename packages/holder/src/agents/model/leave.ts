/** Permission to use a tool: by the mode, by an earlier permission for good, or by asking. */
import type { PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { type ModelMode, REASON } from "@holdfast/contract/agent/order";
import type { Place } from "../conversation.ts";
import type { AgentTool, Leave as Wanted } from "./tools/tool.ts";

export type Answer = "allowed" | "cancelled" | { refused: string | null };

const ALWAYS: Record<Wanted, (tool: string) => string> = {
  edit: () => "Allow all edits in this conversation",
  execute: () => "Allow this command in this conversation",
  use: (tool) => `Allow ${tool} in this conversation`,
};

export class Leave {
  mode: ModelMode;
  readonly #ask: Place["ask"];
  readonly #always = new Set<string>();

  constructor(mode: ModelMode, ask: Place["ask"]) {
    this.mode = mode;
    this.#ask = ask;
  }

  async for(tool: AgentTool, call: ToolCallUpdate, signal: AbortSignal): Promise<Answer> {
    if (tool.leave === undefined || this.mode === "auto" || (this.mode === "auto-edit" && tool.leave === "edit")) return "allowed";
    const what = subjectOf(tool, call.rawInput);
    if (this.#always.has(what)) return "allowed";
    const options: PermissionOption[] = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "always", name: ALWAYS[tool.leave](tool.name), kind: "allow_always" },
      { optionId: "refuse", name: "Refuse", kind: "reject_once" },
    ];
    const outcome = await this.#ask({ toolCall: call, options }, signal);
    if (outcome.outcome === "cancelled") return "cancelled";
    if (outcome.optionId === "always") this.#always.add(what);
    if (outcome.optionId === "allow" || outcome.optionId === "always") return "allowed";
    // Any other answer is a denial.
    const reason = outcome._meta?.[REASON];
    return { refused: typeof reason === "string" ? reason : null };
  }
}

/** One permission covers all edits; each command, and each tool of a server, needs its own. */
function subjectOf({ name, leave }: AgentTool, input: unknown): string {
  if (leave === "edit") return "edit";
  return leave === "use" ? `use ${name}` : `${name} ${JSON.stringify(input)}`;
}
