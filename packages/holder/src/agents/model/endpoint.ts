/** The endpoint and the API of the model: from the order, else from the variables that other programs for this API use. Keys stay in the environment. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { ModelApi, ModelOrder } from "@holdfast/contract/agent/order";
import type { LanguageModel } from "ai";
import * as z from "zod/mini";
import { AgentFailure } from "../failure.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  api: ModelApi;
  url: string;
  /** Null: no model was named, and the endpoint may list one. */
  model: string | null;
  key: string | null;
  /** The variable that would contain the key. */
  keyName: string;
  keyHeader: string | null;
}

/** Time limit for the list of models. */
const LIST_MS = 3000;

const Models = z.object({ data: z.array(z.object({ id: z.string() })) });

export function endpointOf(order: Pick<ModelOrder, "api" | "endpoint" | "model" | "keyEnv" | "keyHeader">, env: Environment): Endpoint {
  const api = order.api ?? apiIn(env);
  const prefix = api === "openai" ? "OPENAI" : "ANTHROPIC";
  const usual = api === "openai" ? "https://api.openai.com/v1" : "https://api.anthropic.com";
  const isBearer = order.keyEnv === null && api === "anthropic" && !env.ANTHROPIC_API_KEY && Boolean(env.ANTHROPIC_AUTH_TOKEN);
  const keyName = order.keyEnv ?? (isBearer ? "ANTHROPIC_AUTH_TOKEN" : `${prefix}_API_KEY`);
  return {
    api,
    url: urlOf(order.endpoint ?? (env[`${prefix}_BASE_URL`] || usual), api),
    model: order.model ?? (env[`${prefix}_MODEL`] || null),
    key: env[keyName] || null,
    keyName,
    keyHeader: order.keyHeader ?? (isBearer ? "authorization" : null),
  };
}

/** The first API with a variable set. A model or an address counts more than a key, which may be there for other programs. */
function apiIn(env: Environment): ModelApi {
  const isSet = (...names: string[]) => names.some((name) => env[name]);
  if (isSet("OPENAI_MODEL", "OPENAI_BASE_URL")) return "openai";
  if (isSet("ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL")) return "anthropic";
  return isSet("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN") && !isSet("OPENAI_API_KEY") ? "anthropic" : "openai";
}

/** Anthropic's address is given without the version as often as with it. */
function urlOf(given: string, api: ModelApi): string {
  if (!URL.canParse(given) || !/^https?:/.test(given))
    throw new AgentFailure("usage", `${JSON.stringify(given)} is not a model endpoint`, {
      hint: 'for example: endpoint = "https://gateway.example/v1" in config.toml, or OPENAI_BASE_URL in the environment',
      retry: false,
    });
  const url = given.replace(/\/+$/, "");
  return api === "anthropic" && !/\/v\d+$/.test(url) ? `${url}/v1` : url;
}

export function modelAt(endpoint: Endpoint, model: string): LanguageModel {
  const { api, url: baseURL } = endpoint;
  const headers = headersOf(endpoint);
  if (api === "openai") return createOpenAICompatible({ name: "openai", baseURL, headers, includeUsage: true })(model);
  // The library needs a key in one of its two headers; if the key belongs in another header, this one stays empty.
  const { authorization, "x-api-key": apiKey = "", ...others } = headers;
  const key = authorization === undefined ? { apiKey } : { authToken: authorization.replace(/^Bearer /, "") };
  return createAnthropic({ baseURL, ...key, headers: others })(model);
}

function headersOf({ api, key, keyHeader }: Endpoint): Record<string, string> {
  if (key === null) return {};
  const header = keyHeader?.toLowerCase() ?? (api === "openai" ? "authorization" : "x-api-key");
  return { [header]: header === "authorization" ? `Bearer ${key}` : key };
}

/** The models that the endpoint lists; empty if it lists none. */
export async function modelsAt(endpoint: Endpoint): Promise<string[]> {
  try {
    const version = endpoint.api === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
    const response = await fetch(`${endpoint.url}/models`, {
      headers: { ...headersOf(endpoint), ...version },
      signal: AbortSignal.timeout(LIST_MS),
    });
    const list = Models.safeParse(await response.json());
    return list.success ? list.data.data.map(({ id }) => id) : [];
  } catch {
    return [];
  }
}
