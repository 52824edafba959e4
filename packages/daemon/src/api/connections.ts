/**
 * Limits the number of connections. At the limit a new connection is accepted and another is closed: first the oldest without an identity,
 * else the oldest of the principal with the most. So neither half-open requests nor the streams of one token block others.
 */
import type { Socket } from "node:net";
import type { Principal } from "@holdfast/contract";

const principals = new WeakMap<Socket, Principal>();

/** Records the principal of a connection, once a request on it has been identified. */
export function claim(socket: Socket, actor: Principal): void {
  principals.set(socket, actor);
}

export class Connections {
  /** Oldest first. */
  readonly open = new Set<Socket>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    if (this.open.size >= this.#most) this.#end(this.#leastDeserving());
    this.open.add(socket);
    socket.on("close", () => this.open.delete(socket));
  }

  /** No longer counted, although its `close` event comes only after others have been accepted. */
  #end(socket: Socket | undefined): void {
    if (!socket) return;
    this.open.delete(socket);
    socket.destroy();
  }

  #leastDeserving(): Socket | undefined {
    const counts = new Map<Principal | undefined, number>();
    for (const socket of this.open) {
      const actor = principals.get(socket);
      if (actor === undefined) return socket;
      counts.set(actor, (counts.get(actor) ?? 0) + 1);
    }
    const most = Math.max(...counts.values());
    for (const socket of this.open) if (counts.get(principals.get(socket)) === most) return socket;
    return undefined;
  }
}
