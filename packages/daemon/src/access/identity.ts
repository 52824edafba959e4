import { type Endpoint, type EndpointName, grants, HoldfastError, type Principal, type Scope, type SessionId } from "@holdfast/contract";

/** The identity behind a request. */
export interface Identity {
  actor: Principal;
  scope: Scope;
  /** The acting session, which reaches itself and its descendants. Undefined: everything. */
  reach: SessionId | undefined;
  /** A named token on the user's own socket, where a request without a token is the user's: dropping it grants everything. */
  canDrop?: boolean;
  /** The identity is valid as long as the daemon lives. */
  lasts: boolean;
  /** False once the token was revoked or has expired, or its run has ended; a stream that was opened with it then ends. */
  isValid(): boolean;
}

/** An error, and its short form for the audit. */
export interface Refusal {
  error: HoldfastError;
  why: string;
}

/** Why the identity may not use this endpoint; undefined if it may. Whether it reaches a session is checked elsewhere. */
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
