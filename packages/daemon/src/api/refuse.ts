/** The reply to a request that HTTP's own server does not answer: an upgrade, or what cannot be read. */
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { HoldfastError } from "@holdfast/contract";

const FLUSH_MS = 1000;

export function refuse(socket: Duplex, error: HoldfastError): void {
  // A client that does not close its end would keep ours.
  setTimeout(() => socket.destroy(), FLUSH_MS).unref();
  const body = JSON.stringify({ error: error.toBody() });
  socket.end(
    `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus] ?? ""}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
