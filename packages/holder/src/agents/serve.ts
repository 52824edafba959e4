/**
 * The Agent Client Protocol on standard input and output, for both of our agents. One process may have several conversations, each with its own memory.
 * They end with the process; the client's transcripts keep what was said.
 *
 * A loaded or resumed conversation knows the session's earlier runs (context/transcripts.ts); a new one begins empty. If the client disconnects or the
 * process is asked to end, all running work ends first.
 */
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import {
  type AgentApp,
  type AgentConnection,
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { REASON, STEER, TRANSCRIPTS } from "@holdfast/contract/agent/order";
import { VERSION } from "@holdfast/contract/version";
import * as z from "zod/mini";
import { readTold, runOf } from "./context/transcripts.ts";
import { CLEAR, type Told } from "./context/turn.ts";
import { type Conversation, type Place, placeOf, textChunk, type Wire } from "./conversation.ts";
import { asRequestError } from "./failure.ts";
import { OpenSession } from "./open-session.ts";

export interface Kind {
  name: string;
  title: string;
  open(place: Place): Conversation | Promise<Conversation>;
  /** Whether conversations accept text during a turn. */
  steers: boolean;
}

interface Opening extends Pick<Place, "id" | "cwd" | "told"> {
  servers: Place["servers"] | undefined;
}

/** Time for running work to end after the client is gone. */
const LAST_MS = 5000;

const Steer = z.object({ sessionId: z.string(), text: z.string() });

const NOBODY: Told = { turns: [], cleared: null };

export function appOf(kind: Kind, { order, runs }: { order: string; runs: string | undefined }): { app: AgentApp; end(): Promise<void> } {
  const sessions = new Map<string, OpenSession>();
  let showsNotices = false;

  const find = (id: string): OpenSession => {
    const session = sessions.get(id);
    if (session === undefined) throw RequestError.resourceNotFound(id);
    return session;
  };
  const open = async (client: Wire["client"], { id, cwd, told, servers = [] }: Opening) => {
    const place = placeOf({ client, showsNotices }, { id, cwd, told, servers });
    const conversation = await Promise.resolve(kind.open(place)).catch((error: unknown) => {
      throw asRequestError(error);
    });
    const before = sessions.get(id);
    sessions.set(id, new OpenSession(conversation, place));
    await before?.close();
    // After the response, because before it the client does not know the session.
    setImmediate(() => void place.tell(COMMANDS).catch(() => {}));
    return { place, settings: conversation.settings() };
  };
  const told = (id: string): Promise<Told> => {
    if (runs === undefined) throw RequestError.resourceNotFound(id);
    return readTold({ runs, before: runOf(order, runs) });
  };

  const app = agent({ name: kind.name })
    .onRequest(methods.agent.initialize, ({ params }) => {
      showsNotices = params.clientCapabilities?.session?.notices != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: kind.name, title: kind.title, version: VERSION },
        agentCapabilities: {
          loadSession: runs !== undefined,
          promptCapabilities: { embeddedContext: true },
          sessionCapabilities: runs === undefined ? {} : { resume: {} },
          _meta: { [STEER]: kind.steers, [REASON]: true },
        },
      };
    })
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const id = randomUUID();
      const { settings } = await open(client, { id, cwd: params.cwd, told: NOBODY, servers: params.mcpServers });
      return { sessionId: id, ...settings };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const before = await told(params.sessionId);
      const { place, settings } = await open(client, { id: params.sessionId, cwd: params.cwd, told: before, servers: params.mcpServers });
      await replay(place);
      return settings;
    })
    .onRequest(methods.agent.session.resume, async ({ params, client }) => {
      const before = await told(params.sessionId);
      return (await open(client, { id: params.sessionId, cwd: params.cwd, told: before, servers: params.mcpServers })).settings;
    })
    .onRequest(methods.agent.session.prompt, async ({ params, signal }) => {
      try {
        return await find(params.sessionId).prompt(params.prompt, signal);
      } catch (error) {
        throw asRequestError(error);
      }
    })
    .onRequest(methods.agent.session.setMode, ({ params }) => {
      const { conversation } = find(params.sessionId);
      if (!conversation.setMode) throw RequestError.invalidParams({ modeId: params.modeId });
      conversation.setMode(params.modeId);
      return {};
    })
    .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
      const { conversation } = find(params.sessionId);
      if (!conversation.setOption || typeof params.value !== "string") throw RequestError.invalidParams({ configId: params.configId });
      conversation.setOption(params.configId, params.value);
      return { configOptions: conversation.settings().configOptions ?? [] };
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel())
    .onRequest(STEER, Steer, ({ params }) => {
      if (!find(params.sessionId).conversation.steer?.(params.text)) throw RequestError.invalidRequest({ reason: "no turn is running" });
      return {};
    })
    .onNotification(STEER, Steer, ({ params }) => void sessions.get(params.sessionId)?.conversation.steer?.(params.text));

  return {
    app,
    async end() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

/** Serves until the client disconnects or the process has to end. */
export async function serve(kind: Kind, order: string): Promise<void> {
  const { app, end } = appOf(kind, { order, runs: process.env[TRANSCRIPTS] });
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connection: AgentConnection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => connection.close());
  await connection.closed;
  setTimeout(() => process.exit(1), LAST_MS).unref();
  await end();
  process.exit(0);
}

const COMMANDS = {
  sessionUpdate: "available_commands_update" as const,
  availableCommands: [{ name: CLEAR.slice(1), description: "clear the agent's memory; the transcript stays" }],
};

/** Sends the whole conversation, as the protocol requires for a load. Clients that store it themselves resume instead. */
async function replay({ tell, told }: Place): Promise<void> {
  for (const { prompt, said } of told.turns) {
    await tell(textChunk("user_message_chunk", prompt));
    for (const each of said) {
      if (each.kind === "text") await tell(textChunk("agent_message_chunk", each.text));
      if (each.kind === "steer") await tell(textChunk("user_message_chunk", each.text));
      if (each.kind !== "tool") continue;
      const { id, title, tool, input, output, ok } = each;
      const status = ok === false ? "failed" : "completed";
      const content = output === "" ? [] : [{ type: "content" as const, content: { type: "text" as const, text: output } }];
      await tell({ sessionUpdate: "tool_call", toolCallId: id, title, kind: tool, status, rawInput: input, content });
    }
  }
}
