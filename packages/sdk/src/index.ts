/** The SDK for programs on Node. */
export * from "./everywhere.ts";
export { type ConnectOptions, connect, query } from "./node/connect.ts";
export { unixTransport } from "./transport/unix.ts";
