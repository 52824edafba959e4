export { HoldfastClient } from "./client.ts";
export { httpTransport } from "./transport/http.ts";
export { unixTransport } from "./transport/unix.ts";
export type { Transport, WireReply, WireRequest, WireStream } from "./transport.ts";
