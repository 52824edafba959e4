/** Leave to use a tool: by the mode, by what was allowed for good before, or by asking. */
import type { PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { ModelMode } from "@holdfast/contract/agent-order";
import type { Place } from "../conversation.ts";
import type { AgentTool } from "./tools/tool.ts";

export type Answer = "allowed" | "refused" | "cancelled";

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
    // Edits are one thing, as far as trust goes; commands are each another.
    const what = tool.leave === "edit" ? "edit" : JSON.stringify(call.rawInput);
    if (this.#always.has(what)) return "allowed";
    const always = tool.leave === "edit" ? "Allow all edits in this conversation" : "Allow this command in this conversation";
    const options: PermissionOption[] = [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "always", name: always, kind: "allow_always" },
      { optionId: "refuse", name: "Refuse", kind: "reject_once" },
    ];
    const outcome = await this.#ask({ toolCall: call, options }, signal);
    if (outcome.outcome === "cancelled") return "cancelled";
    if (outcome.optionId === "always") this.#always.add(what);
    // Whatever else it may be, it is no leave.
    return outcome.optionId === "allow" || outcome.optionId === "always" ? "allowed" : "refused";
  }
}
