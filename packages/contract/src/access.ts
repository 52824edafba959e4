/** Tokens, the audit and the address: who may come in, and what they did. */
import * as z from "zod/mini";
import { Principal } from "./ids.ts";
import { SCOPES } from "./scopes.ts";
import { Time } from "./session.ts";

export const ScopeSchema = z.enum(SCOPES);

/** A named token as everybody may see it; its text is told once, to its maker. */
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

/** Something that a principal other than the daemon did, or was refused. `what` is a sentence without its subject. */
export const AuditEntry = z.object({
  seq: z.int(),
  at: Time,
  actor: Principal,
  type: z.string(),
  session: z.nullable(z.string()),
  what: z.string(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** The socket for other users of this machine who are in `group`. `error`: why it is not there now; it is tried again. */
export const Sharing = z.object({ group: z.string(), socket: z.string(), url: z.string(), error: z.nullable(z.string()) });
export type Sharing = z.infer<typeof Sharing>;

/** Where the daemon is reached over TCP. `error`: why it does not listen there now; it tries again. */
export const Listening = z.object({ address: z.string(), url: z.string(), public: z.boolean(), error: z.nullable(z.string()) });
export type Listening = z.infer<typeof Listening>;
