/**
 * The SDK where there is only `fetch`: a browser, or any other place without Node. The daemon listens on an address (`holdfast up --listen`), and whoever
 * comes there has a token. A page has to be of the daemon's own address, for it answers no others.
 */
import { HoldfastClient } from "./client.ts";
import { errorOf } from "./errors.ts";
import { Holdfast } from "./holdfast.ts";
import { httpTransport } from "./transport/http.ts";

export * from "./everywhere.ts";

export interface BrowserOptions {
  /** Where the daemon listens: `http://127.0.0.1:8080`. */
  url: string;
  /** The token of the caller: `holdfast token create` creates one. */
  token?: string;
  signal?: AbortSignal;
}

/** A connection to a daemon, once it has answered and taken the token. */
export async function connect({ url, token, signal }: BrowserOptions): Promise<Holdfast> {
  if (!url)
    throw errorOf("usage", "the daemon's URL is missing", { hint: 'for example: connect({ url: "http://127.0.0.1:8080", token })' });
  const holdfast = new Holdfast(new HoldfastClient(httpTransport(url, { token })));
  await holdfast.status(signal);
  return holdfast;
}
