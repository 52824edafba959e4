/** The interface between our two agents and the protocol. Both agents and their tests are written against it. */
import type {
  AgentContext,
  McpServer,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import { ABOUT } from "@holdfast/contract/agent/order";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import type { Told } from "./context/turn.ts";
import type { Notice } from "./notices.ts";

export interface TurnResult {
  stopReason: StopReason;
  usage: TokenUse;
}

export interface Settings {
  modes?: SessionModeState;
  configOptions?: SessionConfigOption[];
}

/** One conversation with one memory. Turns run one after the other; a failed turn throws, and leaves a memory with which it can be retried. */
export interface Conversation {
  settings(): Settings;
  /** An abort of `signal` ends the turn, which then returns `cancelled` and keeps the output so far. */
  turn(prompt: string, signal: AbortSignal): Promise<TurnResult>;
  /** Clears the memory. */
  clear(): void;
  /** Adds text to the running turn; false: the turn is over, and the text belongs to the next one. Undefined if the agent cannot be steered. */
  steer?(text: string): boolean;
  setMode?(mode: string): void;
  setOption?(option: string, value: string): void;
  /** Ends everything that runs besides the turns. No turn follows. */
  close?(): Promise<void>;
}

/** The location of a conversation and its connection to the client. */
export interface Place {
  /** The conversation's id as the client knows it. */
  id: string;
  cwd: string;
  /** The conversation before the agent was started. */
  told: Told;
  /** MCP servers that the client gives to the agent. */
  servers: readonly McpServer[];
  tell(update: SessionUpdate): Promise<void>;
  notice(notice: Notice): Promise<void>;
  /** Asks the person. Returns `cancelled` also if `signal` aborts meanwhile. */
  ask(request: Omit<RequestPermissionRequest, "sessionId">, signal: AbortSignal): Promise<RequestPermissionOutcome>;
}

export interface Wire {
  client: AgentContext;
  /** Whether the client shows notices. Other clients get them as text, because omissions must never be hidden. */
  showsNotices: boolean;
}

export function placeOf({ client, showsNotices }: Wire, { id, cwd, told, servers }: Pick<Place, "id" | "cwd" | "told" | "servers">): Place {
  const tell = (update: SessionUpdate) => client.notify("session/update", { sessionId: id, update });
  return {
    id,
    cwd,
    told,
    servers,
    tell,
    notice({ about, severity, title, description }) {
      if (showsNotices)
        return tell({ sessionUpdate: "notice", severity, title, ...(description ? { description } : {}), _meta: { [ABOUT]: about } });
      return tell(textChunk("agent_message_chunk", `[${title}]\n\n`));
    },
    async ask(request, signal) {
      try {
        const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
        const { outcome } = await client.request("session/request_permission", { sessionId: id, ...request }, options);
        return outcome;
      } catch (error) {
        if (signal.aborted) return { outcome: "cancelled" };
        throw error;
      }
    },
  };
}

/** A turn's usage so far. A client that does not know this field sees an empty text chunk. */
export function soFar(usage: TokenUse): SessionUpdate {
  return { ...textChunk("agent_message_chunk", ""), _meta: { usage: { ...usage } } };
}

export function textChunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
