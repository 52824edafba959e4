/**
 * The text of a token: its holder, then 256 random bits. Only a hash of it is stored. A plain SHA-256 is enough, because 256 bits cannot be
 * guessed and a slow hash would add nothing. A presented token is compared in constant time with the one hash that its first part names.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type SessionId, sessionId } from "@holdfast/contract";

export type Holder = { token: string } | { session: SessionId; run: number };

export function newSecret(holder: Holder): string {
  const secret = randomBytes(32).toString("base64url");
  return "token" in holder ? `hft_${holder.token}_${secret}` : `hfs_${holder.session}-${holder.run}_${secret}`;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The claimed holder of a token; undefined if it is not one of ours. */
export function holderOf(text: string): Holder | undefined {
  const match = /^(?:hft_([a-z][a-z2-7]{9})|hfs_([a-z][a-z2-7]{9})-(\d{1,9}))_[A-Za-z0-9_-]{43}$/.exec(text);
  if (!match) return undefined;
  return match[1] !== undefined ? { token: match[1] } : { session: sessionId(match[2] ?? ""), run: Number(match[3]) };
}

export function isTextOf(hash: string, text: string): boolean {
  const kept = Buffer.from(hash, "hex");
  const given = Buffer.from(hashOf(text), "hex");
  return kept.length === given.length && timingSafeEqual(kept, given);
}
