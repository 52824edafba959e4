/**
 * The demo agent in its structured mode: it speaks the Agent Client Protocol on its input and output, and a turn plays the script in the prompt
 * (words.ts). It ends with its input. Conversations are stored where those of the terminal mode are (demo/memory.ts), so that another process can
 * load one. A conversation without a turn is not stored.
 */
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type ContentBlock,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionInfo,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/unstable";
import { Memory } from "../demo/memory.ts";
import { playTurn } from "./play.ts";
import { Session } from "./session.ts";
import { slashCommands } from "./words.ts";

export interface Serving {
  input: Readable;
  output: Writable;
  /** Ends the process; called when the input closes and by the step `crash`. */
  exit(code: number): void;
  /** Turns without delays. */
  fast: boolean;
  /** Send the history after the reply to session/load, as some agents do. */
  lateHistory: boolean;
}

export async function serveAcp(serving: Serving): Promise<void> {
  const sessions = new Map<string, Session>();
  let clientCan: Session["clientCan"] = { read: false, write: false, terminal: false };

  const sessionOf = (id: string): Session => {
    const session = sessions.get(id);
    if (session === undefined) throw RequestError.sessionNotFound(id);
    return session;
  };
  const open = (id: string, { cwd, mcpServers = [] }: { cwd: string; mcpServers?: { name: string }[] | undefined }): Session => {
    const session = new Session({ id, cwd, servers: mcpServers.map(({ name }) => name), clientCan, serving });
    sessions.set(id, session);
    return session;
  };
  const reopen = (params: { sessionId: string; cwd: string; mcpServers?: { name: string }[] | undefined }): Session => {
    if (!new Memory(params.sessionId).exists) throw RequestError.sessionNotFound(params.sessionId);
    return open(params.sessionId, params);
  };

  const connection = agent({ name: "demo" })
    .onRequest("initialize", ({ params }) => {
      const { fs, terminal } = params.clientCapabilities ?? {};
      clientCan = { read: fs?.readTextFile === true, write: fs?.writeTextFile === true, terminal: terminal === true };
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "demo", title: "Demo agent", version: "1.0.0" },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { embeddedContext: true, image: true },
          sessionCapabilities: { list: {}, resume: {}, close: {} },
        },
        authMethods: [],
      };
    })
    .onRequest("authenticate", () => ({}))
    .onRequest("session/new", ({ params, client }) => {
      const session = open(randomUUID(), params);
      later(() => tell(client, session, { sessionUpdate: "available_commands_update", availableCommands: slashCommands() }));
      return { sessionId: session.id, ...session.state() };
    })
    .onRequest("session/load", async ({ params, client }) => {
      const session = reopen(params);
      if (serving.lateHistory) later(() => replay(client, session));
      else await replay(client, session);
      return session.state();
    })
    .onRequest("session/resume", ({ params }) => reopen(params).state())
    .onRequest("session/list", ({ params }) => ({ sessions: kept(params.cwd ?? undefined) }))
    .onRequest("session/close", ({ params }) => {
      sessionOf(params.sessionId).cancel();
      sessions.delete(params.sessionId);
      return {};
    })
    .onRequest("session/set_mode", ({ params }) => {
      sessionOf(params.sessionId).setMode(params.modeId);
      return {};
    })
    .onRequest("session/set_config_option", ({ params }) => {
      const session = sessionOf(params.sessionId);
      session.setOption(params.configId, params.value);
      return { configOptions: session.state().configOptions };
    })
    .onRequest("session/prompt", ({ params, client }) => {
      const session = sessionOf(params.sessionId);
      return session.turn((signal) => playTurn({ session, client, prompt: promptText(params.prompt), blocks: params.prompt, signal }));
    })
    .onNotification("session/cancel", ({ params }) => sessions.get(params.sessionId)?.cancel())
    .connect(ndJsonStream(Writable.toWeb(serving.output), Readable.toWeb(serving.input) as ReadableStream<Uint8Array>));

  await connection.closed;
  serving.exit(0);
}

/** Repeats all updates of earlier turns; for turns in the terminal mode only the answer. */
async function replay(client: AgentContext, session: Session): Promise<void> {
  let updates = 0;
  for (const { prompt, update, said } of session.memory.lines()) {
    if (prompt !== undefined) {
      updates = 0;
      await tell(client, session, { sessionUpdate: "user_message_chunk", content: { type: "text", text: prompt } });
    }
    if (update !== undefined) {
      updates++;
      await tell(client, session, update as SessionUpdate);
    }
    if (said !== undefined && updates === 0)
      await tell(client, session, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: said } });
  }
}

function tell(client: AgentContext, { id }: Session, update: SessionUpdate): Promise<void> {
  return client.notify("session/update", { sessionId: id, update });
}

function kept(cwd: string | undefined): SessionInfo[] {
  return Memory.all().flatMap(({ conversation, memory, at }) => {
    const [first] = memory.lines();
    const made = { sessionId: conversation, cwd: first?.cwd ?? process.cwd(), title: first?.prompt ?? "", updatedAt: at.toISOString() };
    return cwd === undefined || made.cwd === cwd ? [made] : [];
  });
}

function promptText(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** Runs after the reply to the current request. */
function later(what: () => Promise<void>): void {
  setTimeout(() => void what().catch(() => {}), 10);
}
