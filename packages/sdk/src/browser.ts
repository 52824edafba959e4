/**
 * The SDK for browsers and other environments with only `fetch`. It needs a daemon that listens on an address (`holdfast up --listen`) and a token. A
 * web page must be served from the daemon's own address, because the daemon rejects other origins.
 */
import { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { Holdfast } from "./holdfast.ts";
import { httpTransport } from "./transport/http.ts";

export * from "./everywhere.ts";

export interface BrowserOptions {
  /** The daemon's address, for example `http://127.0.0.1:8080`. */
  url: string;
  /** The token to use. `holdfast token create` creates one. */
  token?: string;
  signal?: AbortSignal;
}

/** Connects to a daemon. Resolves once the daemon has accepted the token. */
export async function connect({ url, token, signal }: BrowserOptions): Promise<Holdfast> {
  if (!url)
    throw errorOf("usage", "the daemon's URL is missing", { hint: 'for example: connect({ url: "http://127.0.0.1:8080", token })' });
  const holdfast = new Holdfast(new HoldfastClient(httpTransport(url, { token })));
  await holdfast.status(signal);
  return holdfast;
}
