/** Tokens, the audit and the daemon's addresses. */
import * as z from "zod/mini";
import { Principal } from "../ids.ts";
import { Time } from "../session/session.ts";
import { SCOPES } from "./scopes.ts";

export const ScopeSchema = z.enum(SCOPES);

/** A named token without its secret, which only the reply to its creation contains. */
export const Token = z.object({
  id: z.string(),
  name: z.string(),
  scope: ScopeSchema,
  createdAt: Time,
  createdBy: Principal,
  expiresAt: z.nullable(Time),
  revokedAt: z.nullable(Time),
});
export type Token = z.infer<typeof Token>;

export const NewToken = z.object({
  id: z.string(),
  name: z.string(),
  scope: ScopeSchema,
  token: z.string(),
  expiresAt: z.nullable(Time),
});
export type NewToken = z.infer<typeof NewToken>;

/** An action of a principal other than the daemon, or a refused one. `what` is a sentence without its subject. */
export const AuditEntry = z.object({
  seq: z.int(),
  at: Time,
  actor: Principal,
  type: z.string(),
  session: z.nullable(z.string()),
  what: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** The socket for other users of this machine who are in `group`. `error`: why it is not open now; the daemon tries again. */
export const Sharing = z.object({ group: z.string(), socket: z.string(), url: z.string(), error: z.nullable(z.string()) });
export type Sharing = z.infer<typeof Sharing>;

/** The daemon's TCP address. `error`: why the daemon does not listen there now; it tries again. */
export const Listening = z.object({ address: z.string(), url: z.string(), public: z.boolean(), error: z.nullable(z.string()) });
export type Listening = z.infer<typeof Listening>;

export const ACCESS_EVENTS = {
  /** Only the hash of a token's secret is stored, here and elsewhere. */
  "token.created": z.object({ id: z.string(), name: z.string(), scope: ScopeSchema, hash: z.string(), expiresAt: z.nullable(Time) }),
  "token.revoked": z.object({ id: z.string(), name: z.string() }),
  /** An expired token stays expired, even if the clock is set back. */
  "token.expired": z.object({ id: z.string(), name: z.string() }),
  /** A request of a known principal was refused. Identical refusals within a minute are only counted, in `more` of the next event. */
  "access.refused": z.object({ endpoint: z.string(), why: z.string(), more: z.int() }),
} as const;
