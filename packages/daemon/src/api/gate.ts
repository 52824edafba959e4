/**
 * The checks of every request before its body is read: those of its entry point, then the identity, then the rights. They are the same for a
 * reply, a stream and a WebSocket.
 */

import type { Socket } from "node:net";
import { ENDPOINTS, type Endpoint, type EndpointName, HoldfastError, type SessionId } from "@holdfast/contract";
import type { Access } from "../access/access.ts";
import { type Identity, refusal } from "../access/identity.ts";
import { sessionPrincipal } from "../access/principal.ts";
import { resolveWithin } from "../access/reach.ts";
import type { Refusals } from "../access/refusals.ts";
import { waitsForApproval } from "../access/rights.ts";
import { runMarker } from "../host/host.ts";
import type { SessionQueries } from "../projection/session-queries.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../projection/workspaces.ts";
import { realPath } from "../session/place.ts";
import { claim } from "./connections.ts";
import { insideWithoutToken, type RunsOfHome, runAround } from "./inside-a-run.ts";
import { peerOf } from "./peer.ts";
import { findWorkspace, reachesWorkspace, worksBelow } from "./workspace-reach.ts";

export interface Headers {
  host: string | undefined;
  origin: string | undefined;
  authorization: string | undefined;
  /** `holdfast-as: owner` acts as the OS user explicitly. */
  as?: string | undefined;
  /** `holdfast-process`: the process that the client claims to be. */
  process?: string | undefined;
}

/** An entry point for requests. `open`: a request without a token is the OS user's. */
export interface Door {
  open: boolean;
  /** Refuses a request made by a foreign web page. */
  check(headers: Headers): void;
}

/** Only the daemon's user can open it, and no web page can. */
export const UNIX_DOOR: Door = { open: true, check() {} };

/** Endpoints that type into a session. */
const TYPES: ReadonlySet<EndpointName> = new Set(["sendText", "pressKeys", "attachSession", "openTerminal"]);

export class Gate {
  readonly #access: Access;
  readonly #refusals: Refusals;
  readonly #queries: SessionQueries;
  readonly #workspaces: WorkspaceQueries;

  readonly #peersOf: (session: SessionId) => readonly SessionId[];
  readonly #runs: RunsOfHome | undefined;

  constructor(options: {
    access: Access;
    refusals: Refusals;
    queries: SessionQueries;
    workspaces: WorkspaceQueries;
    /** Members of the session's groups. */
    peersOf?(session: SessionId): readonly SessionId[];
    /** Undefined: callers are not checked for being inside a run. */
    runs?: RunsOfHome;
  }) {
    this.#runs = options.runs;
    this.#peersOf = options.peersOf ?? (() => []);
    this.#access = options.access;
    this.#refusals = options.refusals;
    this.#queries = options.queries;
    this.#workspaces = options.workspaces;
  }

  /** `socket`: undefined for a request made by one that was already admitted. */
  async admit(headers: Headers, door: Door, socket: Socket | undefined): Promise<Identity> {
    door.check(headers);
    const identity = this.#access.identify(headers.authorization, door);
    if (headers.authorization === undefined && headers.as !== "owner" && socket) await this.#refuseInsideRun(socket, headers.process);
    if (socket) claim(socket, identity.actor);
    return identity;
  }

  /** A sandbox may have removed the run's token, which must not make a process inside a run act as its user. */
  async #refuseInsideRun(socket: Socket, named: string | undefined): Promise<void> {
    if (!this.#runs) return;
    const peer = await peerOf(socket, named);
    if (peer === "gone") throw insideWithoutToken(undefined);
    const run = peer === undefined ? undefined : runAround(peer, this.#runs);
    if (!run) return;
    this.#refusals.note(sessionPrincipal(run.session), { endpoint: "any", why: "inside a run without its token" });
    throw insideWithoutToken(runMarker(run));
  }

  /** The path's parameters, narrowed to the session's reach; throws `forbidden`. */
  permit(identity: Identity, name: EndpointName, params: Record<string, string>): Record<string, string> {
    const endpoint: Endpoint = ENDPOINTS[name];
    const refused = refusal(identity, name, endpoint);
    if (refused) {
      this.#refusals.note(identity.actor, { endpoint: name, why: refused.why });
      throw refused.error;
    }
    const { ref } = params;
    if (identity.reach === undefined || ref === undefined) return params;
    if (endpoint.path.startsWith("/workspaces/")) return { ...params, ref: this.resolveWorkspace(identity.reach, name, ref).id };
    if (!endpoint.path.startsWith("/sessions/")) return params;
    const id = name === "sendMessage" ? this.resolveAddressee(identity.reach, ref) : this.resolve(identity.reach, name, ref);
    if (endpoint.reach === "children" && id === identity.reach)
      throw this.refuse(identity.reach, name, "a session may not do this for itself");
    if (TYPES.has(name)) this.refuseApproving(identity.reach, name, id);
    return { ...params, ref: id };
  }

  /** Throws `forbidden` if a session sets a field that is closed to sessions, because the endpoint with that effect is closed to them too. */
  permitFields(identity: Identity, name: EndpointName, body: unknown): void {
    const { closedToSessions = [] }: Endpoint = ENDPOINTS[name];
    if (identity.reach === undefined) return;
    const field = closedToSessions.find((each) => (body as Record<string, unknown> | undefined)?.[each] !== undefined);
    if (field !== undefined) throw this.refuse(identity.reach, name, `a session may not set ${JSON.stringify(field)}`);
  }

  /** Refuses typing into a session that waits for an approval, because a key could give it. */
  refuseApproving(reach: SessionId, name: EndpointName, id: SessionId): void {
    const record = this.#queries.get(id);
    if (!record || !waitsForApproval(record)) return;
    const why = `it waits for ${record.standing?.attention?.for === "trust" ? "trust" : "an approval"}, which a session cannot give`;
    this.#refusals.note(sessionPrincipal(reach), { endpoint: name, why });
    throw new HoldfastError("forbidden", `${record.name}: ${why}`, {
      hint: "a person answers it: holdfast approvals",
    });
  }

  /** The error for a session that names something outside its reach. */
  refuse(reach: SessionId, name: EndpointName, why: string): HoldfastError {
    this.#refusals.note(sessionPrincipal(reach), { endpoint: name, why });
    return new HoldfastError("forbidden", why, { hint: "a session reaches itself, its children and their workspaces" });
  }

  /** The workspace that a session names by `ref`; throws `forbidden` outside its reach. */
  resolveWorkspace(reach: SessionId, name: EndpointName, ref: string): WorkspaceRecord {
    const tables = { workspaces: this.#workspaces, sessions: this.#queries };
    const found = findWorkspace(tables, ref, reach);
    if (!reachesWorkspace(tables, reach, found)) throw this.refuse(reach, name, `the workspace ${ref} does not belong to this session`);
    return found;
  }

  /** Checks where a session may start another: a child in a foreign workspace would make that its own. Returns the named workspace, if any. */
  resolvePlace(
    reach: SessionId,
    name: "spawn" | "forkSession",
    { workspace, cwd }: { workspace?: string | undefined; cwd?: string | undefined },
  ): string | undefined {
    if (workspace !== undefined) return this.resolveWorkspace(reach, name, workspace).id;
    const there = cwd === undefined ? undefined : this.#workspaces.containing(realPath(cwd));
    const tables = { sessions: this.#queries };
    if (there && !reachesWorkspace(tables, reach, there) && !worksBelow(tables, reach, there.path))
      throw this.refuse(reach, name, `the workspace of ${cwd} does not belong to this session`);
    return undefined;
  }

  /** Throws `forbidden` if removing the workspace would end sessions of others. */
  refuseEnding(reach: SessionId, { id, name }: WorkspaceRecord): void {
    const own = this.#queries.descendants(reach);
    const others = this.#workspaces.sessionsOf(id).filter((each) => !own.some((one) => this.#queries.get(one)?.name === each));
    if (others.length > 0) throw this.refuse(reach, "removeWorkspace", `other sessions also use ${name}: ${others.join(", ")}`);
  }

  /** The recipients of a session's messages: itself and its descendants, its parent, and its peers in groups. */
  resolveAddressee(reach: SessionId, ref: string): SessionId {
    const parent = this.#queries.get(reach)?.parent ?? null;
    return this.resolve(reach, "sendMessage", ref, [...(parent === null ? [] : [parent]), ...this.#peersOf(reach)]);
  }

  /** The id of the session named by `ref`; throws `forbidden` outside the reach. */
  resolve(reach: SessionId, name: EndpointName, ref: string, others: readonly SessionId[] = []): SessionId {
    try {
      return resolveWithin(this.#queries, reach, ref, others).id;
    } catch (error) {
      const isForbidden = error instanceof HoldfastError && error.code === "forbidden";
      if (isForbidden) this.#refusals.note(sessionPrincipal(reach), { endpoint: name, why: "neither the session nor its child" });
      throw error;
    }
  }
}

/** Interval at which a silent stream checks whether its token is still valid; other streams check at each item. */
const LOOK_MS = 5000;

/**
 * Ends when the reader's token is no longer valid: nothing later is sent to it. `end` aborts `source`.
 */
export async function* whileValid<T>(identity: Identity, source: AsyncIterable<T>, end: AbortController): AsyncGenerator<T> {
  const look = () => {
    if (!identity.isValid()) end.abort();
  };
  const timer = identity.lasts ? undefined : setInterval(look, LOOK_MS).unref();
  try {
    for await (const each of source) {
      if (!identity.isValid()) return;
      yield each;
    }
  } finally {
    clearInterval(timer);
  }
}
