/** HTTP by hand: requests that a hostile client can send and no library would. */
import { connect, type NetConnectOpts, type Socket } from "node:net";

export interface RawReply {
  status: number;
  body: string;
}

export interface RawRequest {
  method: string;
  /** The bytes as they are sent. */
  path: string;
  headers?: Record<string, string>;
  /** Sent with its length. */
  body?: string | Buffer;
  /** Sent in chunks, without a length, until the daemon answers. */
  chunks?: Iterable<Buffer>;
}

export function opened(where: NetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(where);
    socket.once("error", reject).once("connect", () => {
      // An early close is a reply that never came.
      socket.off("error", reject).on("error", () => {});
      resolve(socket);
    });
  });
}

export async function ask(where: NetConnectOpts, request: RawRequest): Promise<RawReply> {
  const socket = await opened(where);
  try {
    const reply = replyOn(socket);
    socket.write(headOf(request));
    if (request.body !== undefined) socket.write(request.body);
    for (const chunk of request.chunks ?? []) {
      if (socket.destroyed || reply.isThere()) break;
      const isTaken = socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]));
      if (!isTaken) await Promise.race([reply.whole.catch(() => {}), new Promise((resolve) => socket.once("drain", resolve))]);
    }
    if (request.chunks && !socket.destroyed) socket.write("0\r\n\r\n");
    return await reply.whole;
  } finally {
    socket.destroy();
  }
}

export function headOf({ method, path, headers, body, chunks }: RawRequest): string {
  const framing =
    body !== undefined ? { "content-length": String(Buffer.byteLength(body)) } : chunks ? { "transfer-encoding": "chunked" } : {};
  const lines = Object.entries({ host: "127.0.0.1", ...framing, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

function replyOn(socket: Socket): { whole: Promise<RawReply>; isThere(): boolean } {
  let text = "";
  let there = false;
  const whole = new Promise<RawReply>((resolve, reject) => {
    const look = (isOver: boolean) => {
      const end = text.indexOf("\r\n\r\n");
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      const length = /^content-length: *(\d+)/im.exec(text)?.[1];
      const body = text.slice(end + 4);
      if (end < 0 || status === undefined || (length !== undefined && Buffer.byteLength(body, "latin1") < Number(length))) {
        if (isOver) reject(new Error(`the connection ended after ${JSON.stringify(text.slice(0, 200))}`));
        return;
      }
      if (length === undefined && !isOver && !/^transfer-encoding/im.test(text)) return;
      there = true;
      resolve({ status: Number(status), body: Buffer.from(body, "latin1").toString() });
    };
    socket.setEncoding("latin1").on("data", (part) => {
      text += part;
      look(false);
    });
    socket.on("close", () => look(true));
  });
  whole.catch(() => {});
  return { whole, isThere: () => there };
}
