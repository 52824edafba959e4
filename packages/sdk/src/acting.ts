/** The identity of a client: a token's principal, or the OS user. */
import { HoldfastError } from "@holdfast/contract/errors";

export interface Acting {
  token: string | undefined;
  /** Act as the OS user. Inside a run this must be explicit. */
  as?: "owner";
}

/** `HOLDFAST_AS=owner` acts as the OS user, even if a token is set. Otherwise HOLDFAST_TOKEN is used; an empty one counts as none. */
export function actingIn(env: Readonly<Record<string, string | undefined>>): Acting {
  const as = env.HOLDFAST_AS;
  if (as === "owner") return { token: undefined, as };
  if (as)
    throw new HoldfastError("usage", `HOLDFAST_AS is ${JSON.stringify(as)}`, {
      hint: "HOLDFAST_AS=owner acts as yourself; otherwise unset it",
    });
  return { token: env.HOLDFAST_TOKEN || undefined };
}
