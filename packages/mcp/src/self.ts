/** The caller: the session whose token the server has, or the principal that started the server. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { HoldfastClient } from "@holdfast/sdk/client";

export interface Self {
  actor: string;
  /** Id of the calling session, if any. */
  session: string | null;
}

/** The identity is fetched once, because a token's principal does not change. */
export function selfOf(client: HoldfastClient): () => Promise<Self> {
  let known: Promise<Self> | undefined;
  return () => {
    known ??= ask(client).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

async function ask(client: HoldfastClient): Promise<Self> {
  const { actor } = await client.call("status", {});
  return { actor, session: /^session:(.+)$/.exec(actor)?.[1] ?? null };
}

/** The named session, else the caller's own. */
export function meant(ref: string | undefined, self: Self): string {
  const session = ref ?? self.session;
  if (session !== null) return session;
  throw new HoldfastError("usage", `${self.actor} is not a session: name the session`, { hint: "list_agents lists them" });
}
