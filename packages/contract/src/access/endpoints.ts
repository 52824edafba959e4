/** Endpoints for tokens, the audit and the daemon's addresses. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { list, wholeNumber } from "../wire.ts";
import { AuditEntry, Listening, NewToken, ScopeSchema, Sharing, Token } from "./access.ts";

const text = z.string().check(z.maxLength(10_000, "a name or a reason has at most 10,000 characters"));

export const ACCESS_ENDPOINTS = {
  listAudit: {
    ...ROUTES.listAudit,
    answeredWithout: ["daemon"],
    summary: "Actions and refusals by principal, oldest first; at most `limit`.",
    scope: "observer",
    query: z.object({
      after: z.optional(z.string()),
      /** Milliseconds since 1970. */
      since: z.optional(wholeNumber),
      actor: z.optional(list),
      limit: z._default(wholeNumber, 1000),
    }),
    reply: z.object({ cursor: z.string(), entries: z.array(AuditEntry), more: z.boolean() }),
    errors: ["usage", "cursor_gone"],
  },
  listTokens: {
    ...ROUTES.listTokens,
    answeredWithout: ["daemon"],
    summary: "Named tokens, including revoked ones; never their secret.",
    scope: "owner",
    reply: z.object({ tokens: z.array(Token) }),
    errors: [],
  },
  createToken: {
    ...ROUTES.createToken,
    summary: "Creates a token and returns its secret, once.",
    scope: "owner",
    body: z.object({
      scope: ScopeSchema,
      name: z.optional(text),
      /** Lifetime from now; without it the token is valid until it is revoked. */
      expiresInMs: z.optional(z.number().check(z.minimum(1), z.maximum(100 * 365 * 86_400_000))),
    }),
    reply: NewToken,
    errors: ["invalid_name", "name_taken"],
  },
  revokeToken: {
    ...ROUTES.revokeToken,
    summary: "Revokes a token by name or id, and closes every stream it opened.",
    scope: "owner",
    reply: Token,
    errors: ["token_not_found"],
  },
  setSharing: {
    ...ROUTES.setSharing,
    summary: "Opens a second socket for the users of a group, now and after each restart; null closes it. Always requires a token.",
    scope: "owner",
    body: z.object({ group: z.nullable(text) }),
    reply: z.object({ share: z.nullable(Sharing) }),
    errors: ["usage", "address_unusable"],
  },
  setListening: {
    ...ROUTES.setListening,
    summary: "Also listens on a TCP address, now and after each restart; null stops it. Port 0 picks a free port. Always requires a token.",
    scope: "owner",
    body: z.object({ address: z.nullable(text), insecurePublic: z._default(z.boolean(), false) }),
    reply: z.object({ listen: z.nullable(Listening) }),
    errors: ["usage", "address_public", "address_unusable"],
  },
} as const satisfies Record<string, Endpoint>;
