/** As whom a client acts: under a token, or as the OS user. */
import { HoldfastError } from "@holdfast/contract/errors";

export interface Acting {
  token: string | undefined;
  /** The OS user, and said so: inside a run nothing acts as its user without this. */
  as?: "owner";
}

/** `HOLDFAST_AS=owner` acts as the OS user whatever the token is; else the token, if there is one. An empty token is no token. */
export function actingIn(env: Readonly<Record<string, string | undefined>>): Acting {
  const as = env.HOLDFAST_AS;
  if (as === "owner") return { token: undefined, as };
  if (as)
    throw new HoldfastError("usage", `HOLDFAST_AS is ${JSON.stringify(as)}`, {
      hint: "HOLDFAST_AS=owner acts as yourself; otherwise unset it",
    });
  return { token: env.HOLDFAST_TOKEN || undefined };
}
