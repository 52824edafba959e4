/**
 * `/mcp`: the tools of `holdfast mcp` over HTTP, behind the same checks as everything else. A tool sends its requests to this same daemon as its
 * caller: each is admitted or refused as if the caller had sent it. Loaded on first use.
 */
import { TEXT_BODY_LIMIT } from "@holdfast/contract";
import type { Context } from "hono";
import type { Identity } from "../access/identity.ts";
import { jsonOf, readBody } from "./body.ts";
import { checkType } from "./plain-request.ts";

export const MCP_PATH = "/mcp";

/** The headers that decide whether a request is admitted; inner requests carry the same. */
const CARRIED = ["host", "origin", "authorization"];

export async function answerMcp(
  c: Context<{ Variables: { identity: Identity } }>,
  ask: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  const { actor } = c.get("identity");
  const sent = await readBody(c, { limit: TEXT_BODY_LIMIT, actor });
  try {
    if (sent.bytes.length > 0) checkType(c.req.header("content-type"));
    return await answerWith(c, { ask, message: sent.bytes.length === 0 ? undefined : jsonOf(sent.bytes) });
  } finally {
    sent.release();
  }
}

async function answerWith(
  c: Context<{ Variables: { identity: Identity } }>,
  { ask, message }: { ask(request: Request): Response | Promise<Response>; message: unknown },
): Promise<Response> {
  const mcp = await import("@holdfast/mcp");
  const carried = CARRIED.flatMap((name): [string, string][] => {
    const value = c.req.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  return mcp.answerMcp({
    request: c.req.raw,
    message,
    actor: c.get("identity").actor,
    ask: async (request) => {
      for (const [name, value] of carried) request.headers.set(name, value);
      return ask(request);
    },
  });
}
