/** What an agent of ours is to the protocol: the two of them, and their tests, are written against this. */
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
import { ABOUT } from "@holdfast/contract/agent-order";
import type { TokenUse } from "@holdfast/contract/transcript";
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

/** One conversation with one memory. Turns come one after the other; a turn that fails throws, and leaves a memory with which it can be tried again. */
export interface Conversation {
  settings(): Settings;
  /** `signal` ends it: what came until then is kept, and it returns `cancelled`. */
  turn(prompt: string, signal: AbortSignal): Promise<TurnResult>;
  /** Forgets. */
  clear(): void;
  /** Words for the turn that runs; false: it is over, and they belong to the next. Without it, it cannot be steered. */
  steer?(text: string): boolean;
  setMode?(mode: string): void;
  setOption?(option: string, value: string): void;
  /** Ends what it has running beside its turns. None comes after it. */
  close?(): Promise<void>;
}

/** Where a conversation is, and how it is heard. */
export interface Place {
  /** The conversation's id, as the client knows it. */
  id: string;
  cwd: string;
  /** What was said before the agent was started. */
  told: Told;
  /** Servers of the Model Context Protocol that it is given. */
  servers: readonly McpServer[];
  tell(update: SessionUpdate): Promise<void>;
  notice(notice: Notice): Promise<void>;
  /** Asks the person. `cancelled` also when `signal` is aborted meanwhile. */
  ask(request: Omit<RequestPermissionRequest, "sessionId">, signal: AbortSignal): Promise<RequestPermissionOutcome>;
}

export interface Wire {
  client: AgentContext;
  /** Whether the client shows notices. One that does not gets them as text: what was left out is never hidden. */
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

/** What a turn took up to now. A client that does not know it sees an empty piece of text. */
export function soFar(usage: TokenUse): SessionUpdate {
  return { ...textChunk("agent_message_chunk", ""), _meta: { usage: { ...usage } } };
}

export function textChunk(
  sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
