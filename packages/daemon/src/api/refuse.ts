/** Replies to a request that the HTTP server does not answer itself: an upgrade, or one that cannot be parsed. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { HoldfastError } from "@holdfast/contract";

const FLUSH_MS = 1000;

export function refuse(socket: Duplex, error: HoldfastError): void {
  // A client that does not close its side would keep the connection open.
  setTimeout(() => socket.destroy(), FLUSH_MS).unref();
  const body = JSON.stringify({ error: error.toBody() });
  socket.end(
    `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus] ?? ""}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
