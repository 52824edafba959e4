import { Socket } from "node:net";
import type { Principal } from "@holdfast/contract";
import { expect, test } from "vitest";
import { Connections, claim } from "./connections.ts";

const [ADA, BOB] = ["token:ada", "token:bob"] as Principal[] as [Principal, Principal];

function full(most: number, actorOf: (index: number) => Principal | undefined): { connections: Connections; sockets: Socket[] } {
  const connections = new Connections(most);
  const sockets = Array.from({ length: most }, (_, index) => {
    const socket = new Socket();
    connections.add(socket);
    const actor = actorOf(index);
    if (actor !== undefined) claim(socket, actor);
    return socket;
  });
  return { connections, sockets };
}

function ended(sockets: Socket[]): number[] {
  return sockets.flatMap((socket, index) => (socket.destroyed ? [index] : []));
}

test("at the limit the oldest connection without an identity is closed (mend 4)", () => {
  const { connections, sockets } = full(6, (index) => (index < 3 ? ADA : undefined));
  connections.add(new Socket());
  expect(ended(sockets)).toEqual([3]);
  connections.add(new Socket());
  connections.add(new Socket());
  expect(ended(sockets)).toEqual([3, 4, 5]);
  expect(connections.open.size).toBe(6);
});

test("if all connections have an identity, the principal with the most loses its oldest (mend 4)", () => {
  const { connections, sockets } = full(6, (index) => (index < 2 ? BOB : ADA));
  const next = new Socket();
  connections.add(next);
  expect(ended(sockets)).toEqual([2]);
  claim(next, BOB);
  connections.add(new Socket());
  // Both have three: the oldest of all is closed.
  expect(ended(sockets)).toEqual([0, 2]);
});

test("a connection that closes on its own makes room (mend 4)", async () => {
  const { connections, sockets } = full(3, () => ADA);
  const closed = new Promise((resolve) => sockets[1]?.once("close", resolve));
  sockets[1]?.destroy();
  await closed;
  connections.add(new Socket());
  expect(ended(sockets)).toEqual([1]);
});
