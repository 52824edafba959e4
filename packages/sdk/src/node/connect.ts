/** Connects a Node program to a daemon: the one of a home, which is started if necessary, or one at an address. */
import { type Acting, actingIn } from "../acting.ts";
import { HoldfastClient } from "../client.ts";
import { Holdfast } from "../holdfast.ts";
import { Query } from "../query.ts";
import type { QueryOptions } from "../query-types.ts";
import type { Surroundings } from "../sessions.ts";
import { httpTransport } from "../transport/http.ts";
import type { Transport } from "../transport.ts";
import { homeAt, sharedAt } from "./home.ts";
import { refuseInsideRun } from "./inside-a-run.ts";
import { onDemand } from "./on-demand.ts";

export interface ConnectOptions {
  /** The daemon's home; HOLDFAST_HOME or the user's own home by default. */
  home?: string;
  /** A daemon's address: `http://127.0.0.1:8080`, or `unix:PATH` for a shared one. HOLDFAST_URL by default. */
  url?: string;
  /** The token to use; HOLDFAST_TOKEN by default, so that a program inside a session acts as the session. */
  token?: string;
  /** Act as the OS user, without a token. Only needed inside a run, where `connect` otherwise refuses to act as the user. */
  as?: "owner";
  /** False: do not start the daemon if it is not running. */
  start?: boolean;
  /** The `holdfast` program that starts the daemon; by default the one of this package, else the one on PATH. */
  program?: string;
  signal?: AbortSignal;
}

/** Connects to the daemon. Resolves once the daemon has answered. */
export async function connect(options: ConnectOptions = {}): Promise<Holdfast> {
  const holdfast = new Holdfast(new HoldfastClient(transportOf(options)), HERE);
  await holdfast.status(options.signal);
  return holdfast;
}

/** Asks an agent one question, on a separate connection. */
export function query(options: QueryOptions & Omit<ConnectOptions, "signal">): Query {
  const { home: _home, url: _url, token: _token, as: _as, start: _start, program: _program, ...asked } = options;
  const client = new HoldfastClient(transportOf(options));
  return new Query(client, asked, { around: HERE, onOver: () => client[Symbol.dispose]() });
}

const HERE: Surroundings = {
  cwd: () => process.cwd(),
  env: () => Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  umask: () => process.umask(),
};

function transportOf({ home, program, start = true, ...options }: ConnectOptions): Transport {
  const acting = actingAs(options);
  const url = options.url ?? (home === undefined ? process.env.HOLDFAST_URL : undefined);
  if (url?.startsWith("unix:")) return onDemand(sharedAt(url.slice("unix:".length)), acting);
  if (url) return httpTransport(url, acting);
  const place = homeAt(home);
  if (place.home !== undefined) refuseInsideRun(place.home, acting);
  return onDemand(place, { ...acting, ...(start ? { starter: { program } } : {}) });
}

function actingAs({ token, as }: Pick<ConnectOptions, "token" | "as">): Acting {
  if (token !== undefined) return { token: token || undefined };
  return as === undefined ? actingIn(process.env) : { token: undefined, as };
}
