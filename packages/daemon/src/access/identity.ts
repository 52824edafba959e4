import { type Endpoint, type EndpointName, grants, HoldfastError, type Principal, type Scope, type SessionId } from "@holdfast/contract";

/** Who asks. */
export interface Identity {
  actor: Principal;
  scope: Scope;
  /** The session that acts: it reaches itself and what descends from it. Undefined: everything. */
  reach: SessionId | undefined;
  /** A named token on the user's own socket, where a request without a token is the user's: dropping it grants everything. */
  canDrop?: boolean;
  /** Is valid as long as the daemon lives. */
  lasts: boolean;
  /** False once the token was revoked, has expired, or its run has ended; then a stream that was opened with it ends. */
  isValid(): boolean;
}

/** An error, and the few words of it that the audit keeps. */
export interface Refusal {
  error: HoldfastError;
  why: string;
}

/** Why this endpoint is closed to whoever asks; undefined when it is open. Whether a session is its own is another question. */
export function refusal(identity: Identity, name: EndpointName, endpoint: Endpoint): Refusal | undefined {
  const isForChildren = identity.reach !== undefined && endpoint.reach === "children";
  if (identity.reach !== undefined && (endpoint.reach === undefined || !(isForChildren || grants(identity.scope, endpoint.scope)))) {
    return {
      error: new HoldfastError("forbidden", `a session may not do this (${name})`, { hint: SESSION_HINT }),
      why: "not for sessions",
    };
  }
  if (isForChildren || grants(identity.scope, endpoint.scope)) return undefined;
  const error = new HoldfastError("forbidden", `${identity.actor} has the scope ${identity.scope}; ${name} needs ${endpoint.scope}`, {
    hint: scopeHint(identity, endpoint.scope),
  });
  return { error, why: `needs ${endpoint.scope}, has ${identity.scope}` };
}

function scopeHint({ canDrop = false }: Identity, scope: Scope): string {
  const create = `holdfast token create --scope ${scope}`;
  return canDrop
    ? `act as yourself: unset HOLDFAST_TOKEN; or create a token of that scope: ${create}`
    : `use a token of that scope: ${create}`;
}

export const SESSION_HINT =
  "inside a run holdfast acts as its session, which reaches itself and its children; use your own terminal for this";
