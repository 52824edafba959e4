/** Opens a conversation with a model: chooses the model, its endpoint and the directory. */
import { realpath } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "@agentclientprotocol/sdk";
import { type ModelOrder, TRANSCRIPTS } from "@holdfast/contract/agent/order";
import { meansServer } from "@holdfast/contract/agent/tool-names";
import type { Place } from "../conversation.ts";
import { AgentFailure } from "../failure.ts";
import type { Kind } from "../serve.ts";
import { endpointOf, modelsAt } from "./endpoint.ts";
import { ModelConversation } from "./model-conversation.ts";
import type { ServerOrder } from "./servers/mcp-client.ts";
import { Servers } from "./servers/servers.ts";

/** The start waits no longer than this: a later list is offered when it arrives. */
const LIST_MS = 500;

export function modelKind(order: ModelOrder, env: NodeJS.ProcessEnv): Kind {
  return { name: "holdfast-model", title: order.model ?? "model", steers: true, open: (place) => openModel({ order, env, place }) };
}

async function openModel({ order, env, place }: { order: ModelOrder; env: NodeJS.ProcessEnv; place: Place }): Promise<ModelConversation> {
  const endpoint = endpointOf(order, env);
  const root = await realpath(place.cwd).catch(() => {
    throw new AgentFailure("usage", `the directory ${place.cwd} does not exist`, { hint: "the session's directory is gone", retry: false });
  });
  await using opening = new AsyncDisposableStack();
  const servers = opening.use(new Servers(serverOrders(place.servers, { order, env, cwd: root })));
  servers.start();
  const listing = modelsAt(endpoint);
  const models = await Promise.race([listing, sleep(LIST_MS, undefined, { ref: false })]);
  const model = endpoint.model ?? onlyOne(models ?? (await listing));
  const conversation = new ModelConversation({ order, endpoint, model, models: models ?? [], place, root, servers });
  if (models === undefined) void listing.then((late) => conversation.offer(late)).catch(() => {});
  opening.move();
  return conversation;
}

/** The servers with at least one selected tool, with the agent's own environment. */
function serverOrders(
  servers: readonly McpServer[],
  { order, env, cwd }: { order: ModelOrder; env: NodeJS.ProcessEnv; cwd: string },
): ServerOrder[] {
  const inherited = Object.fromEntries(Object.entries(env).filter(([name, value]) => name !== TRANSCRIPTS && value !== undefined));
  return servers.flatMap((server) => {
    // The agent declares that it accepts no other servers; a client that sends them anyway knows.
    if (!("command" in server)) return [];
    const { name, command, args, env: own } = server;
    if (!meansServer(order.tools, name) || !meansServer(order.roleTools, name)) return [];
    const variables = Object.fromEntries(own.map((each) => [each.name, each.value]));
    return [{ name, command: [command, ...args], env: { ...(inherited as Record<string, string>), ...variables }, cwd }];
  });
}

/** With a single model there is no choice. */
function onlyOne(models: readonly string[]): string {
  const [only] = models;
  if (models.length === 1 && only !== undefined) return only;
  const some = models.length === 0 ? "" : `; available: ${models.slice(0, 8).join(", ")}${models.length > 8 ? ", …" : ""}`;
  throw new AgentFailure("usage", `no model is set${some}`, {
    hint: "pass --model, set model of the agent in config.toml, or set OPENAI_MODEL or ANTHROPIC_MODEL in the environment",
    retry: false,
  });
}
