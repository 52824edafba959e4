/** Opens a conversation with a model: which one, where, and in which directory. */
import { realpath } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServer } from "@agentclientprotocol/sdk";
import { type ModelOrder, TRANSCRIPTS } from "@holdfast/contract/agent-order";
import { meansServer } from "@holdfast/contract/tool-names";
import type { Place } from "../conversation.ts";
import { AgentFailure } from "../failure.ts";
import type { Kind } from "../serve.ts";
import { endpointOf, modelsAt } from "./endpoint.ts";
import { ModelConversation } from "./model-conversation.ts";
import type { ServerOrder } from "./servers/mcp-client.ts";
import { Servers } from "./servers/servers.ts";

/** Nobody waits longer to begin: the list is told when it comes. */
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

/** Those of which some tool may be wanted, with the environment that the agent has itself. */
function serverOrders(
  servers: readonly McpServer[],
  { order, env, cwd }: { order: ModelOrder; env: NodeJS.ProcessEnv; cwd: string },
): ServerOrder[] {
  const inherited = Object.fromEntries(Object.entries(env).filter(([name, value]) => name !== TRANSCRIPTS && value !== undefined));
  return servers.flatMap((server) => {
    // We say that we take no others; a client that gives them all the same was told.
    if (!("command" in server)) return [];
    const { name, command, args, env: own } = server;
    if (!meansServer(order.tools, name) || !meansServer(order.roleTools, name)) return [];
    const variables = Object.fromEntries(own.map((each) => [each.name, each.value]));
    return [{ name, command: [command, ...args], env: { ...(inherited as Record<string, string>), ...variables }, cwd }];
  });
}

/** Of an endpoint with one model there is nothing to choose. */
function onlyOne(models: readonly string[]): string {
  const [only] = models;
  if (models.length === 1 && only !== undefined) return only;
  const some = models.length === 0 ? "" : `; available: ${models.slice(0, 8).join(", ")}${models.length > 8 ? ", …" : ""}`;
  throw new AgentFailure("usage", `no model is set${some}`, {
    hint: "pass --model, set model of the agent in config.toml, or set OPENAI_MODEL or ANTHROPIC_MODEL in the environment",
    retry: false,
  });
}
